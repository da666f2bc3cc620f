import assert from 'node:assert/strict';
import { stallText } from '../../src/cli/views/runView';
import type { Snapshot } from '../../src/measure/snapshot';
import { detectStall } from '../../src/measure/judge/stepWatches';
import { withHub } from '../fakes/loadHub';
import { assertExact, loadRun, onlyStep } from './loadRun';

describe('a stall', () => {
  it('is reported while it lasts, with what waits', () =>
    withHub('--stall 2500ms@500ms', async ({ url }) => {
      const snapshots: Snapshot[] = [];
      const run = await loadRun({
        target: url,
        workers: 2,
        useCase: 'broadcast',
        parameters: { sendingInterval: '100ms' },
        config: { connections: 10, singleStepDuration: '4s' },
        during: ({ onSnapshot }) => onSnapshot((snapshot) => snapshots.push(snapshot)),
      });
      // Ten senders, one message in 100 ms, ten receivers.
      assertExact(onlyStep(run), 400, 4000);
      const stalled = snapshots.filter(({ step }) => step !== undefined && detectStall(step)?.kind);
      assert.ok(stalled.length > 0, 'nothing was reported');
      for (const snapshot of stalled) {
        const { waiting, expected, received } = snapshot.step!;
        const { kind, count } = detectStall(snapshot.step!)!;
        assert.equal(count, expected - received);
        if (kind === 'behind') continue;
        assert.match(stallText(snapshot)!, /^no delivery for \d+\.\d s, [\d,]+ waiting$/);
        // As many had arrived all the time: whatever was reported so long before has the same count.
        const since = snapshot.atMs - waiting!.silentS * 1000;
        const before = snapshots.filter(({ atMs, step }) => atMs > since && step !== undefined);
        const counts = before.filter(({ atMs }) => atMs <= snapshot.atMs);
        assert.deepEqual([...new Set(counts.map(({ step }) => step!.received))], [received]);
      }
      assert.ok(stalled.some(({ step }) => detectStall(step!)!.kind === 'silent'));
      assert.equal(snapshots.at(-1)?.step?.waiting, undefined);
    }));
});
