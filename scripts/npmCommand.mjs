import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Program and first arguments that start npm without a shell: as a Node program where its file can be
 * found (npm gives it to the scripts it runs), else by the name it has on this system.
 *
 * @returns {{ program: string, args: string[], shell: boolean }}
 */
export function npmCommand() {
  const beside = path.dirname(process.execPath);
  const candidates = [
    process.env.npm_execpath,
    path.join(beside, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    path.join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ];
  const file = candidates.find(
    (candidate) =>
      candidate !== undefined && /npm-cli\.c?js$/.test(candidate) && existsSync(candidate),
  );
  if (file !== undefined) return { program: process.execPath, args: [file], shell: false };
  // npm is a batch file on Windows, and those start only through a shell.
  if (process.platform === 'win32') return { program: 'npm.cmd', args: [], shell: true };
  return { program: 'npm', args: [], shell: false };
}
