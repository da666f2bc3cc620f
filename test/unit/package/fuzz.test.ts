import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tryFor, type Limits, type Outcome } from '../../fuzz/campaign';
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

describe('random input', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'fuzz-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const registry = path.join(__dirname, '..', '..', 'fakes', 'faultySubjects.js');
  const tried = (name: string, limits: Partial<Limits> = {}, into = folder): Promise<Outcome> =>
    tryFor(name, { seed: 7, folder: into, registry }, { forMs: 200_000, ...limits });

  const faults: readonly (readonly [name: string, text: RegExp])[] = [
    ['throws', /it was bad/],
    ['rejects where nobody waits', /nobody waited/],
    ['believes a length', /16777216 bytes were asked for at once/],
    ['never ends', /took more than 300 ms of CPU/],
    ['fills the heap', /memory/],
  ];
  for (const [name, text] of faults)
    it(`finds one that ${name}, and keeps the input`, async () => {
      const inputCpuMs = name === 'never ends' ? 300 : 60_000;
      const { fault } = await tried(name, { inputCpuMs, heapMb: 64 });
      assert.match(fault!.text, text);
      // Of a rejection it is known only that the input was one of the last.
      const isExact = !name.startsWith('rejects');
      assert.ok(!isExact || readFileSync(fault!.file).includes('{!'));
    });

  it('goes on where it stopped, as one run of the seed would', async () => {
    const whole = await tried('good', { inputs: 4096 });
    const other = path.join(folder, 'other');
    await tried('good', { inputs: 1024 }, other);
    const rest = await tried('good', { inputs: 3072 }, other);
    assert.deepEqual([rest.inputs, rest.total, whole.total], [3072, 4096, 4096]);
    const found = (at: string): string[] =>
      readdirSync(path.join(at, 'good', 'found')).map((file) =>
        readFileSync(path.join(at, 'good', 'found', file), 'latin1'),
      );
    assert.deepEqual(found(other), found(folder));
  });
});
