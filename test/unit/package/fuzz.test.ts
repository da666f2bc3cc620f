import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { seedsOf } from '../../fuzz/subject';
import { subjects } from '../../fuzz/subjects';

const kept = path.resolve('test', 'fixtures', 'fuzz');

describe('readers of what others send', () => {
  for (const subject of subjects) {
    const { name, holds, check, prepare } = subject;
    it(`${name}: ${holds}, also with what went wrong once`, async () => {
      const folder = path.join(kept, name);
      const files = existsSync(folder) ? readdirSync(folder) : [];
      const dispose = await prepare?.();
      for (const seed of seedsOf(subject)) await check(seed);
      for (const file of files) await check(readFileSync(path.join(folder, file)));
      await dispose?.();
    });
  }

  it('have names of their own, and none of the kept inputs is of nobody', () => {
    const names = subjects.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const folder of readdirSync(kept)) assert.ok(names.includes(folder), folder);
  });
});
