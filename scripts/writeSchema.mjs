// Writes schemas/scenario.schema.json from the compiled sources (run `tsc -b` before). With --check it
// writes nothing and fails when the file is out of date.
import { createRequire } from 'node:module';
import { generatedFile } from './generatedFile.mjs';

const require = createRequire(import.meta.url);
const { scenarioSchema } = require('../out/src/scenario/keys/schema.js');

await generatedFile('schemas/scenario.schema.json', JSON.stringify(scenarioSchema()));
