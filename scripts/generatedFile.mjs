import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format } from 'oxfmt';
import { root } from './nodeProgram.mjs';

/**
 * Writes a file that a script makes, formatted. When the script was started with `--check`, it writes nothing
 * and fails when the file is out of date.
 *
 * @param {string} name of the file, from the top of the repository
 * @param {string} text before it is formatted
 */
export async function generatedFile(name, text) {
  const file = path.join(root, name);
  const style = JSON.parse(readFileSync(path.join(root, '.oxfmtrc.json'), 'utf8'));
  const { code: wanted, errors } = await format(name, text, style);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, wanted);
    console.log(`wrote ${name}`);
  } else if (present(file) !== wanted) {
    const script = path.relative(root, process.argv[1]).replaceAll('\\', '/');
    console.error(`${name} is out of date: run "node ${script}" after compiling.`);
    process.exitCode = 1;
  }
}

/** A missing file is out of date like any other. */
function present(file) {
  try {
    return readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return '';
  }
}
