import assert from 'node:assert/strict';
import type { Quantiles } from '../../../src/measure/connectionSummary';
import { LatencyHistogram } from '../../../src/measure/histogram';
import type { CounterLine } from '../../../src/results/counterLines';
import { withResultCounters } from '../../../src/results/resultCounters';
import { sampleResult, sampleStep } from './sampleResult';

const quantiles = (p50: number, p90: number, p95: number, p99: number): Quantiles => ({
  ...{ p50, p90, p95, p99 },
});

const lines: readonly CounterLine[] = [0, 1, 1, 2].map((epoch, atMs) => ({
  atMs,
  counters: { epoch },
}));

describe('withResultCounters', () => {
  const { connections } = sampleResult();

  it('adds nothing where nobody moves, comes or goes', () => {
    const steps = [sampleStep(1), sampleStep(2)];
    assert.deepEqual(withResultCounters(lines, { connections, steps }), lines);
  });

  it('adds joins and leaves to the last line of their step', () => {
    const latency = new LatencyHistogram().summary();
    const membership = {
      ...{ joins: 10, joinsFailed: 1, leaves: 8, leavesFailed: 2, skipped: 3 },
      ...{ joinUs: latency, leaveUs: latency },
    };
    const steps = [{ ...sampleStep(1), membership }, sampleStep(2)];
    const [begin, first, last, second] = withResultCounters(lines, { connections, steps });
    assert.deepEqual([begin, first, second], [lines[0], lines[1], lines[3]]);
    assert.deepEqual(last!.counters, {
      epoch: 1,
      'group:join:success': 10,
      'group:join:fail': 1,
      'group:leave:success': 8,
      'group:leave:fail': 2,
    });
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
    const all = withResultCounters(lines, {
      connections: { ...connections, life, connectUs },
      steps: [sampleStep(1), sampleStep(2)],
    });
    assert.deepEqual(all.slice(0, 3), lines.slice(0, 3));
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
