// `npm run fuzz -- [--minutes n] [--seed n] [--only NAME]… [--replay FILE]`: random input for everything that reads
// what others send. See docs/evidence/reliability.md, "Fuzzing".
import { runNode } from './nodeProgram.mjs';

if ((await runNode(['scripts/setup.mjs'])) !== 0) process.exit(1);
const { prepare } = await import('./preparations.mjs');
if ((await prepare('compiled')) !== 'ready') process.exit(1);
process.exitCode = await runNode(['out/test/fuzz/main.js', ...process.argv.slice(2)]);
