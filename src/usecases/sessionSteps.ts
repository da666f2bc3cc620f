/** Steps of a session. A scenario keeps them as JSON text, with defaults filled in. */
import { parseArguments, placeholdersIn, type CallArgument, argumentSizes } from './ownArguments';
import type { Parameters } from './parameters';
import type { PayloadSize } from './payloadSizes';

/** `others`: all of the group named in the call, else everyone, without the caller. */
export const callReceivers = ['self', 'client', 'group', 'everyone', 'others'] as const;
export const callReplies = ['completion', 'callback', 'none'] as const;
export const groupChanges = ['join', 'leave', 'none'] as const;

export interface SessionRun {
  /** JSON text of {@link SessionStep}s. */
  readonly steps: string;
  /** Calls join and leave groups; else all connections are always members. */
  readonly joins: boolean;
  /** The recording says what is sent; steps only name what is counted. */
  readonly replays?: true;
}

/** Count in the recording, over all its clients. */
interface Recorded {
  readonly recorded?: number;
}

/** Names of kept values with the JSONPath (RFC 9535) that finds them. */
export type KeepPaths = Readonly<Record<string, string>>;

export interface CallStep extends Recorded {
  readonly kind: 'call';
  readonly method: string;
  /** JSON values; texts may hold placeholders, also of kept values. */
  readonly arguments: readonly unknown[];
  readonly reply: (typeof callReplies)[number];
  readonly callback?: string;
  readonly receivers: (typeof callReceivers)[number];
  /** The hub also completes each callback call, which is not counted. */
  readonly answered?: boolean;
  /** Group membership after its answer. */
  readonly group: (typeof groupChanges)[number];
  readonly withinMs: number;
  readonly keep: KeepPaths;
}

/** A stream made by the hub; the session waits for its end. */
interface StreamStep {
  readonly kind: 'stream';
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly items: number;
  readonly itemBytes: number;
  readonly cancel?: true;
  readonly everyMs: number;
  readonly withinMs: number;
}

export interface OnStep extends Recorded {
  readonly kind: 'on';
  readonly event: string;
  /** 0: nothing waits for it, it is only counted. */
  readonly withinMs: number;
  readonly perSession?: number;
  readonly eventBytes?: number;
  /** Paths apply to the list of its arguments. */
  readonly keep: KeepPaths;
}

/** Milliseconds; of several, one is drawn each time. */
export type Durations = number | readonly number[];

export const durationsOf = (durations: Durations): readonly number[] => [durations].flat();

interface WaitStep {
  readonly kind: 'wait';
  readonly ms: Durations;
}

interface RepeatStep {
  readonly kind: 'repeat';
  readonly times: number;
  /** Interval between rounds; 0: one after the other. */
  readonly everyMs: Durations;
  readonly steps: readonly SessionStep[];
}

interface ChooseStep {
  readonly kind: 'choose';
  readonly ways: readonly WeightedSteps[];
}

export interface WeightedSteps {
  readonly weight: number;
  readonly steps: readonly SessionStep[];
}

export interface IfStep {
  readonly kind: 'if';
  readonly name: string;
  /** Absent: tests for a value other than empty, false, 0 or null. */
  readonly equals?: string | number | boolean | null;
  readonly steps: readonly SessionStep[];
  readonly else: readonly SessionStep[];
}

/** Steps counted by name. */
export type CountedStep = CallStep | StreamStep | OnStep;
export type SessionStep = CountedStep | WaitStep | RepeatStep | ChooseStep | IfStep;

export const mostSteps = 200;
export const deepestSteps = 5;
export const mostTimes = 10_000;
/** Alternatives of one duration. */
export const mostDurations = 100;
/** With nested repeats. */
export const mostCallsOfSession = 100_000;
/** Events waited for. */
export const mostEvents = 30;
export const mostKept = 50;
export const longestPath = 500;

export const stepsIn = ({ steps }: Pick<SessionRun, 'steps'>): readonly SessionStep[] =>
  JSON.parse(steps) as readonly SessionStep[];

export const sessionStepsOf = ({ steps = '[]' }: Parameters): readonly SessionStep[] =>
  stepsIn({ steps: String(steps) });

/** Mean number of calls per interval; 1 outside of sessions. */
export const callsEachInterval = (parameters: Parameters): number =>
  parameters['steps'] === undefined
    ? 1
    : sumOverSession(sessionStepsOf(parameters), (step) =>
        isCounted(step) && step.kind !== 'on' ? 1 : 0,
      );

interface SessionCall {
  /** Method or event, numbered if it occurs several times. */
  readonly name: string;
  readonly step: CountedStep;
  /** Per session; absent where that varies. */
  readonly times?: number;
}

/** Nested lists of steps; `choose` and `if` take one of them. */
function branchesOf(step: SessionStep): readonly (readonly SessionStep[])[] {
  if (step.kind === 'repeat') return [step.steps];
  if (step.kind === 'if') return [step.steps, step.else];
  return step.kind === 'choose' ? step.ways.map(({ steps }) => steps) : [];
}

export const allStepsOf = (steps: readonly SessionStep[]): SessionStep[] =>
  steps.flatMap((step) => [step, ...branchesOf(step).flatMap(allStepsOf)]);

export function listCalls(steps: readonly SessionStep[]): SessionCall[] {
  const found: { step: CountedStep; times: number | undefined }[] = [];
  const add = (below: readonly SessionStep[], times: number | undefined): void => {
    for (const step of below) {
      if (isCounted(step)) found.push({ step, times });
      const each = step.kind === 'repeat' ? times && times * step.times : undefined;
      for (const branch of branchesOf(step)) add(branch, each);
    }
  };
  add(steps, 1);
  const names = numberDuplicates(found.map(({ step }) => nameOf(step)));
  return found.map(({ step, times }, at) => ({
    ...{ name: names[at]!, step },
    ...(times !== undefined && { times }),
  }));
}

export const isCounted = (step: SessionStep): step is CountedStep =>
  step.kind === 'call' || step.kind === 'stream' || step.kind === 'on';

/** Counted without an expected number. */
export const isListenOnly = (step: SessionStep): boolean =>
  step.kind === 'on' && step.withinMs === 0;

function nameOf(step: CountedStep): string {
  if (step.kind !== 'on') return step.method;
  // Hubs often use the call's name for their callback.
  return isListenOnly(step) && step.recorded === undefined ? `callback ${step.event}` : step.event;
}

/** Mean over the weights of `choose`; maximum over the branches of `if`. */
export function sumOverSession(
  steps: readonly SessionStep[],
  of: (step: SessionStep) => number,
): number {
  return steps.reduce((sum, step) => sum + of(step) + sumBelow(step, of), 0);
}

function sumBelow(step: SessionStep, of: (step: SessionStep) => number): number {
  switch (step.kind) {
    case 'repeat':
      return step.times * sumOverSession(step.steps, of);
    case 'choose': {
      const weights = step.ways.reduce((sum, { weight }) => sum + weight, 0);
      return step.ways.reduce(
        (sum, way) => sum + (way.weight / weights) * sumOverSession(way.steps, of),
        0,
      );
    }
    case 'if':
      return Math.max(sumOverSession(step.steps, of), sumOverSession(step.else, of));
    default:
      return 0;
  }
}

export type DurationExtent = 'mean' | 'longest' | 'shortest';

export function durationMs(durations: Durations, extent: DurationExtent): number {
  const all = durationsOf(durations);
  if (extent === 'longest') return Math.max(...all);
  if (extent === 'shortest') return Math.min(...all);
  return all.reduce((sum, ms) => sum + ms, 0) / all.length;
}

/** Duration of the longest path without waiting for answers, milliseconds. */
export function pausesOf(steps: readonly SessionStep[], extent: DurationExtent = 'mean'): number {
  return steps.reduce((sum, step) => sum + pauseOf(step, extent), 0);
}

function pauseOf(step: SessionStep, extent: DurationExtent): number {
  if (step.kind === 'wait') return durationMs(step.ms, extent);
  const below = Math.max(0, ...branchesOf(step).map((steps) => pausesOf(steps, extent)));
  if (step.kind !== 'repeat') return below;
  return step.times * Math.max(durationMs(step.everyMs, extent), below);
}

/** Mean duration over all paths; of an `if` the longer branch. */
export const meanPausesOf = (steps: readonly SessionStep[]): number =>
  sumOverSession(steps, (step) => {
    if (step.kind === 'wait') return durationMs(step.ms, 'mean');
    if (step.kind !== 'repeat') return 0;
    return step.times * Math.max(0, durationMs(step.everyMs, 'mean') - meanPausesOf(step.steps));
  });

/** Completion, items or callbacks of a call; 1 for an event waited for. */
export function deliveriesOfStep(
  step: CountedStep,
  { connections, members }: { readonly connections: number; readonly members: number },
): number {
  const spared = excludesCaller(step) ? 1 : 0;
  // Recorded events have a known number.
  if (isListenOnly(step) && !('recorded' in step)) return 0;
  switch (audienceOfStep(step)) {
    case 'nobody':
      return 0;
    case 'group':
      return members - spared;
    case 'everyone':
      return connections - spared;
    default:
      return step.kind === 'stream' ? step.items : 1;
  }
}

/** `others` is `group` or `everyone` with {@link excludesCaller}. */
export type CallAudience = Exclude<(typeof callReceivers)[number], 'others'> | 'nobody';

export function audienceOfStep(step: CountedStep): CallAudience {
  if (step.kind !== 'call') return 'self';
  if (step.reply === 'none') return 'nobody';
  if (step.reply !== 'callback') return 'self';
  if (step.receivers !== 'others') return step.receivers;
  return namesGroup(step) ? 'group' : 'everyone';
}

/** Whether the caller gets no callback. */
export const excludesCaller = (step: CountedStep): boolean =>
  step.kind === 'call' && step.reply === 'callback' && step.receivers === 'others';

export const argumentsOfStep = (step: CountedStep): readonly CallArgument[] =>
  step.kind === 'on' ? [] : parseArguments(JSON.stringify(step.arguments), keptIn);

/** Bytes as JSON, in the order in which a run draws them. */
export const sizesOfStep = (step: CountedStep): readonly PayloadSize[] =>
  step.kind === 'on'
    ? [{ bytes: step.eventBytes ?? 0, weight: 1 }]
    : argumentSizes(argumentsOfStep(step));

/** Whether a step names or addresses `{group}`. */
export const usesGroup = (steps: readonly SessionStep[]): boolean =>
  listCalls(steps).some(({ step }) => audienceOfStep(step) === 'group' || namesGroup(step));

export const namesGroup = (step: CountedStep): boolean =>
  placeholdersIn(argumentsOfStep(step)).some(({ name }) => name === 'group');

/** Whether calls join groups; else connections are always members. */
export const joinsByCalls = (steps: readonly SessionStep[]): boolean =>
  listCalls(steps).some(({ step }) => step.kind === 'call' && step.group === 'join');

/** Other names in braces are kept values: the scenario was checked before. */
const keptIn = (): boolean => true;

export function numberDuplicates(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    const several = names.indexOf(name) !== names.lastIndexOf(name);
    return several ? `${name} ${number}` : name;
  });
}
