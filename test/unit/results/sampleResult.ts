import assert from 'node:assert/strict';
import type { Estimate } from '../../../src/capacity/model';
import {
  measuredLoadOf,
  type MeasuredLoad,
  type Recommendation,
} from '../../../src/capacity/judge/recommend';
import { scenarioEstimate } from '../../../src/capacity/estimate';
import { loadOf } from '../../../src/capacity/load/loadOf';
import type { EntryProgress, Snapshot, StepProgress } from '../../../src/measure/snapshot';
import type {
  AgentSummary,
  CallSummary,
  EntrySummary,
  SessionSummary,
  RunSummary,
  StepSummary,
} from '../../../src/measure/summary';
import { judgeStep } from '../../../src/measure/judge/verdict';
import { summarizeObserved } from '../../../src/measure/observed';
import { completeResult } from '../../../src/results/completeResult';
import type { Result } from '../../../src/results/result';
import { defaultSlo } from '../../../src/base/slo';
import type { Scenario } from '../../../src/scenario/scenario';
import type { LatencySummary } from '../../../src/measure/latencySummary';
import { scenarioWith } from '../capacity/scenarios';

/** The chat-room example of the documentation: groups of 10, 1,900 connections in 3 steps. */
export const sampleScenario: Scenario = scenarioWith({
  service: 'hub',
  target: { kind: 'hubUrl', urls: ['http://localhost:5050/signalrbench'] },
  connections: 1900,
  arrivingRate: 100,
  baseSending: 700,
  step: 600,
  singleStepDurationMs: 50_000,
  entries: [
    {
      name: 'sendToGroup',
      parameters: {
        messageSize: 2048,
        sendingInterval: 1000,
        groupCount: 190,
        groupsPerConnection: 1,
        sendersPer: 'connection',
      },
    },
  ],
});

export function latency(count: number, p50: number, p99: number, max: number): LatencySummary {
  const [p90, p95] = [(p50 + p99) / 2, (p50 + 2 * p99) / 3];
  const [p999, p9999] = [(p99 + max) / 2, (p99 + 3 * max) / 4];
  return { count, min: p50 / 2, mean: p50, p50, p90, p95, p99, p999, p9999, max };
}

/** Judging takes time, and tests want the usual steps thousands of times. */
const usualSteps = new Map<number, StepSummary>();

/** A step of the sample run; everything that was sent to 10 members each arrived unless `lost`. */
export function sampleStep(index: number, change?: StepChange): StepSummary {
  const usual = usualSteps.get(index) ?? madeStep(index, {});
  usualSteps.set(index, usual);
  return change === undefined ? { ...usual } : madeStep(index, change);
}

interface StepChange {
  readonly p99?: number;
  readonly lost?: number;
  readonly cpuShare?: number;
  readonly errors?: StepSummary['errors'];
}

function madeStep(index: number, change: StepChange): StepSummary {
  const { p99 = 41_000, lost = 0, cpuShare = 0.21, errors = {} } = change;
  const senders = 100 + index * 600;
  const [sent, expected] = [senders * 50, senders * 500];
  const received = expected - lost;
  const latencyUs = latency(received, p99 / 15, p99, p99 * 4);
  const generator = {
    cpuUsPerMessage: 7,
    cpuShare,
    loopDelayP99Us: 900,
    slipP99Us: 1100,
    gcShare: 0.01,
    valid: cpuShare <= 0.95,
  };
  const counts = { offered: sent, sent, expected, received, duplicated: 0 };
  return {
    index,
    senders,
    seconds: 50,
    ...counts,
    lost,
    outOfOrder: 0,
    late: 0,
    extra: 0,
    sentPerSecond: sent / 50,
    receivedPerSecond: received / 50,
    payloadBytesIn: sent * 2048,
    payloadBytesOut: received * 2048,
    wireBytesIn: sent * 2200,
    wireBytesOut: received * 2200,
    latencyUs,
    sendLatencyUs: latency(received, p99 / 16, p99 * 0.9, p99 * 3.5),
    histogram: 'HISTFAAAAA==',
    errors,
    generator,
    verdict: judgeStep(
      {
        ...counts,
        senders,
        generator,
        latencyAtShareUs: (share) => (share > 0.99 ? latencyUs.max : latencyUs.p99),
      },
      defaultSlo,
    ),
  };
}

/** A step of a mix, most of which is of the first of its two use cases. */
export function mixedStep(index: number): StepSummary {
  const step = sampleStep(index);
  const part = (name: string, share: number, lost: number): EntrySummary => {
    const { seconds, sent, received, ...rest } = step;
    const [own, arrived] = [sent * share, received * share - lost];
    return {
      ...rest,
      name,
      senders: step.senders * share,
      ...{ offered: own, sent: own, expected: received * share, received: arrived, lost },
      ...{ sentPerSecond: own / seconds, receivedPerSecond: arrived / seconds },
      latencyUs: latency(arrived, 1000, 9000 / share, 20_000 / share),
    };
  };
  return { ...step, lost: 5, entries: [part('sendToGroup', 0.75, 0), part('echo', 0.25, 5)] };
}

/** The same while the step goes on; what is lost afterwards is on its way. */
export function mixedProgress(index: number): EntryProgress[] {
  return mixedStep(index).entries!.map(({ lost, ...entry }) => ({ ...entry, outstanding: lost }));
}

const call = (
  name: string,
  [sent, expected, lost = 0]: readonly [number, number, number?],
  latencyUs: LatencySummary,
  more: Partial<CallSummary> = {},
): CallSummary => ({
  ...{ name, sent, expected, received: expected - lost, lost, latencyUs, errors: {}, ...more },
});

/** A step of sessions of four calls, two of which were broken off and three of which its end has cut short. */
export function sessionStep(index: number): StepSummary {
  const calls = [
    call('JoinRoom', [2005, 2005], latency(2005, 1200, 14_000, 31_000)),
    call('SendMessage', [20_020, 200_200], latency(200_200, 1900, 22_000, 71_000), { times: 10 }),
    call('GetHistory', [2002, 2002, 2], latency(2000, 3400, 120_000, 410_000), {
      errors: { invocation: 2 },
    }),
    call('LeaveRoom', [2000, 0], latency(0, 0, 0, 0)),
  ];
  const sum = (key: 'sent' | 'expected' | 'received' | 'lost'): number =>
    calls.reduce((total, each) => total + each[key], 0);
  const [sent, expected, received, lost] = [
    sum('sent'),
    sum('expected'),
    sum('received'),
    sum('lost'),
  ];
  return {
    ...sampleStep(index),
    ...{ offered: sent, sent, expected, received, lost, errors: { invocation: 2 } },
    ...{ sentPerSecond: sent / 50, receivedPerSecond: received / 50, calls },
    sessions: {
      ...{ started: 2005, completed: 2000, brokenOff: 2, brokenOffAt: { GetHistory: 2 } },
      durationUs: latency(2000, 29_400_000, 29_900_000, 30_100_000),
    },
  };
}

/** A step of a mix: the same sessions, others that all break off at a call of the same name, and echoes. */
export function sessionMix(index: number): StepSummary {
  const { calls = [], sessions, ...step } = sessionStep(index);
  const [like = assert.fail()] = mixedStep(index).entries ?? [];
  const part = (name: string, own?: SessionSummary): EntrySummary => ({
    ...{ ...like, name, senders: step.senders / 3, ...(own && { sessions: own }) },
  });
  const broken = {
    ...{ started: 30, completed: 0, brokenOff: 28, waiting: 2, brokenOffAt: { GetHistory: 28 } },
    durationUs: latency(0, 0, 0, 0),
  };
  const readers = [
    call('GetHistory', [28, 28, 28], latency(0, 0, 0, 0), {
      ...{ errors: { invocation: 28 }, errorText: 'history is busy' },
    }),
    call('Acknowledge', [0, 0], latency(0, 0, 0, 0)),
  ];
  return {
    ...step,
    errors: { invocation: 30 },
    entries: [part('session 1', sessions), part('session 2', broken), part('echo')],
    calls: [
      ...calls.map((each) => ({ ...each, entry: 'session 1' })),
      ...readers.map((each) => ({ ...each, entry: 'session 2' })),
    ],
    sessions: {
      ...{ ...sessions!, started: 2035, brokenOff: 30, waiting: 2 },
      brokenOffAt: { GetHistory: 30 },
    },
  };
}

/** The same while the step goes on; what is lost afterwards is on its way. */
export function sessionProgress(
  index: number,
  of = sessionStep,
): Pick<StepProgress, 'calls' | 'sessions' | 'entries'> {
  const { calls = [], sessions, entries } = of(index);
  const going = <Part extends { readonly lost: number }>({ lost, ...rest }: Part) => ({
    ...{ ...rest, outstanding: lost },
  });
  return {
    ...{ calls: calls.map(going), ...(sessions && { sessions }) },
    ...(entries && { entries: entries.map(going) }),
  };
}

/** What a server had in a second of the sample run: its queue grows from second 12 of a step on. */
export function observedAt(elapsedS: number): Readonly<Record<string, number>> {
  const late = Math.max(0, elapsedS - 11);
  return {
    ...{ cpu: Math.min(0.88, 0.4 + late / 50), gcPause: 0.02 + late / 1000 },
    ...{ memory: 180e6 + elapsedS * 1e6, heap: 60e6 + elapsedS * 5e5 },
    ...{ queue: 25 * late, threads: 8 + Math.floor(late / 4), connections: 1900 },
  };
}

/** Samples of one step in which the server is observed, a second each. */
export const observedSnapshots = (step: number, seconds = 40): Snapshot[] =>
  Array.from({ length: seconds }, (_, at) => {
    const snapshot = sampleSnapshot(20 + at, step);
    const elapsedS = at + 1;
    return {
      ...snapshot,
      step: { ...snapshot.step!, elapsedS },
      observed: observedAt(elapsedS),
    };
  });

/** The sample run with what was seen of its server. */
export const observedResult = (): Result => ({
  ...sampleResult({ steps: [sampleStep(1)] }),
  observed: summarizeObserved(observedSnapshots(1), [
    'http://localhost:5001/metrics could not be read (no answer within 3 s). The run goes on without what it says.',
  ])!,
});

export function sampleSummary(change: Partial<RunSummary> = {}): RunSummary {
  return {
    startedAt: '2026-11-21T14:02:11.000Z',
    endedAt: '2026-11-21T14:05:31.000Z',
    ending: 'completed',
    target: { kind: 'hubUrl', url: 'http://localhost:5050/signalrbench' },
    machine: { cores: 2, node: '20.20.0', platform: 'linux', workers: 1 },
    connections: {
      requested: 1900,
      connected: 1900,
      failed: 0,
      dropped: 0,
      reconnected: 0,
      connectUs: { p50: 9000, p99: 84_000, max: 91_000 },
    },
    steps: [sampleStep(1, { p99: 5500 }), sampleStep(2, { p99: 11_000 }), sampleStep(3)],
    errors: {},
    errorExamples: [],
    ...change,
  };
}

/** Three agents of a run, the last of which was lost in its second step. */
export const sampleAgents: readonly AgentSummary[] = [
  { p99Us: 40_100, cpuShare: 0.21, slipP99Us: 900 },
  { p99Us: 57_200, cpuShare: 0.34, slipP99Us: 1400 },
  undefined,
].map((measured, at) => ({
  ...{ index: at + 1, node: `aks-load-12345678-vmss00000${at}`, share: 1 / 3 },
  status: measured === undefined ? 'lost' : 'done',
  ...{ lastTick: measured === undefined ? 96 : 200, clockErrorUs: 380 + 40 * at },
  ...(measured && {
    lastStep: {
      ...{ index: 3, sent: 31_666, received: 316_660, loopDelayP99Us: 700, gcShare: 0.01 },
      ...measured,
    },
  }),
}));

const found = scenarioEstimate(sampleScenario);
if ('problem' in found) assert.fail(found.problem);
/** Without what is noted and billed beside the Units. */
const unitsOnly = ({ billing: _billing, notes, ...estimate }: Estimate): Estimate => ({
  ...{ ...estimate, notes: notes.slice(0, 1) },
});
export const sampleEstimate = unitsOnly(found.estimate);

/** The capacity model of the sample run: the real one, whose estimate and texts are made once and always for Unit 10. */
export const sampleModel = {
  loadOf,
  estimate: () => sampleEstimate,
  measuredLoadOf,
  recommend: (measured: Pick<MeasuredLoad, 'step' | 'stepStatus' | 'carried'>): Recommendation => ({
    ...sampleEstimate,
    step: measured.step,
    stepStatus: measured.stepStatus ?? 'pass',
    ...(measured.carried !== undefined && { carried: measured.carried }),
    outbound: { expectedPerSecond: 19_000, extraPerSecond: 0 },
    headline: `Unit 10: ${sampleEstimate.binding.text}`,
    reasons: [
      `Measured in step ${measured.step} with 1,900 connections: small group 1,900 msg/s in and 19,000 msg/s out of 2 KB.`,
      '3 app servers with 15 server connections each.',
    ],
  }),
};

export function sampleResult(
  change: Partial<RunSummary> = {},
  scenario: Scenario = sampleScenario,
): Result {
  return completeResult(
    sampleSummary(change),
    scenario,
    { id: '2026-11-21T14-02-11-chat-room', toolVersion: '0.1.0' },
    sampleModel,
  );
}

/** A run whose second step lost half of its deliveries, with the real recommendation and a size that was planned. */
export function failedResult(): Result {
  const scenario = { ...sampleScenario, unit: 5 };
  const steps = [sampleStep(1), { ...sampleStep(2, { lost: 325_000 }), extra: 50 }];
  const options = { id: '2026-11-21T14-02-11-chat-room', toolVersion: '0.1.0' };
  return completeResult(sampleSummary({ steps, ending: 'threshold' }), scenario, options);
}

/** A scenario that goes another way than most; the hub speaks measure. */
export const unusualScenario: Scenario = {
  ...sampleScenario,
  transport: 'LongPolling',
  protocol: 'messagepack',
  driver: 'sdk',
};

export const unusualResult = sampleResult(
  { target: { ...sampleSummary().target, dialect: 'measure' } },
  unusualScenario,
);

/** A sample of second `tick` of the sample run, in the measuring phase of `step`. */
export function sampleSnapshot(
  tick: number,
  step?: number,
  change: Partial<Snapshot> = {},
): Snapshot {
  const summary = step === undefined ? undefined : sampleStep(step);
  return {
    atMs: tick * 1000,
    tick,
    phase: step === undefined ? 'connecting' : 'measuring',
    connections: {
      requested: 1900,
      connected: step === undefined ? Math.min(1900, tick * 100) : 1900,
      failed: 0,
      dropped: 0,
      connectP99Us: 84_000,
    },
    ...(summary && { step: progressOf(summary) }),
    stepCount: 3,
    errors: {},
    complete: true,
    ...change,
  };
}

function progressOf(summary: StepSummary): StepProgress {
  const { index, senders, offered, sent, expected, received, latencyUs, generator } = summary;
  const { sentPerSecond, receivedPerSecond } = summary;
  return {
    ...{ index, senders, elapsedS: 38, totalS: 50, offered, sent, expected, received },
    ...{ outstanding: 0, over: false, duplicated: 0, outOfOrder: 0, errors: 0 },
    ...{ sentPerSecond, receivedPerSecond, latencyUs, generator },
  };
}
