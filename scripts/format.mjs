// Prettier over everything written by hand; `--check` only looks.
import { packageProgram, runNode } from './nodeProgram.mjs';

const patterns = [
  '.',
  // Kept as they came or as a script writes them.
  '!examples/**',
  '!test/fixtures/**',
  '!schemas/**',
  '!src/capacity/published/**',
];
const mode = process.argv.includes('--check') ? '--check' : '--write';

process.exitCode = await runNode([
  packageProgram('prettier'),
  mode,
  '--log-level',
  'warn',
  ...patterns,
]);
