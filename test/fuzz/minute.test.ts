import assert from 'node:assert/strict';
import path from 'node:path';
import { tryFor } from './campaign';
import { subjects } from './subjects';

/** Trying alone: loading each subject takes as long again. A batch of each is tried at least. */
const triedMs = 6_000;

describe('random input', () => {
  const seed = Number(process.env['TEST_SEED'] ?? 1);
  const folder = path.resolve('out', 'fuzz', 'minute');

  for (const { name, holds, registry } of subjects)
    it(`${name}: ${holds}`, async () => {
      const forMs = triedMs / subjects.length;
      const { inputs, fault } = await tryFor(name, { seed, folder, registry }, { forMs });
      assert.equal(fault, undefined, `${fault?.file}: ${fault?.text}`);
      assert.ok(inputs > 0);
    });

  for (const [name, text] of [
    ['throws', /it was bad/],
    ['rejects where nobody waits', /nobody waited/],
    ['believes a length', /16777216 bytes were asked for at once/],
    ['never ends', /took more than 300 ms of CPU/],
  ] as const)
    it(`finds one that ${name}`, async () => {
      const registry = path.join(__dirname, '..', 'fakes', 'faultySubjects.js');
      const limits = { forMs: 60_000, inputCpuMs: name === 'never ends' ? 300 : 60_000 };
      const { fault } = await tryFor(name, { seed: 7, folder, registry }, limits);
      assert.match(fault!.text, text);
    });
});
