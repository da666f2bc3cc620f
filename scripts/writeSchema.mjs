// Writes schemas/scenario.schema.json from the compiled sources (run `tsc -b` before). With --check it
// writes nothing and fails when the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const require = createRequire(import.meta.url);
const { scenarioSchema } = require('../out/src/scenario/schema.js');

const file = fileURLToPath(new URL('../schemas/scenario.schema.json', import.meta.url));
const style = { ...(await resolveConfig(file)), parser: 'json' };
const wanted = await format(JSON.stringify(scenarioSchema()), style);

if (process.argv.includes('--check')) {
  let present = '';
  try {
    present = readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  } catch {
    // A missing file is out of date like any other.
  }
  if (present !== wanted) {
    console.error(`${file} is out of date: run "node scripts/writeSchema.mjs" after compiling.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, wanted);
  console.log(`wrote ${file}`);
}
