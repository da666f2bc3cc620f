import assert from 'node:assert/strict';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { tryFor } from './campaign';
import { subjects } from './subjects';

/** A minute of `npm run fuzz`, with what the other suites leave of the processor. */
const minuteMs = 60_000;

describe('random input', () => {
  const seed = Number(process.env['TEST_SEED'] ?? 1);
  const registry = path.join(__dirname, 'subjects.js');

  before(() => setPriority(constants.priority.PRIORITY_LOW));

  for (const { name, holds } of subjects)
    it(`${name}: ${holds}`, async () => {
      const folder = path.resolve('out', 'fuzz', 'minute');
      const forMs = minuteMs / subjects.length;
      const { inputs, fault } = await tryFor(name, { seed, folder, registry }, { forMs });
      assert.equal(fault, undefined, `${fault?.file}: ${fault?.text}`);
      assert.ok(inputs > 0);
    });
});
