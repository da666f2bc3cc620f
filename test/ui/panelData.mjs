// A recorded run for the page of the panel: the chat-room example, replayed into the product's own
// histograms, verdicts and recommendation from a seeded generator. Needs `tsc -b`.
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const built = (file) => require(path.resolve('out', file));
const { LatencyHistogram } = built('src/measure/histogram.js');
const { judgeStep } = built('src/measure/verdict.js');
const { completeResult } = built('src/results/completeResult.js');
const { spectraOf } = built('src/extension/panel/spectra.js');
const { toPanelResult } = built('src/extension/panel/toPanelResult.js');
const { sampleScenario } = built('test/unit/results/sampleResult.js');

function seeded(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

const connectS = 19;
const warmupS = 5;

/**
 * @param {{ stepS?: number, steps?: number, untilS?: number, invalid?: boolean, errors?: boolean }} options
 * `untilS` cuts the run off while it goes on; without it there is a result.
 */
export function recordedRun({
  stepS = 50,
  steps: stepCount = 3,
  untilS = Infinity,
  invalid = false,
  errors = false,
} = {}) {
  const random = seeded(7);
  const scenario = { ...sampleScenario, unit: 10, singleStepDurationMs: stepS * 1000 };
  const snapshots = [];
  const steps = [];
  const errorCounts = errors ? { timeout: 3, reset: 14 } : {};
  const generator = {
    cpuUsPerMessage: 7.1,
    cpuShare: invalid ? 0.97 : 0.21,
    loopDelayP99Us: invalid ? 240_000 : 900,
    slipP99Us: invalid ? 310_000 : 900,
    gcShare: 0.011,
    valid: !invalid,
  };
  let atS = 0;
  const add = (phase, more = {}) => {
    if (atS > untilS) return;
    const connected = Math.min(1900, atS * 100);
    snapshots.push({
      atMs: atS * 1000,
      tick: atS,
      phase,
      connections: {
        requested: 1900,
        connected,
        failed: 0,
        dropped: errors && atS > 60 ? 14 : 0,
        connectP99Us: connected > 0 ? 84_000 : 0,
      },
      stepCount,
      errors: atS > 60 ? errorCounts : {},
      complete: true,
      ...more,
    });
  };
  for (; atS < connectS; atS++) add('connecting');
  for (let index = 1; index <= stepCount; index++) {
    const senders = Math.min(1900, 100 + index * 600);
    const [whole, wholeSend] = [new LatencyHistogram(), new LatencyHistogram()];
    const base = 900 * 1.6 ** Math.min(3, index);
    const counts = { offered: 0, sent: 0, expected: 0, received: 0 };
    const progress = (elapsedS) => ({
      index,
      senders,
      elapsedS,
      totalS: stepS,
      ...counts,
      outstanding: elapsedS < stepS ? 40 : 0,
      duplicated: 0,
      outOfOrder: 0,
      sentPerSecond: elapsedS > 0 ? counts.sent / elapsedS : 0,
      receivedPerSecond: elapsedS > 0 ? counts.received / elapsedS : 0,
      latencyUs: whole.summary(),
      generator,
    });
    for (let warm = 0; warm < warmupS; warm++, atS++) add('warmup', { step: progress(0) });
    for (let second = 1; second <= stepS; second++, atS++) {
      if (atS > untilS) break;
      const tick = new LatencyHistogram();
      const spike = random() > 0.94 ? 4 : 1;
      for (let each = 0; each < 400; each++) {
        const us = base * (0.6 + random()) * (1 / (1 - random() * 0.9995)) ** 0.45 * spike ** 0.5;
        tick.record(us);
        whole.record(us);
        wholeSend.record(us * 0.86);
      }
      counts.offered += senders;
      counts.sent += senders;
      counts.expected += senders * 10;
      counts.received += senders * 10;
      add('measuring', {
        step: progress(second),
        interval: {
          seconds: 1,
          sent: senders,
          received: senders * 10 + Math.round(40 * (random() - 0.5)),
          latencyUs: tick.summary(),
        },
      });
    }
    add('draining', { step: progress(stepS) });
    atS++;
    const latencyUs = whole.summary();
    steps.push({
      index,
      senders,
      seconds: stepS,
      ...counts,
      lost: 0,
      duplicated: 0,
      outOfOrder: 0,
      late: 0,
      extra: 0,
      sentPerSecond: counts.sent / stepS,
      receivedPerSecond: counts.received / stepS,
      payloadBytesIn: counts.sent * 2048,
      payloadBytesOut: counts.received * 2048,
      wireBytesIn: counts.sent * 2200,
      wireBytesOut: counts.received * 2200,
      latencyUs,
      sendLatencyUs: wholeSend.summary(),
      histogram: whole.encode(),
      errors: index === 2 ? errorCounts : {},
      generator,
      verdict: judgeStep(
        { ...counts, generator, latencyAtShareUs: (share) => whole.valueAtShare(share) },
        scenario.slo,
      ),
    });
  }
  const result = completeResult(
    {
      startedAt: '2026-11-21T14:02:11.000Z',
      endedAt: '2026-11-21T14:05:31.000Z',
      ending: 'completed',
      target: { kind: 'hubUrl', url: 'http://localhost:5050/signalrbench' },
      machine: { cores: 2, node: '20.20.0', platform: 'linux', workers: 1 },
      connections: {
        requested: 1900,
        connected: 1900,
        failed: 0,
        dropped: errors ? 14 : 0,
        reconnected: 0,
        connectUs: { p50: 9000, p99: 84_000, max: 91_000 },
      },
      steps,
      errors: errorCounts,
      errorExamples: errors
        ? [{ errorClass: 'reset', text: 'read ECONNRESET (localhost:5050)' }]
        : [],
    },
    scenario,
    { id: '2026-11-21T14-02-11-chat-room', toolVersion: '0.1.0' },
  );
  const over = untilS === Infinity;
  return {
    run: {
      id: result.id,
      title: 'chat-room.signalr.yaml',
      targetUrl: 'http://localhost:5050/signalrbench',
      startedAt: result.startedAt,
      scenario,
      estimate: result.estimate,
    },
    snapshots,
    result: over ? toPanelResult(result) : undefined,
    spectra: over ? spectraOf(result) : [],
    interrupted: false,
  };
}
