import assert from 'node:assert/strict';
import { untilSeen } from '../../../../src/cli/commands/onHosts';
import type { EndingSignal } from '../../../../src/cli/exitCode';

describe('the end of a run on the bus', () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  const asked: (number | undefined)[] = [];
  const publisher = (wasSeen: boolean) => ({
    seen: (withinMs?: number) => {
      asked.push(withinMs);
      return Promise.resolve(wasSeen);
    },
  });
  const signals = (first?: EndingSignal) => ({ signal: () => first, next: never });

  beforeEach(() => asked.splice(0));

  it('is there until somebody has seen it, or nobody has for long', async () => {
    for (const first of [undefined, 'SIGINT'] as const)
      for (const wasSeen of [true, false])
        assert.equal(await untilSeen(publisher(wasSeen), signals(first)), undefined);
    assert.deepEqual(asked, [undefined, undefined, undefined, undefined]);
  });

  it('is left to who comes next where the machine is taken away and nobody looks', async () => {
    assert.equal(await untilSeen(publisher(false), signals('SIGTERM')), 'SIGTERM');
    assert.equal(await untilSeen(publisher(true), signals('SIGTERM')), undefined);
    assert.deepEqual(asked, [10_000, 10_000]);
  });

  it('is not waited for when one more signal comes', async () => {
    const next = (): Promise<EndingSignal> => Promise.resolve('SIGTERM');
    const left = await untilSeen({ seen: never }, { signal: () => undefined, next });
    assert.equal(left, 'SIGTERM');
  });
});
