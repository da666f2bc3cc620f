// Installs the VS Code that the editor suites run in, pinned in test/vscode-host, into .vscode-host: the
// server with its web workbench, and the Node it needs, both from npm, without install scripts and
// without a compiler. What is there is left alone.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './nodeProgram.mjs';
import { npmCommand } from './npmCommand.mjs';
import { conclude } from './outcome.mjs';
import { hostFolder, readyFile } from './vscodeHost.mjs';

const pinFolder = path.join(root, 'test', 'vscode-host');
const pinFiles = ['package.json', 'package-lock.json'];
const stampFile = path.join(hostFolder, '.stamp');
/** Part of the stamp: raise it when this script lays the folder out differently. */
const layout = 'layout 1';
const server = path.join(hostFolder, 'node_modules', 'code-server', 'lib', 'vscode');
/** Parts of the server that no test touches, 230 MB of them. */
const unused = [
  'node_modules/@github',
  'node_modules/@microsoft/mxc-sdk',
  'node_modules/@devcontainers',
  'extensions/copilot',
];

function pinStamp() {
  const hash = createHash('sha256').update(layout);
  for (const name of pinFiles) hash.update('\0').update(readFileSync(path.join(pinFolder, name)));
  return hash.digest('hex');
}

/** Whether npm did its work in `folder`: with what it keeps of each package, or else with what the registry says by now. */
function npm(folder, ...words) {
  return (
    runNpm(folder, ...words, '--prefer-offline') || runNpm(folder, ...words, '--prefer-online')
  );
}

function runNpm(folder, ...words) {
  const { program, args, shell } = npmCommand();
  // A registry that drops a connection is asked again: a suite should not fail for that.
  const quiet = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--fetch-retries=6',
  ];
  const done = spawnSync(program, [...args, ...words, ...quiet], {
    cwd: folder,
    // Nothing belongs on the output of a suite but what it says; npm's summary is noise.
    stdio: ['ignore', 'ignore', 'inherit'],
    env: npmEnvironment(),
    shell,
  });
  return done.status === 0;
}

/** Environment without what an outer `npm run` leaves there, which would point the inner npm elsewhere. */
function npmEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_(config_local_prefix|package_|lifecycle_)/i.test(name),
  );
  return Object.fromEntries(kept);
}

async function installHost() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const here = `${process.platform} on ${process.arch}`;
    return { missing: `the pinned VS Code server is made for Linux on x64, not for ${here}` };
  }
  const stamp = pinStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp)
    return { ready: 'up to date' };
  console.log('VS Code host: installing into .vscode-host (550 MB, once) …');
  const startedAt = Date.now();
  rmSync(hostFolder, { recursive: true, force: true });
  mkdirSync(hostFolder, { recursive: true });
  for (const name of pinFiles)
    copyFileSync(path.join(pinFolder, name), path.join(hostFolder, name));
  if (!npm(hostFolder, 'ci')) return { failed: 'npm could not install code-server, see above' };
  // Not `npm ci`: the shrinkwrap that comes with the server lacks an entry.
  if (!npm(server, 'install', '--omit=dev'))
    return { failed: 'npm could not install what code-server needs, see above' };
  for (const name of unused) rmSync(path.join(server, name), { recursive: true, force: true });
  writeFileSync(stampFile, stamp);
  return { ready: `installed in ${((Date.now() - startedAt) / 1000).toFixed(0)} s` };
}

await conclude('VS Code host', readyFile, installHost);
