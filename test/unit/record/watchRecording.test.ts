import assert from 'node:assert/strict';
import type { RecordedCounts } from '../../../src/record/proxy/recorder';
import { watchRecording, type RecordProgress } from '../../../src/record/watchRecording';
import { VirtualTime } from '../../fakes/virtualTime';

const counted = (clients: number, everSeen: number, out = 0): RecordedCounts => ({
  ...{ clients, everSeen, unknown: 0, calls: [], callbacks: [] },
  messages: { out, in: 0 },
  bytes: { out: 100 * out, in: 0 },
});

describe('watchRecording', () => {
  let time: VirtualTime;
  beforeEach(() => (time = new VirtualTime().install()));
  afterEach(() => time.restore());

  it('shows each second what has passed since the one before, until it is ended', async () => {
    let counts = counted(1, 1);
    const seen: RecordProgress[] = [];
    const stop = watchRecording(
      { counts: () => counts, dropped: 7 },
      {
        onProgress: (progress) => seen.push(progress),
        onAllLeft: () => assert.fail('it is there'),
      },
    );
    counts = counted(1, 1, 30);
    await time.to(2000);
    stop();
    await time.to(9000);
    assert.deepEqual(
      seen.map(({ counts: now, before, seconds, atS, dropped }) => [
        ...[now.messages.out, before?.messages.out, seconds, atS, dropped],
      ]),
      [
        [0, undefined, 0, 0, 7],
        [30, 0, 1, 1, 7],
        [30, 30, 1, 2, 7],
      ],
    );
  });

  it('notices once that all clients have been gone for five seconds, and again when others came and left', async () => {
    let counts = counted(0, 0);
    const goneAtMs: number[] = [];
    const stop = watchRecording(
      { counts: () => counts, dropped: 0 },
      { onProgress: () => undefined, onAllLeft: () => goneAtMs.push(time.nowMs) },
    );
    // Nobody came so far.
    await time.to(20_000);
    counts = counted(1, 1);
    await time.to(30_000);
    // A page is loaded anew.
    counts = counted(0, 1);
    await time.to(34_000);
    counts = counted(1, 2);
    await time.to(40_000);
    assert.deepEqual(goneAtMs, []);
    counts = counted(0, 2);
    await time.to(60_000);
    assert.deepEqual(goneAtMs, [46_000]);
    counts = counted(1, 3);
    await time.to(61_000);
    counts = counted(0, 3);
    await time.to(80_000);
    assert.deepEqual(goneAtMs, [46_000, 67_000]);
    stop();
  });
});
