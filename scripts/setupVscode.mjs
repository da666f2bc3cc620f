// Installs the VS Code that the editor suites run in, pinned in test/vscode-host, into .vscode-host: the
// server with its web workbench, and the Node it needs, both from npm, without install scripts and
// without a compiler. Also a Chromium by apt, on Debian as root. What is there is left alone.
//
// What cannot be had here is named and the suites are skipped; with CI=true that is a failure.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './nodeProgram.mjs';
import { npmCommand } from './npmCommand.mjs';
import { findChromium, hostFolder, readyFile } from './vscodeHost.mjs';

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

/** Installs the host; a text says why it is not there. */
function installHost() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return `the pinned VS Code server is made for Linux on x64, not for ${process.platform} on ${process.arch}`;
  }
  const stamp = pinStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
    console.log('VS Code host: up to date.');
    return undefined;
  }
  console.log('VS Code host: installing into .vscode-host (550 MB, once) …');
  const startedAt = Date.now();
  rmSync(hostFolder, { recursive: true, force: true });
  mkdirSync(hostFolder, { recursive: true });
  for (const name of pinFiles)
    copyFileSync(path.join(pinFolder, name), path.join(hostFolder, name));
  if (!npm(hostFolder, 'ci')) return 'npm could not install code-server, see above';
  // Not `npm ci`: the shrinkwrap that comes with the server lacks an entry.
  if (!npm(server, 'install', '--omit=dev')) return 'npm could not install what code-server needs';
  for (const name of unused) rmSync(path.join(server, name), { recursive: true, force: true });
  writeFileSync(stampFile, stamp);
  console.log(`VS Code host: installed in ${((Date.now() - startedAt) / 1000).toFixed(0)} s.`);
  return undefined;
}

/** Finds or installs a browser; a text says why there is none. */
function installChromium() {
  const present = findChromium();
  if (present !== undefined) {
    console.log(`Chromium: ${present}.`);
    return undefined;
  }
  const byHand = 'install Chromium, or name its program in CHROMIUM_PATH';
  if (process.getuid?.() !== 0) return `there is no Chromium and apt needs root: ${byHand}`;
  if (!existsSync('/etc/debian_version')) return `there is no Chromium, nor apt: ${byHand}`;
  console.log('Chromium: installing by apt (420 MB, once) …');
  const apt = (...words) =>
    spawnSync('apt-get', ['-qq', ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  apt('update');
  if (!apt('install', '--yes', '--no-install-recommends', 'chromium')) {
    return `apt could not install chromium: ${byHand}`;
  }
  return findChromium() === undefined ? `apt installed no Chromium program: ${byHand}` : undefined;
}

function main() {
  rmSync(readyFile, { force: true });
  const missing = [installHost(), installChromium()].filter((reason) => reason !== undefined);
  if (missing.length === 0) {
    mkdirSync(path.dirname(readyFile), { recursive: true });
    writeFileSync(readyFile, '');
    return 0;
  }
  const inCi = process.env.CI === 'true';
  const outcome = inCi ? 'FAILED' : 'skipped';
  for (const reason of missing) console.log(`Tests in VS Code: ${outcome}, ${reason}.`);
  return inCi ? 1 : 0;
}

process.exitCode = main();
