#!/usr/bin/env node
import path from 'node:path';
import { exitCode } from './exitCode';
import { flushed, processIo } from './io';
import { runProgram } from './program';
import { shippedDeps } from './shippedDeps';

// Whatever escapes is a defect of ours.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? String(error)}\n`);
  process.exit(exitCode.defect);
});

// Bundled, this file is dist/cli.js, and the worker's bundle lies beside it.
const scripts = { workerScript: path.join(__dirname, 'worker.js'), serverScript: __filename };

void runProgram(process.argv.slice(2), processIo(), shippedDeps(scripts)).then(async (code) => {
  await flushed();
  process.exit(code);
});
