import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './nodeProgram.mjs';

/**
 * Writes a file that a script makes, formatted. When the script was started with `--check`, it writes nothing
 * and fails when the file is out of date.
 *
 * @param {string} name of the file, from the top of the repository
 * @param {string} text before it is formatted
 * @param {string} parser of prettier
 */
export async function generatedFile(name, text, parser) {
  const file = path.join(root, name);
  const wanted = await format(text, { ...(await resolveConfig(file)), parser });
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
