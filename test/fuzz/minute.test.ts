import assert from 'node:assert/strict';
import path from 'node:path';
import { tryFor } from './campaign';
import { subjects } from './subjects';

/** Trying alone: with what it takes to load each subject it is half a minute. A batch of each is tried at least. */
const triedMs = 10_000;

describe('random input', () => {
  const seed = Number(process.env['TEST_SEED'] ?? 1);
  const registry = path.join(__dirname, 'subjects.js');

  for (const { name, holds } of subjects)
    it(`${name}: ${holds}`, async () => {
      const folder = path.resolve('out', 'fuzz', 'minute');
      const forMs = triedMs / subjects.length;
      const { inputs, fault } = await tryFor(name, { seed, folder, registry }, { forMs });
      assert.equal(fault, undefined, `${fault?.file}: ${fault?.text}`);
      assert.ok(inputs > 0);
    });
});
