import assert from 'node:assert/strict';
import { RateWindows, TickMerger } from '../../../../src/measure/total/tickMerger';
import { RunTotals } from '../../../../src/measure/total/runTotals';
import {
  agentProgress,
  connectionProgress,
  tickInterval,
  stepProgress,
} from '../../../../src/engine/lead/run';
import { shortStep } from '../../../fakes/plan';
import { countsOf, stepSampleOf, workerSampleOf } from '../../../fakes/sample';
import type { AgentProgress } from '../../../../src/measure/summary';
import { noConnections } from '../../../../src/measure/sample';

const plan = { ...shortStep, measureMs: 4000 };
const measureUs = 10_000_000;
const before = { requested: 0, failed: 0, dropped: 0 };

describe('agents while a run goes on', () => {
  const running = (count: number): AgentProgress[] =>
    Array.from({ length: count }, (_, at) => ({
      ...{ index: at + 1, node: `n${at}`, status: 'running', lastTick: 1 },
      ...{ clockErrorUs: 0, share: 1 / count },
    }));
  const saidOf = (count: number): number[] => {
    const totals = new RunTotals(10);
    const workers = { agents: () => running(count) };
    return [...Array(12).keys()].filter((tick) => agentProgress(tick, totals, workers).agents);
  };

  it('are said each second, and of very many less often', () => {
    assert.equal(saidOf(1).length, 12);
    assert.equal(saidOf(50).length, 12);
    assert.deepEqual(saidOf(200), [0, 4, 8]);
  });

  it('come with what they have measured, and are none where the load comes from here', () => {
    const totals = new RunTotals(10, undefined, [], (worker) => worker);
    const sample = workerSampleOf({ worker: 1, steps: [stepSampleOf({ sent: 7 })] });
    totals.beginStep({ index: 1, senders: 10 });
    totals.add({ ...sample, clock: { errorUs: 3, jumps: 0 } });
    const { agents = [] } = agentProgress(1, totals, { agents: () => running(2) });
    assert.deepEqual(
      agents.map(({ lastStep }) => lastStep?.sent),
      [undefined, 7],
    );
    assert.deepEqual(agentProgress(1, totals, {}), {});
  });
});

describe('progress of a step', () => {
  const totalsOf = (...samples: readonly Parameters<typeof stepSampleOf>[0][]) => {
    const totals = new RunTotals(10).beginStep({ index: 1, senders: 10 });
    for (const sample of samples) totals.add(stepSampleOf(sample));
    return totals;
  };
  const at = (totals: ReturnType<typeof totalsOf>, sampledUs: number) =>
    stepProgress({ plan, totals, measureUs, before, sentUs: 0 }, before, sampledUs);

  it('gives rates over the measured time that the counts are known for', () => {
    const totals = totalsOf({ offered: 30, sent: 30, expected: 60, received: 50 });
    const shown = at(totals, measureUs + 2_000_000);
    assert.deepEqual([shown.elapsedS, shown.totalS], [2, 4]);
    assert.deepEqual([shown.sentPerSecond, shown.receivedPerSecond], [15, 25]);
    assert.equal(shown.outstanding, 10);
    assert.equal(shown.over, false);
  });

  it('shows each entry of a mix', () => {
    const entries = [
      { name: 'echo', senders: 4 },
      { name: 'broadcast', senders: 6 },
    ];
    const totals = new RunTotals(10).beginStep({ index: 1, senders: 10, entries });
    const [echo, broadcast] = [4, 12].map((sent) => stepSampleOf({ sent, offered: sent }));
    totals.add(stepSampleOf({ sent: 16, offered: 16, entries: [echo!, broadcast!] }));
    const shown = at(totals, measureUs + 2_000_000).entries;
    assert.deepEqual(
      shown?.map(({ name, sent, sentPerSecond }) => [name, sent, sentPerSecond]),
      [
        ['echo', 4, 2],
        ['broadcast', 12, 6],
      ],
    );
  });
});

describe('progress of connections', () => {
  it('names those that take part, and those that are back only where there are any', () => {
    const totals = new RunTotals(10);
    const soFar = { ...noConnections, connected: 9, failed: 1, dropped: 2 };
    totals.add(workerSampleOf({ connections: { soFar, connectTimes: countsOf(1000) } }));
    const shown = connectionProgress(totals, 7);
    assert.deepEqual(shown, {
      ...{ requested: 10, connected: 9, failed: 1, dropped: 2, takingPart: 7, connectP99Us: 1000 },
    });
    totals.add(workerSampleOf({ tick: 2, connections: { soFar: { ...soFar, reconnected: 2 } } }));
    assert.equal(connectionProgress(totals, 9).reconnected, 2);
  });
});

describe('progress of a tick', () => {
  const tickOf = (changes: Parameters<typeof stepSampleOf>[0]) =>
    new TickMerger().add(workerSampleOf({ steps: [stepSampleOf(changes)] }), true, 1)[0];

  it('is what was due, sent and received in it', () => {
    const windows = new RateWindows();
    windows.begin(0);
    const tick = tickOf({ offered: 3, sent: 2, received: 1, latency: countsOf(500) });
    const { interval } = tickInterval(tick, windows);
    assert.deepEqual([interval?.offered, interval?.sent, interval?.received], [3, 2, 1]);
    assert.equal(interval?.latencyUs.max, 500);
  });
});
