import assert from 'node:assert/strict';
import type { Quantiles } from '../../../../src/measure/summary';
import { LatencyHistogram } from '../../../../src/measure/histogram';
import { addResultCounters, type CounterLine } from '../../../../src/results/counters/counterFile';
import {
  CounterSummarizer,
  formatLoadCounters,
} from '../../../../src/results/counters/counterSummary';
import { sampleResult, sampleScenario, sampleStep } from '../sampleResult';

const quantiles = (p50: number, p90: number, p95: number, p99: number): Quantiles => ({
  ...{ p50, p90, p95, p99 },
});

const lines: readonly CounterLine[] = [0, 1, 1, 2].map((epoch, atMs) => ({
  atMs,
  counters: { epoch },
}));

describe('addResultCounters', () => {
  const { connections } = sampleResult();
  const scenario = sampleScenario;

  it('adds nothing where nobody moves, comes or goes', () => {
    const steps = [sampleStep(1), sampleStep(2)];
    assert.deepEqual(addResultCounters(lines, { scenario, connections, steps }), lines);
  });

  it('adds joins and leaves to the last line of their step, which begins with none', () => {
    const latency = new LatencyHistogram().summary();
    const membership = {
      ...{ joins: 10, joinsFailed: 1, leaves: 8, leavesFailed: 2, skipped: 3 },
      ...{ joinUs: latency, leaveUs: latency },
    };
    const steps = [{ ...sampleStep(1), membership }, sampleStep(2)];
    const [begin, first, last, second] = addResultCounters(lines, {
      ...{ scenario, connections, steps },
    });
    assert.deepEqual([begin, second], [lines[0], lines[3]]);
    assert.deepEqual(first!.counters, {
      epoch: 1,
      'group:join:success': 0,
      'group:join:fail': 0,
      'group:leave:success': 0,
      'group:leave:fail': 0,
    });
    assert.deepEqual(last!.counters, {
      epoch: 1,
      'group:join:success': 10,
      'group:join:fail': 1,
      'group:leave:success': 8,
      'group:leave:fail': 2,
    });
  });

  it('adds what streams lost, of a mix only that of its streams', () => {
    const stream = {
      name: 'streamingEcho',
      parameters: { streamingItemCount: 4, streamingItemSendDelay: 0, sendingInterval: 1000 },
    };
    const lost = { ...sampleStep(1), lost: 71 };
    const missing = (
      entries: typeof scenario.entries,
      step: ReturnType<typeof sampleStep>,
    ): (number | undefined)[] =>
      addResultCounters(lines, {
        scenario: { ...scenario, entries },
        connections,
        steps: [step],
      }).map(({ counters }) => counters['message:streamItemMissing']);
    assert.deepEqual(missing([stream], lost), [undefined, 0, 71, undefined]);
    const summarizer = new CounterSummarizer();
    const only = { scenario: { ...scenario, entries: [stream] }, connections, steps: [lost] };
    for (const line of addResultCounters(lines, only)) summarizer.add(line);
    assert.match(
      formatLoadCounters(summarizer.summary()).join('\n'),
      /nothing received\n Missing in streams: 71\n-/,
    );
    const echo = { name: 'echo', parameters: {} };
    const entries = [
      { ...lost, name: 'echo', lost: 70 },
      { ...lost, name: 'streamingEcho', lost: 1 },
    ];
    assert.deepEqual(missing([echo, stream], { ...lost, entries })[2], 1);
    assert.deepEqual(missing([echo], lost)[2], undefined);
  });

  it('adds the times of connections to the last line, the share of up time in whole per cent', () => {
    const life = {
      ...{ drops: 5, closed: 0, reconnects: 5 },
      reconnectUs: quantiles(1400, 2600, 3000, 9900),
      lifeSpanMs: quantiles(60_000, 61_000, 62_000, 63_000),
      downMs: quantiles(0, 100, 200, 1500),
      sla: { ...quantiles(1, 0.999, 0.99, 0.5), mean: 0.98 },
    };
    const connectUs = { p50: 12_400, p99: 84_000, max: 90_000 };
    const came = lines.map((line, at) =>
      at === 2
        ? { ...line, counters: { ...line.counters, 'connection:connect:reconnect': 5 } }
        : line,
    );
    const all = addResultCounters(came, {
      scenario,
      connections: { ...connections, life, connectUs },
      steps: [sampleStep(1), sampleStep(2)],
    });
    assert.deepEqual(all[0], lines[0]);
    assert.deepEqual(all[1]!.counters, { epoch: 1, 'connection:connect:cost:0.5': 12 });
    const summarizer = new CounterSummarizer();
    for (const line of all) summarizer.add(line);
    const reconnects = summarizer.summary().epochs.map(({ reconnectP99Ms }) => reconnectP99Ms);
    assert.deepEqual(reconnects, [10, 10], 'of each step in which connections came back');
    assert.equal(all[2]!.counters['connection:sla:0.5'], undefined, 'known at the end only');
    assert.deepEqual(all[3]!.counters, {
      epoch: 2,
      'connection:connect:cost:0.5': 12,
      'connection:reconnect:cost:0.5': 1,
      'connection:reconnect:cost:0.9': 3,
      'connection:reconnect:cost:0.95': 3,
      'connection:reconnect:cost:0.99': 10,
      'connection:connect:lifespan:0.5': 60_000,
      'connection:connect:lifespan:0.9': 61_000,
      'connection:connect:lifespan:0.95': 62_000,
      'connection:connect:lifespan:0.99': 63_000,
      'connection:connect:offline:0.5': 0,
      'connection:connect:offline:0.9': 100,
      'connection:connect:offline:0.95': 200,
      'connection:connect:offline:0.99': 1500,
      'connection:sla:0.5': 100,
      'connection:sla:0.9': 99,
      'connection:sla:0.95': 99,
      'connection:sla:0.99': 50,
    });
  });
});
