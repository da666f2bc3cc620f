import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

/** The repository, whatever the current folder is. */
export const root = path.resolve(import.meta.dirname, '..');

/** The program file of an installed package, as its manifest names it. */
export function packageProgram(packageName, program = packageName) {
  const folder = path.join(root, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return path.join(folder, typeof bin === 'string' ? bin : bin[program]);
}

/** Starts a Node program, by default in the repository and with this process's input and output. */
export function startNode(args, environment = {}, stdio = 'inherit', folder = root) {
  return spawn(process.execPath, args, {
    cwd: folder,
    stdio,
    env: { ...process.env, ...environment },
  });
}

/** Settles with the exit code of a child; a signal counts as 128 plus its number, as in a shell. */
export function exitCode(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`cannot start ${child.spawnfile}: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code, signal) => {
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** Runs a Node program to its end, by default in the repository; settles with its exit code. */
export function runNode(args, folder = root) {
  return exitCode(startNode(args, {}, 'inherit', folder));
}
