// A recorded run for the page of the panel: the chat-room example, replayed into the product's own
// histograms, verdicts and recommendation from a seeded generator. Needs `tsc -b`.
import { createRequire } from 'node:module';
import path from 'node:path';
import { comparisons } from './comparisonData.mjs';

const require = createRequire(import.meta.url);
const built = (file) => require(path.resolve('out', file));
const { LatencyHistogram } = built('src/measure/histogram.js');
const { judgeStep } = built('src/measure/judge/verdict.js');
const { summarizeRepeats } = built('src/measure/compare/repeats.js');
const { searchSentence } = built('src/measure/show/searchSentence.js');
const { searchSample } = built('test/fakes/searchSample.js');
const { completeResult } = built('src/results/completeResult.js');
const { spectraOf, toPanelResult } = built('src/extension/panel/panelSession.js');
const { summarizeObserved } = built('src/measure/observed.js');
const {
  observedAt,
  sampleAgents,
  sampleScenario,
  sampleSummary,
  sessionMix,
  sessionProgress,
  sessionStep,
} = built('test/unit/results/sampleResult.js');

const connectS = 19;
const warmupS = 5;

function seeded(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

/** Takes down snapshots at a clock of its own, until the second it is cut off. */
class Recording {
  random = seeded(7);
  snapshots = [];
  atS = 0;

  constructor(options) {
    this.options = options;
    const { invalid, starved, errors } = options;
    this.errorCounts = errors ? { timeout: 3, reset: 14 } : {};
    this.generator = {
      cpuUsPerMessage: 7.1,
      cpuShare: invalid ? 0.97 : starved ? 0.03 : 0.21,
      loopDelayP99Us: invalid ? 240_000 : starved ? 0 : 900,
      slipP99Us: invalid || starved ? 310_000 : 900,
      gcShare: 0.011,
      valid: !invalid && !starved,
      ...((invalid || starved) && { cause: invalid ? 'cpu' : 'starved' }),
    };
  }

  /** A change of phase, reported between two ticks as a conductor reports it. */
  change(phase, more = {}) {
    this.report(phase, this.atS - 0.6, more);
  }

  add(phase, more = {}) {
    this.report(phase, this.atS++, more);
  }

  report(phase, atS, more) {
    const { untilS, errors, steps } = this.options;
    if (atS > untilS || atS < 0) return;
    const connected = Math.round(Math.min(1900, atS * 100));
    this.snapshots.push({
      atMs: atS * 1000,
      tick: Math.floor(atS),
      phase,
      connections: {
        requested: 1900,
        connected,
        failed: 0,
        dropped: errors && atS > 60 ? 14 : 0,
        connectP99Us: connected > 0 ? 84_000 : 0,
      },
      stepCount: steps,
      errors: atS > 60 ? this.errorCounts : {},
      complete: true,
      ...more,
    });
  }
}

/** Latencies with a long tail, now and then a slow second. */
function recordTick(random, baseUs, histograms, count) {
  const slow = random() > 0.94 ? 2 : 1;
  for (let each = 0; each < count; each++) {
    const tail = (1 / (1 - random() * 0.9995)) ** 0.45;
    const us = baseUs * (0.6 + random()) * tail * slow;
    for (const [histogram, factor] of histograms) histogram.record(us * factor);
  }
}

function recordStep(recording, index) {
  const { random, generator, options } = recording;
  const senders = options.silent ? 0 : Math.min(1900, 100 + index * 600);
  const slowness = options.failed && index === options.steps ? 40 : 1;
  const [whole, fromSend] = [new LatencyHistogram(), new LatencyHistogram()];
  const state = (elapsedS) => {
    const [sent, received] = [senders * elapsedS, senders * elapsedS * 10];
    const progress = {
      ...{ index, senders, elapsedS, totalS: options.stepS },
      ...{ offered: sent, sent, expected: received, received },
      ...{
        outstanding: !options.silent && elapsedS < options.stepS ? (options.stalled ? 400 : 40) : 0,
        duplicated: 0,
        outOfOrder: 0,
      },
      sentPerSecond: elapsedS > 0 ? senders : 0,
      receivedPerSecond: elapsedS > 0 ? senders * 10 : 0,
      latencyUs: whole.summary(),
      generator,
      ...(options.stalled && { waiting: { oldestS: 2.1, silentS: 2.1 } }),
    };
    return options.mix ? { ...progress, entries: entriesOf(progress) } : progress;
  };
  for (let warm = 0; warm < warmupS; warm++) recording.add('warmup', { step: state(0) });
  recording.change('measuring', { step: state(0) });
  for (let second = 1; second <= options.stepS; second++) {
    const tick = new LatencyHistogram();
    const histograms = [
      [tick, 1],
      [whole, 1],
      [fromSend, 0.86],
    ];
    if (!options.silent)
      recordTick(random, 900 * 1.6 ** index * slowness, histograms, options.deliveries);
    const received = senders * 10 + Math.round(40 * (random() - 0.5));
    const counts = { offered: senders, sent: senders, received };
    const interval = { seconds: 1, receivingSeconds: 1, ...counts, latencyUs: tick.summary() };
    if (recording.atS <= options.untilS) {
      recording.add('measuring', { step: state(second), ...(!options.silent && { interval }) });
    }
  }
  recording.change('draining', { step: state(options.stepS) });
  return stepSummary(
    state(options.stepS),
    whole,
    fromSend,
    index === 2 ? recording.errorCounts : {},
  );
}

/** A step's numbers as those of three use cases. */
function entriesOf({ index: _index, generator: _generator, ...progress }) {
  const parts = { sendToGroup: 0.6, 'echo 1': 0.3, 'echo 2': 0.1 };
  const parted = ['senders', 'offered', 'sent', 'expected', 'received', 'outstanding'];
  const rates = ['sentPerSecond', 'receivedPerSecond'];
  return Object.entries(parts).map(([name, part]) => {
    const own = [...parted, ...rates].map((key) => [key, Math.round(progress[key] * part)]);
    return { ...progress, ...Object.fromEntries(own), name };
  });
}

function stepSummary(state, whole, fromSend, errors) {
  const { elapsedS, sent, received, generator, ...numbers } = state;
  const counts = { ...numbers, sent, received, generator };
  const latencyAtShareUs = (share) => whole.valueAtShare(share);
  return {
    ...counts,
    seconds: elapsedS,
    ...{ lost: 0, late: 0, extra: 0 },
    payloadBytesIn: sent * 2048,
    payloadBytesOut: received * 2048,
    wireBytesIn: sent * 2200,
    wireBytesOut: received * 2200,
    sendLatencyUs: fromSend.summary(),
    histogram: whole.encode(),
    ...(state.entries && {
      entries: state.entries.map((entry) => ({ ...entry, lost: 0, late: 0, extra: 0 })),
    }),
    errors,
    verdict: judgeStep({ ...counts, latencyAtShareUs }, sampleScenario.slo),
  };
}

/**
 * @param {{ stepS?: number, steps?: number, untilS?: number, invalid?: boolean, errors?: boolean,
 *   silent?: boolean, starved?: boolean, stalled?: boolean, failed?: boolean, mix?: boolean }} change `untilS` cuts the run off while it goes on; without it
 *   there is a result. `silent`: connections only, not a message; `failed`: the last step is too slow.
 */
export function recordedRun(change = {}) {
  const options = {
    stepS: 50,
    deliveries: 400,
    steps: 3,
    untilS: Infinity,
    invalid: false,
    errors: false,
    silent: false,
    starved: false,
    stalled: false,
    failed: false,
    mix: false,
    ...change,
  };
  const scenario = { ...sampleScenario, unit: 10, singleStepDurationMs: options.stepS * 1000 };
  const recording = new Recording(options);
  for (let second = 0; second < connectS; second++) recording.add('connecting');
  const steps = [];
  for (let index = 1; index <= options.steps; index++) steps.push(recordStep(recording, index));
  const { connections, ...summary } = sampleSummary({
    steps,
    ...(options.failed && { ending: 'threshold' }),
    errors: recording.errorCounts,
    errorExamples: options.errors
      ? [{ errorClass: 'reset', text: 'read ECONNRESET (localhost:5050)' }]
      : [],
  });
  const dropped = options.errors ? 14 : 0;
  const result = completeResult(
    { ...summary, connections: { ...connections, dropped } },
    scenario,
    { id: '2026-11-21T14-02-11-chat-room', toolVersion: '0.1.0' },
  );
  const over = options.untilS === Infinity;
  return {
    run: {
      id: result.id,
      title: 'chat-room.signalr.yaml',
      targetUrl: result.target.url,
      startedAt: result.startedAt,
      scenario,
      estimate: result.estimate,
    },
    snapshots: recording.snapshots,
    result: over ? toPanelResult(result) : undefined,
    stored: result,
    spectra: over ? spectraOf(result) : [],
    interrupted: false,
  };
}

/** A run whose steps do not meet an objective, by now or for good. */
function withMissedObjective(recording, more = {}) {
  const message = '0 of 3,000 connections failed, 1,380 dropped (46 %), above the limit of 1 %';
  const snapshots = recording.snapshots.map((snapshot) => {
    const { step } = snapshot;
    return step ? { ...snapshot, step: { ...step, missed: { message, ...more } } } : snapshot;
  });
  return { ...recording, snapshots };
}

/** The same run under the longest names and addresses. */
function longNames(recording) {
  const name = `${'an-unusually-long-name-of-a-scenario-'.repeat(5)}.signalr.yaml`;
  const targetUrl = `https://${'a-long-host-name-'.repeat(3)}.example.com/${'path'.repeat(20)}`;
  return { ...recording, run: { ...recording.run, title: name, targetUrl } };
}

/** A target that refused every connection. */
function unreachable() {
  const { run, snapshots } = recordedRun({ untilS: 3 });
  const { connections, ...summary } = sampleSummary({
    steps: [],
    ending: 'targetLost',
    endingMessage:
      'Could not connect: nothing listens on 127.0.0.1:5050. Start the server, or correct the port in the target.',
    errors: { refused: 60 },
    errorExamples: [{ errorClass: 'refused', text: 'connect ECONNREFUSED 127.0.0.1:5050' }],
  });
  const none = { connected: 0, failed: 20, connectUs: { p50: 0, p99: 0, max: 0 } };
  const result = completeResult(
    { ...summary, connections: { ...connections, ...none } },
    run.scenario,
    { id: run.id, toolVersion: '0.1.0' },
  );
  const failing = snapshots.map((snapshot) => ({
    ...snapshot,
    connections: { ...snapshot.connections, connected: 0, failed: 20, connectP99Us: 0 },
    errors: { refused: 60 },
  }));
  return {
    run,
    snapshots: failing,
    result: toPanelResult(result),
    spectra: [],
    interrupted: false,
  };
}

/** Steps that were run four times, the third time with a disturbance. */
function repeated(recording) {
  const [first] = recording.result.steps;
  const again = [1, 1.04, 2.1, 0.98].map((factor, at) => ({
    ...first,
    index: at + 1,
    latencyUs: { ...first.latencyUs, p99: Math.round(first.latencyUs.p99 * factor) },
  }));
  return { ...recording, result: { ...recording.result, repeats: summarizeRepeats(again, 1) } };
}

/** A run that was compared with an earlier one. */
function compared(recording) {
  const [{ comparison: baseline }] = comparisons.worse.shown;
  return { ...recording, result: toPanelResult({ ...recording.stored, baseline }) };
}

/** A search, over or going on. */
function searched(recording) {
  const { of, from, to, precision, budgetMs } = searchSample;
  const scenario = { ...recording.run.scenario, search: { of, from, to, precision, budgetMs } };
  const values = [100, 400, 200];
  const snapshots = recording.snapshots.map((snapshot) => {
    const value = values[(snapshot.step?.index ?? 1) - 1];
    const search = { of, value, low: value > 100 ? 100 : null, high: value === 200 ? 400 : null };
    const step = snapshot.step && { ...snapshot.step, senders: value };
    return { ...snapshot, search, ...(step && { step }) };
  });
  const sentence = searchSentence(searchSample);
  const result = recording.result && { ...recording.result, search: searchSample, sentence };
  return { ...recording, run: { ...recording.run, scenario }, snapshots, result };
}

const states = {
  empty: () => recordedRun({ untilS: -1 }),
  connecting: () => recordedRun({ untilS: 7 }),
  live: () => recordedRun({ untilS: 112 }),
  'invalid-live': () => recordedRun({ invalid: true, untilS: 112 }),
  'silent-live': () => recordedRun({ silent: true, untilS: 60 }),
  done: () => recordedRun(),
  errors: () => recordedRun({ errors: true }),
  invalid: () => recordedRun({ invalid: true }),
  failed: () => recordedRun({ failed: true }),
  silent: () => recordedRun({ silent: true }),
  starved: () => recordedRun({ starved: true }),
  'missed-live': () => withMissedObjective(recordedRun({ untilS: 112 })),
  'missed-for-good-live': () =>
    withMissedObjective(recordedRun({ untilS: 112 }), { isFinal: true }),
  'stalled-live': () => recordedRun({ stalled: true, untilS: 112 }),
  unreachable: () => unreachable(),
  mix: () => recordedRun({ mix: true }),
  'mix-live': () => recordedRun({ mix: true, untilS: 112 }),
  long: () => longNames(recordedRun()),
  search: () => searched(recordedRun()),
  'search-live': () => searched(recordedRun({ untilS: 150 })),
  repeats: () => repeated(recordedRun()),
  agents: () => onAgents(recordedRun()),
  'agents-live': () => onLiveAgents(recordedRun({ untilS: 112 })),
  sessions: () => withSessions(recordedRun()),
  observed: () => withServer(recordedRun()),
  azure: () => withService(recordedRun()),
  'sessions-live': () => withSessions(recordedRun({ untilS: 130 })),
  'session-mix': () => withSessions(recordedRun(), sessionMix),
  'session-mix-live': () => withSessions(recordedRun({ untilS: 130 }), sessionMix),
  compared: () => compared(recordedRun()),
  hour: () => recordedRun({ stepS: 1200, deliveries: 40 }),
};

/** The same run with what was seen of its server. */
function withServer({ snapshots, result, ...recording }) {
  const seen = snapshots.map((snapshot) => ({
    ...snapshot,
    ...(snapshot.step && { observed: observedAt(snapshot.step.elapsedS) }),
  }));
  const observed = summarizeObserved(seen, [
    'http://localhost:5001/metrics could not be read (no answer).',
  ]);
  const sentence = `${result.sentence}; the server's thread-pool queue grew from second 15 on`;
  return { ...recording, snapshots: seen, result: { ...result, observed, sentence } };
}

/** The same run on a service whose minutes were read when it was over, one of them too late. */
function withService({ snapshots, result, ...recording }) {
  const minutes = Math.ceil((snapshots.at(-1)?.atMs ?? 0) / 60_000);
  const series = (name, valueOf) => ({
    name: `${name} @ chat`,
    points: Array.from({ length: minutes }, (_, at) => [at * 60_000 - 20_000, valueOf(at)]).filter(
      (_, at) => at !== 2,
    ),
  });
  const late = [
    series('serverLoad', (at) => 0.25 + at * 0.15),
    series('trafficIn', (at) => 1.4e6 * (at + 1)),
    series('trafficOut', (at) => 14e6 * (at + 1)),
    series('connections', () => 1900),
    series('MessageCount/s', (at) => 5000 * (at + 1)),
  ];
  return {
    ...recording,
    snapshots,
    result: { ...result, observed: summarizeObserved(snapshots, [], late) },
  };
}

/** The same run by sessions of four calls. */
function withSessions({ snapshots, result, ...recording }, stepOf = sessionStep) {
  const of = ({ index }) => {
    const { calls, sessions, entries } = stepOf(index);
    return { calls, sessions, ...(entries && { entries }) };
  };
  const during = ({ step, ...snapshot }) => ({
    ...snapshot,
    ...(step && { step: { ...step, ...sessionProgress(step.index, stepOf) } }),
  });
  return {
    ...recording,
    snapshots: snapshots.map(during),
    result: result && { ...result, steps: result.steps.map((step) => ({ ...step, ...of(step) })) },
  };
}

/** The same run on three agents, one of which was lost. */
function onAgents(recording) {
  const { steps, ...result } = recording.result;
  // A third of the deliveries stays inside its agent, and needs one clock only.
  const clocked = steps.map((step) => ({
    ...{ ...step, clockErrorUs: 1240, agentsComplete: 2 },
    latencySameAgentUs: { ...step.latencyUs, count: Math.round(step.latencyUs.count / 3) },
  }));
  // As it ends: what was said of the loss while it went on is what the first sentence says.
  const problem = `agent 3 of 3 (${sampleAgents[2].node}) was lost: it was silent for 30 s`;
  const endingMessage = `A part of the load was missing: ${problem}`;
  const verdict = {
    status: 'incomplete',
    reasons: [{ code: 'workerLost', message: endingMessage }],
  };
  clocked.at(-1).verdict = {
    status: 'incomplete',
    reasons: [{ code: 'agentLost', message: problem }],
  };
  const ended = { ending: 'workerLost', endingMessage, verdict };
  const sentence = `■ incomplete; ${endingMessage}; step 2: 99 % of 650,000 deliveries within 22 ms (limit 1 s), none lost`;
  return {
    ...recording,
    snapshots: recording.snapshots.map((snapshot, at, all) =>
      at === all.length - 1 ? { ...snapshot, problem } : snapshot,
    ),
    result: { ...result, ...ended, sentence, steps: clocked, agents: sampleAgents },
  };
}

/** One of three has not been heard of for a while. */
function onLiveAgents(recording) {
  const agents = sampleAgents.map((agent) =>
    agent.status === 'lost' ? { ...agent, status: 'silent' } : { ...agent, status: 'running' },
  );
  const snapshots = recording.snapshots.map((each) => ({ ...each, agents }));
  return { ...recording, snapshots };
}

/** A run per state that the panel has to show, recorded when it is asked for: the long ones take seconds. */
export const recordings = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(states).map(([state, record]) => {
      let recorded;
      return [state, { enumerable: true, get: () => (recorded ??= record()) }];
    }),
  ),
);
