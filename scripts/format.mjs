// oxfmt over everything written by hand (.oxfmtrc.json says what is not); `--check` only looks.
import { packageProgram, runNode } from './nodeProgram.mjs';

const mode = process.argv.includes('--check') ? '--check' : '--write';
process.exitCode = await runNode([packageProgram('oxfmt'), mode]);
