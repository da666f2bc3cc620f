import assert from 'node:assert/strict';
import { seededRandom } from '../../../src/base/random';
import { reconnectDelayMs } from '../../../src/engine/connect/connectionLife';
import type { ReconnectPolicy } from '../../../src/scenario/scenario';

const delays = (policy: ReconnectPolicy): number[] => {
  const random = seededRandom(1);
  return [0, 1, 2, 3, 4, 40].map((tries) =>
    reconnectDelayMs({ policy, delayMs: 1000 }, tries, random),
  );
};

describe('reconnectDelayMs', () => {
  it('comes back at once, fixed, or as the official clients do', () => {
    assert.deepEqual(delays('atOnce'), [0, 1000, 1000, 1000, 1000, 1000]);
    assert.deepEqual(delays('fixed'), [1000, 1000, 1000, 1000, 1000, 1000]);
    assert.deepEqual(delays('signalr'), [0, 2000, 10_000, 30_000, 30_000, 30_000]);
  });

  it('doubles up to half a minute, spread by half to both sides', () => {
    const means = [1000, 2000, 4000, 8000, 16_000, 30_000];
    delays('exponential').forEach((ms, at) => {
      const mean = means[at]!;
      assert.ok(ms >= mean / 2 && ms < mean * 1.5, `${ms} ms of ${mean} ms`);
    });
  });
});
