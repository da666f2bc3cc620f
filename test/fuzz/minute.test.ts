import assert from 'node:assert/strict';
import path from 'node:path';
import { tryFor } from './campaign';
import { subjects } from './subjects';

/** Trying alone: loading each subject takes as long again. A batch of each is tried at least. */
const triedMs = 6_000;

describe('random input', () => {
  const seed = Number(process.env['TEST_SEED'] ?? 1);

  for (const { name, holds, registry } of subjects)
    it(`${name}: ${holds}`, async () => {
      const folder = path.resolve('out', 'fuzz', 'minute');
      const forMs = triedMs / subjects.length;
      const { inputs, fault } = await tryFor(name, { seed, folder, registry }, { forMs });
      assert.equal(fault, undefined, `${fault?.file}: ${fault?.text}`);
      assert.ok(inputs > 0);
    });
});
