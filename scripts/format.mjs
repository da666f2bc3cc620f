// Prettier over everything written by hand; `--check` only looks.
import { packageProgram, runNode } from './nodeProgram.mjs';

const patterns = [
  '.',
  // Other tools' files, kept as they came, and files that a script writes.
  '!examples/**',
  '!test/fixtures/**',
  '!schemas/**',
  '!src/capacity/**/*.json',
];
const mode = process.argv.includes('--check') ? '--check' : '--write';

process.exitCode = await runNode([
  packageProgram('prettier'),
  mode,
  '--log-level',
  'warn',
  ...patterns,
]);
