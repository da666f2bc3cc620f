// Installs the packages of package-lock.json when they are missing or of another version. Runs before
// anything is installed, hence with Node's own modules only.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { exitCode, root } from './nodeProgram.mjs';
import { npmCommand } from './npmCommand.mjs';

const packages = path.join(root, 'node_modules');

/** Package folder → version, as a lock file lists them; empty when there is no such file. */
function lockedVersions(file) {
  if (!existsSync(file)) return new Map();
  const { packages: entries } = JSON.parse(readFileSync(file, 'utf8'));
  // What a package may do without (`optional`) is left out on systems it is not made for.
  return new Map(
    Object.entries(entries)
      .filter(([folder, entry]) => folder !== '' && entry.optional !== true)
      .map(([folder, entry]) => [folder, entry.version]),
  );
}

/** Whether everything the lock file asks for is installed. Versions are compared, not file times: a
 * fresh checkout gives every file a new time. */
function upToDate() {
  const wanted = lockedVersions(path.join(root, 'package-lock.json'));
  const installed = lockedVersions(path.join(packages, '.package-lock.json'));
  return [...wanted].every(([folder, version]) => installed.get(folder) === version);
}

/** Settles with the exit code of npm. */
function npmInstalls(...how) {
  const { program, args, shell } = npmCommand();
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=6'];
  const child = spawn(program, [...args, 'ci', ...how, ...quiet], {
    cwd: root,
    stdio: 'inherit',
    shell,
  });
  return exitCode(child);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Building needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}

if (!upToDate()) {
  if (existsSync(packages) && lstatSync(packages).isSymbolicLink()) {
    console.error(
      'node_modules is a link and does not match package-lock.json: install where it leads.',
    );
    process.exit(1);
  }
  console.log('Installing packages (once) …');
  let code = await npmInstalls('--prefer-offline');
  // What npm keeps of a package may be older than the version asked for.
  if (code !== 0) code = await npmInstalls('--prefer-online');
  if (code !== 0) console.error('npm ci failed: see above. Nothing else was done.');
  process.exitCode = code;
}
