#!/usr/bin/env node
import path from 'node:path';
import { processIo, runProcess } from './io';
import { runProgram } from './program';
import { shippedDeps } from './shippedDeps';

const scripts = { workerScript: path.join(__dirname, 'worker.js'), serverScript: __filename };

runProcess(() => runProgram(process.argv.slice(2), processIo(), shippedDeps(scripts)));
