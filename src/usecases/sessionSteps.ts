/** What one user does in a session, step after step. A scenario keeps it as JSON text, with every default filled in. */
import { ownArguments, placeholdersIn, type OwnArgument } from './ownArguments';
import type { Parameters } from './parameters';
import type { PayloadSize } from './payloadSizes';
import { argumentSizes } from './textSizes';

/** Whom a hub calls back; `others`: all of the group that the call names but the caller, else everyone but the caller. */
export const callReceivers = ['self', 'client', 'group', 'everyone', 'others'] as const;
export const callReplies = ['completion', 'callback', 'none'] as const;
export const groupChanges = ['join', 'leave', 'none'] as const;

/** What of it a run needs. Plain data. */
export interface SessionRun {
  /** JSON text of a list of {@link SessionStep}. */
  readonly steps: string;
  /** Senders are in their groups between two calls of theirs; else all connections are, all the time. */
  readonly joins: boolean;
  /** What is sent when is in a recording; the steps only say what is counted. */
  readonly replays?: true;
}

/** Of a replay: how often the recording has it, all its clients together. */
interface Recorded {
  readonly recorded?: number;
}

/** Names of kept values, each with the JSONPath (RFC 9535) that finds it. */
export type Keep = Readonly<Record<string, string>>;

export interface CallStep extends Recorded {
  readonly kind: 'call';
  readonly method: string;
  /** As JSON values; texts may hold placeholders, those of kept values as well. */
  readonly arguments: readonly unknown[];
  readonly reply: (typeof callReplies)[number];
  /** With reply: callback. */
  readonly callback?: string;
  readonly receivers: (typeof callReceivers)[number];
  /** With reply: callback: each call is answered besides, which is not counted. */
  readonly answered?: boolean;
  /** What its answer means for the caller and `{group}`. */
  readonly group: (typeof groupChanges)[number];
  /** Until an answer is given up. */
  readonly withinMs: number;
  readonly keep: Keep;
}

/** A stream that the hub makes; the session goes on when it has ended, or was cancelled. */
interface StreamStep {
  readonly kind: 'stream';
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly items: number;
  /** Of one item, for the estimate. */
  readonly itemBytes: number;
  /** It is cancelled when its items have come, and the session goes on. */
  readonly cancel?: true;
  /** Between two items, as the hub makes them by itself. */
  readonly everyMs: number;
  readonly withinMs: number;
}

/** Waits for what the hub calls by itself. */
export interface OnStep extends Recorded {
  readonly kind: 'on';
  readonly event: string;
  /** 0: nothing waits for it; how often it comes is counted. */
  readonly withinMs: number;
  /** For the estimate, where nothing waits for it: how often it comes to a sender in a session, in the mean. */
  readonly perSession?: number;
  /** For the estimate: of its arguments. */
  readonly eventBytes?: number;
  /** From its arguments, which are a list. */
  readonly keep: Keep;
}

/** Milliseconds; of several each time one is drawn, all equally likely. */
export type Durations = number | readonly number[];

export const durationsOf = (durations: Durations): readonly number[] => [durations].flat();

interface WaitStep {
  readonly kind: 'wait';
  readonly ms: Durations;
}

interface RepeatStep {
  readonly kind: 'repeat';
  readonly times: number;
  /** One begins so often; 0: as soon as the one before is over. */
  readonly everyMs: Durations;
  readonly steps: readonly SessionStep[];
}

interface ChooseStep {
  readonly kind: 'choose';
  readonly ways: readonly Way[];
}

export interface Way {
  readonly weight: number;
  readonly steps: readonly SessionStep[];
}

export interface IfStep {
  readonly kind: 'if';
  /** A kept value. */
  readonly name: string;
  /** Absent: whether there is one that is neither empty, false, 0 nor null. */
  readonly equals?: string | number | boolean | null;
  readonly steps: readonly SessionStep[];
  readonly else: readonly SessionStep[];
}

/** What is counted by its name: calls, streams, and events that are waited for. */
export type CountedStep = CallStep | StreamStep | OnStep;
export type SessionStep = CountedStep | WaitStep | RepeatStep | ChooseStep | IfStep;

/** Of one session. */
export const mostSteps = 200;
export const deepestSteps = 5;
export const mostTimes = 10_000;
/** Of which one is drawn. */
export const mostDurations = 100;
/** Repeats inside of repeats included. */
export const mostCallsOfSession = 100_000;
/** That are waited for. */
export const mostEvents = 30;
export const mostKept = 50;
export const longestPath = 500;

export const stepsIn = ({ steps }: Pick<SessionRun, 'steps'>): readonly SessionStep[] =>
  JSON.parse(steps) as readonly SessionStep[];

/** Steps of the parameters of a session; none where they are those of another use case. */
export const sessionStepsOf = ({ steps = '[]' }: Parameters): readonly SessionStep[] =>
  stepsIn({ steps: String(steps) });

/** What is sent each interval: one message, or as many calls as a session makes in the mean. */
export const callsEachInterval = (parameters: Parameters): number =>
  parameters['steps'] === undefined
    ? 1
    : sumOverSession(sessionStepsOf(parameters), (step) =>
        isCounted(step) && step.kind !== 'on' ? 1 : 0,
      );

interface SessionCall {
  /** Method or event, numbered where it stands several times. */
  readonly name: string;
  readonly step: CountedStep;
  /** How often each session makes it; absent where that is not fixed. */
  readonly times?: number;
}

/** Lists of steps in a step; of several one is taken. */
function branchesOf(step: SessionStep): readonly (readonly SessionStep[])[] {
  if (step.kind === 'repeat') return [step.steps];
  if (step.kind === 'if') return [step.steps, step.else];
  return step.kind === 'choose' ? step.ways.map(({ steps }) => steps) : [];
}

/** All of them, at every depth. */
export const allStepsOf = (steps: readonly SessionStep[]): SessionStep[] =>
  steps.flatMap((step) => [step, ...branchesOf(step).flatMap(allStepsOf)]);

/** In the order of the file. */
export function callsOf(steps: readonly SessionStep[]): SessionCall[] {
  const found: { step: CountedStep; times: number | undefined }[] = [];
  const add = (below: readonly SessionStep[], times: number | undefined): void => {
    for (const step of below) {
      if (isCounted(step)) found.push({ step, times });
      const each = step.kind === 'repeat' ? times && times * step.times : undefined;
      for (const branch of branchesOf(step)) add(branch, each);
    }
  };
  add(steps, 1);
  const names = numberedNames(found.map(({ step }) => nameOf(step)));
  return found.map(({ step, times }, at) => ({
    ...{ name: names[at]!, step },
    ...(times !== undefined && { times }),
  }));
}

export const isCounted = (step: SessionStep): step is CountedStep =>
  step.kind === 'call' || step.kind === 'stream' || step.kind === 'on';

/** Counted as often as it comes, of which nobody knows how often that should be. */
export const isOnlyHeard = (step: SessionStep): boolean =>
  step.kind === 'on' && step.withinMs === 0;

function nameOf(step: CountedStep): string {
  if (step.kind !== 'on') return step.method;
  // A hub often calls back under the name of the call.
  return isOnlyHeard(step) && step.recorded === undefined ? `callback ${step.event}` : step.event;
}

/** Mean over the weights of `choose`; of an `if` the dearer branch. */
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

/** Of several durations. */
export type Extent = 'mean' | 'longest' | 'shortest';

export function durationMs(durations: Durations, extent: Extent): number {
  const all = durationsOf(durations);
  if (extent === 'longest') return Math.max(...all);
  if (extent === 'shortest') return Math.min(...all);
  return all.reduce((sum, ms) => sum + ms, 0) / all.length;
}

/** How long a session takes where every answer comes at once, on its longest way, milliseconds. */
export function pausesOf(steps: readonly SessionStep[], extent: Extent = 'mean'): number {
  return steps.reduce((sum, step) => sum + pauseOf(step, extent), 0);
}

function pauseOf(step: SessionStep, extent: Extent): number {
  if (step.kind === 'wait') return durationMs(step.ms, extent);
  const below = Math.max(0, ...branchesOf(step).map((steps) => pausesOf(steps, extent)));
  if (step.kind !== 'repeat') return below;
  return step.times * Math.max(durationMs(step.everyMs, extent), below);
}

/** The same in the mean over its ways; of an `if` the longer one. */
export const meanPausesOf = (steps: readonly SessionStep[]): number =>
  sumOverSession(steps, (step) => {
    if (step.kind === 'wait') return durationMs(step.ms, 'mean');
    if (step.kind !== 'repeat') return 0;
    return step.times * Math.max(0, durationMs(step.everyMs, 'mean') - meanPausesOf(step.steps));
  });

/** Deliveries of one call: its answer, items, or callbacks; of an event that is waited for itself. */
export function deliveriesOfStep(
  step: CountedStep,
  { connections, members }: { readonly connections: number; readonly members: number },
): number {
  const spared = sparesCaller(step) ? 1 : 0;
  // Of a recording it is known how often it comes.
  if (isOnlyHeard(step) && !('recorded' in step)) return 0;
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

/** With {@link sparesCaller}: all of them but the caller. */
export type CallAudience = Exclude<(typeof callReceivers)[number], 'others'> | 'nobody';

export function audienceOfStep(step: CountedStep): CallAudience {
  if (step.kind !== 'call') return 'self';
  if (step.reply === 'none') return 'nobody';
  if (step.reply !== 'callback') return 'self';
  if (step.receivers !== 'others') return step.receivers;
  return namesGroup(step) ? 'group' : 'everyone';
}

/** Whether the caller is none of those who are called back. */
export const sparesCaller = (step: CountedStep): boolean =>
  step.kind === 'call' && step.reply === 'callback' && step.receivers === 'others';

export const argumentsOfStep = (step: CountedStep): readonly OwnArgument[] =>
  step.kind === 'on' ? [] : ownArguments(JSON.stringify(step.arguments), keptIn);

/** As JSON text, in the order in which a run draws them; of an event nothing is sent, and its size is for the estimate. */
export const sizesOfStep = (step: CountedStep): readonly PayloadSize[] =>
  step.kind === 'on'
    ? [{ bytes: step.eventBytes ?? 0, weight: 1 }]
    : argumentSizes(argumentsOfStep(step));

/** Whether something in it is named by `{group}`, or meant for one. */
export const usesGroup = (steps: readonly SessionStep[]): boolean =>
  callsOf(steps).some(({ step }) => audienceOfStep(step) === 'group' || namesGroup(step));

export const namesGroup = (step: CountedStep): boolean =>
  placeholdersIn(argumentsOfStep(step)).some(({ name }) => name === 'group');

/** Whether calls of the session add their callers to groups; else connections are in them all the time. */
export const joinsByCalls = (steps: readonly SessionStep[]): boolean =>
  callsOf(steps).some(({ step }) => step.kind === 'call' && step.group === 'join');

/** What reads a session takes every other name in braces for a kept value: the file was checked before. */
const keptIn = (): boolean => true;

/** For people: the names, numbered where one comes again. */
export function numberedNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    const several = names.indexOf(name) !== names.lastIndexOf(name);
    return several ? `${name} ${number}` : name;
  });
}
