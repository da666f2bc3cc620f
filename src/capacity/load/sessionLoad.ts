/** The load of sessions: each call by its receivers and mean count. */
import { getOrCreate } from '../../base/collect';
import { largestGroup, numberParameter, type Parameters } from '../../usecases/parameters';
import { weightedMean, type PayloadSize } from '../../usecases/payloadSizes';
import {
  allStepsOf,
  audienceOfStep,
  listCalls,
  deliveriesOfStep,
  isCounted,
  isListenOnly,
  joinsByCalls,
  sessionStepsOf,
  sizesOfStep,
  excludesCaller,
  sumOverSession,
  usesGroup,
  type CallAudience,
  type CountedStep,
  type SessionStep,
} from '../../usecases/sessionSteps';
import type { OwnCall, Load, Traffic } from '../../usecases/useCase';
import { floorBytes } from './serviceLoad';

interface SessionTraffic {
  readonly traffic: Traffic;
  readonly calls: readonly string[];
  readonly ownCalls: readonly OwnCall[];
}

type SessionKind = CallAudience | 'on' | 'answers';

const trafficKinds: Readonly<
  Record<SessionKind, Pick<Traffic, 'kind' | 'inEach' | 'outEach' | 'answers'>>
> = {
  self: { kind: 'echo' },
  client: { kind: 'send_to_connection' },
  group: { kind: 'send_to_group' },
  everyone: { kind: 'broadcast' },
  nobody: { kind: 'echo', outEach: 0 },
  on: { kind: 'echo', inEach: 0 },
  answers: { kind: 'echo', inEach: 0, answers: true },
};

const voidPayload: PayloadSize = { bytes: 4, weight: 1 };

export const outboundOnlyNote =
  'Callbacks that no call expects go out alone; the guides have no table for that: each counts as the outbound part of an echo.';

export function sessionAssumptions(parameters: Parameters): string[] {
  const steps = sessionStepsOf(parameters);
  const has = (of: (step: SessionStep) => boolean): boolean => allStepsOf(steps).some(of);
  const assumptions = [
    steps.length > 0 &&
      'Each call of a session counts by its receivers, as often as a session makes it; one without callbacks counts as an echo.',
    joinsByCalls(steps) &&
      usesGroup(steps) &&
      'All senders count as members of their groups all the time, even while a session has left them.',
    has(({ kind }) => kind === 'choose') && 'Each way of a choose counts by its weight.',
    has(({ kind }) => kind === 'if') && 'The more expensive branch of an if counts.',
    has((step) => step.kind === 'on' && !isOfCall(steps, step)) && outboundOnlyNote,
    has(({ kind }) => kind === 'stream') &&
      'The guides have no table for streams: each item counts as an echo.',
    has((step) => step.kind === 'call' && step.answered === true) &&
      'Answers beside callbacks go out alone: each counts as the outbound part of an echo.',
  ];
  return assumptions.filter((sentence) => sentence !== false);
}

/** Callbacks are a traffic of their own, without senders where only a run can count them. */
export function sessionTraffic(
  parameters: Parameters,
  { connections, senders }: Load,
  joining = joinsByCalls(sessionStepsOf(parameters)) ? senders : connections,
): SessionTraffic[] {
  const steps = sessionStepsOf(parameters);
  const members = largestGroupSize(parameters, joining);
  const load = { connections, members };
  const named = listCalls(steps);
  const times = timesOf(steps, 1, (step) => costOf(step, load));
  const byKind = new Map<SessionKind, Counted[]>();
  for (const [at, { name, step }] of named.entries()) {
    const calls = isOfCall(steps, step) ? 0 : (heardTimes(step) ?? times[at] ?? 0);
    // Each item of a stream is a message.
    const items = step.kind === 'stream' ? Math.max(1, step.items) : 1;
    const counted = { name, step, calls, times: calls * items };
    for (const kind of kindsOf(step)) getOrCreate(byKind, kind, () => []).push(counted);
  }
  const intervalS = numberParameter(parameters, 'sessionInterval') / 1000;
  return [...byKind].flatMap(([kind, all]): SessionTraffic[] => {
    const isEvent = kind === 'on';
    const made = isEvent ? all : all.filter((each) => each.times > 0);
    const isAnswer = kind === 'answers';
    const each = made.reduce((sum, { times: often }) => sum + often, 0);
    const calls = made.reduce((sum, one) => sum + one.calls, 0);
    const isUnknown = each === 0;
    if (isUnknown && !isEvent) return [];
    const sizes = made.flatMap(({ step, times }): PayloadSize[] => {
      const own = isAnswer ? [voidPayload] : payloadsOf(step);
      const all = own.reduce((sum, { weight }) => sum + weight, 0);
      const share = isUnknown ? 1 : times;
      return own.map(({ bytes, weight }) => ({ bytes, weight: (share * weight) / all }));
    });
    return [
      {
        traffic: {
          ...(isUnknown ? { senders: 0, intervalS } : { senders, intervalS: intervalS / each }),
          ...(calls !== each && { inEach: calls / each }),
          ...trafficKinds[kind],
          messageBytes: Math.max(1, Math.round(weightedMean(sizes, (bytes) => bytes))),
          ...(sizes.length > 1 && { messageSizes: sizes }),
          ...(kind === 'group' && {
            groupMembers: made.every(({ step }) => excludesCaller(step))
              ? Math.max(1, members - 1)
              : members,
          }),
        },
        calls: made.map(({ name }) => name),
        ownCalls: made.flatMap(({ step }) =>
          isAnswer ? answerOf(step) : payloadsOf(step).map(() => ownCallOf(step)),
        ),
      },
    ];
  });
}

const kindsOf = (step: CountedStep): readonly SessionKind[] =>
  step.kind === 'on'
    ? ['on']
    : [
        audienceOfStep(step),
        ...(step.kind === 'call' && step.answered ? ['answers' as const] : []),
      ];

/** Undefined for events that the session waits for, and recorded ones. */
const heardTimes = (step: CountedStep): number | undefined =>
  step.kind === 'on' && isListenOnly(step) && !('recorded' in step)
    ? (step.perSession ?? 0)
    : undefined;

export const eventsWithoutRate = (parameters: Parameters): string[] =>
  listCalls(sessionStepsOf(parameters)).flatMap(({ step }) =>
    step.kind === 'on' && heardTimes(step) !== undefined && step.perSession === undefined
      ? [step.event]
      : [],
  );

/** Whether the event comes with a call of the session, which the service sends once. */
const isOfCall = (steps: readonly SessionStep[], step: SessionStep): boolean =>
  step.kind === 'on' &&
  !isListenOnly(step) &&
  listCalls(steps).some(
    ({ step: call }) =>
      call.kind === 'call' &&
      call.reply === 'callback' &&
      call.callback?.toLowerCase() === step.event.toLowerCase(),
  );

interface Counted {
  readonly name: string;
  readonly step: CountedStep;
  /** Per session; `times` counts each item of a stream. */
  readonly calls: number;
  readonly times: number;
}

interface Receivers {
  readonly connections: number;
  readonly members: number;
}

export function largestGroupSize(parameters: Parameters, connections: number): number {
  const { groupCount } = parameters;
  if (typeof groupCount !== 'number') return 1;
  const among = Math.max(1, connections);
  return Math.max(1, largestGroup({ groupsPerConnection: 1, ...parameters }, among));
}

/** Bytes as the tables count them. */
const costOf = (step: CountedStep, load: Receivers): number =>
  (1 + deliveriesOfStep(step, load)) *
  weightedMean(payloadsOf(step), (bytes) => Math.max(floorBytes, bytes));

/** Mean count per session of each counted step, in the order of {@link listCalls}. */
function timesOf(
  steps: readonly SessionStep[],
  factor: number,
  cost: (step: CountedStep) => number,
): number[] {
  const sum = (below: readonly SessionStep[]): number =>
    sumOverSession(below, (step) => (isCounted(step) ? cost(step) : 0));
  return steps.flatMap((step): number[] => {
    switch (step.kind) {
      case 'wait':
        return [];
      case 'repeat':
        return timesOf(step.steps, factor * step.times, cost);
      case 'choose': {
        const weights = step.ways.reduce((total, { weight }) => total + weight, 0);
        return step.ways.flatMap((way) =>
          timesOf(way.steps, (factor * way.weight) / weights, cost),
        );
      }
      case 'if': {
        const isFirst = sum(step.steps) >= sum(step.else);
        return [
          ...timesOf(step.steps, isFirst ? factor : 0, cost),
          ...timesOf(step.else, isFirst ? 0 : factor, cost),
        ];
      }
      default:
        return [factor];
    }
  });
}

const payloadsOf = (step: CountedStep): readonly PayloadSize[] =>
  sizesOfStep(step).map(({ bytes, weight }) => ({
    bytes: step.kind === 'stream' ? Math.max(bytes, step.itemBytes) : bytes,
    weight,
  }));

const answerOf = (step: CountedStep): OwnCall => ({ ...ownCallOf(step), reply: 'completion' });

function ownCallOf(step: CountedStep): OwnCall {
  if (step.kind === 'on')
    return { method: step.event, arguments: '[]', reply: 'callback', callback: step.event };
  const { method } = step;
  const called = { method, arguments: '[]' };
  if (step.kind === 'stream') return { ...called, reply: 'stream' };
  return {
    ...{ ...called, reply: step.reply },
    ...(step.callback !== undefined && { callback: step.callback }),
  };
}
