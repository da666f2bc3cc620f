import { getOrCreate } from '../../base/collect';
import { formatCount, formatDurationMs } from '../../base/units';
import { excludesCaller, type MethodCallback, type Audience } from './methodCallbacks';
import type { FoundCallback } from './findings';
import type { CallStep, ChooseStep, Gaps, ClientKind, RepeatStep, Step } from './kinds';
import type { InferredArguments } from './arguments';
import { textBytes } from '../../usecases/ownArguments';
import { durationMs, type Durations } from '../../usecases/sessionSteps';
import { meansOfFifths, meanOf, sizeRangeWords, spreadOf, type Spread } from './spread';
import { CommentedMap, CommentedValue } from '../writtenKeys';
import { firstCallbackAfter, longestStreamOf, type Trace, type TracedCallback } from './trace';

/** How a call is answered. */
export interface AnswerMode {
  readonly reply: 'completion' | 'callback' | 'none';
  readonly callback?: string;
  readonly receivers?: 'self' | 'group' | 'everyone' | 'others';
  /** The caller asked for an answer as well. */
  readonly answered?: boolean;
  /** Callbacks to the caller alone that bring no text back: waited for. */
  readonly events: readonly string[];
}

export interface StepFacts {
  readonly answering: (step: CallStep) => AnswerMode;
  readonly arguments: (step: CallStep) => InferredArguments;
  /** Kept values of the answer. */
  readonly keep: (step: CallStep) => Keep;
  /** What a session waits for before the step, and after it. */
  readonly waited: (step: CallStep, turn: 'before' | 'after') => readonly WaitedEvent[];
  /** What it does with its caller and the group. */
  readonly groupChange: (
    step: CallStep,
    values: readonly unknown[],
  ) => 'join' | 'leave' | 'none' | undefined;
}

/** Names of values, each with its JSONPath. */
type Keep = Readonly<Record<string, string>>;

interface WaitedEvent {
  readonly event: string;
  readonly keep?: Keep;
  /** Others than the caller cause it. */
  readonly isOfOthers?: boolean;
}

/** The longest wait of a step. */
const mostWithinS = 600;
/** Shorter pauses are what networks and programs need anyway. */
const leastPauseMs = 5;
/** As many rounds as a scenario may have, and a part of the calls that its sessions may have. */
const mostTimes = 10_000;
const mostCallsOfLoop = 20_000;

interface Written {
  readonly written: readonly CommentedMap[];
  /** How long they take by their pauses alone, in the mean and at most. */
  readonly pausesMs: number;
  readonly longestMs: number;
}

/**
 * Steps of a session.
 * @param draws pauses that differ are drawn; else each is its mean
 */
export function writeSteps(steps: readonly Step[], facts: StepFacts, draws = true): Written {
  const written: CommentedMap[] = [];
  let [pausesMs, longestMs] = [0, 0];
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1];
    const pause = before === undefined ? undefined : pauseBefore(step, before, facts, draws);
    if (pause !== undefined) {
      const { ms, comments } = pause;
      pausesMs += durationMs(ms, 'mean');
      longestMs += durationMs(ms, 'longest');
      written.push(new CommentedMap({ wait: durationTexts(ms) }, comments));
    }
    const own = writeStep(step, facts, draws);
    written.push(...own.written);
    pausesMs += own.pausesMs;
    longestMs += own.longestMs;
  }
  return { written, pausesMs, longestMs };
}

const onStep = ({ event, keep, isOfOthers }: WaitedEvent): CommentedMap => {
  const words =
    'other clients cause it: without them nothing comes, and the wait for them counts as latency';
  return new CommentedMap({ on: event, keep }, isOfOthers === true ? [words] : []);
};

function writeStep(step: Step, facts: StepFacts, draws: boolean): Written {
  switch (step.kind) {
    case 'call':
      return { written: writeCall(step, facts), pausesMs: 0, longestMs: 0 };
    case 'repeat':
      return writeRepeat(step, facts, draws);
    case 'choose':
      return { written: [writeChoose(step, facts)], pausesMs: 0, longestMs: 0 };
  }
}

function writeCall(step: CallStep, facts: StepFacts): CommentedMap[] {
  const { values, remarks, texts } = facts.arguments(step);
  const { reply, callback, receivers, answered } = facts.answering(step);
  const keep = facts.keep(step);
  const comments = [
    ...remarks,
    ...texts.map(({ at, bytes }) => `${at}: ${sizeRangeWords(bytes)}`),
    ...errorWords(step),
  ];
  const sent = values.length === 0 ? undefined : values;
  const keys =
    step.form === 'stream'
      ? { stream: step.method, arguments: sent, ...streamKeys(step) }
      : {
          call: step.method,
          arguments: sent,
          reply,
          callback,
          receivers: callback && receivers,
          answered: answered === true ? answered : undefined,
          group: facts.groupChange(step, values),
          keep: Object.keys(keep).length > 0 ? keep : undefined,
        };
  const waited = (turn: 'before' | 'after'): CommentedMap[] => facts.waited(step, turn).map(onStep);
  return [...waited('before'), new CommentedMap(keys, comments), ...waited('after')];
}

/** How many items, how far apart, and how it ends. */
function streamKeys({ calls, pieces = 1 }: CallStep): Readonly<Record<string, unknown>> {
  const items = Math.max(1, Math.round(meanOf(calls.map((call) => call.items)) / pieces));
  const everyUs = calls.flatMap(({ items: all, firstItemUs = 0, lastItemUs = 0 }) =>
    all < 2 ? [] : [(lastItemUs - firstItemUs) / (all - 1)],
  );
  const everyMs = meanOf(everyUs) / 1000;
  const all = calls.reduce((sum, call) => sum + call.items, 0);
  const itemBytes = calls.reduce((sum, call) => sum + call.itemBytes, 0) / Math.max(1, all);
  // Left open by a client that went: it did not end by itself.
  const cancelled = calls.filter(
    ({ isCancelled, endUs }) => isCancelled ?? endUs === undefined,
  ).length;
  const longestS = Math.ceil(longestStreamOf(calls) / pieces / 1e6);
  const itemSize = Math.max(1, Math.min(mostEventBytes, Math.round(itemBytes)));
  return {
    items,
    itemSize: all > 0 ? itemSize : undefined,
    every: everyMs >= leastPauseMs ? `${Number(everyMs.toFixed(3))}ms` : undefined,
    cancel: pieces > 1 || cancelled * 2 > calls.length ? true : undefined,
    within: longestS > 10 ? `${Math.min(mostWithinS, longestS + 30)}s` : undefined,
  };
}

/** Shorter ones end before a run gives up what is outstanding. */
const shortStreamMs = 2000;
const mostDrainMs = 600_000;

/** Of `config`: streams that begin last are to come to their end. */
export function drainForStreams({ calls, streamsBeside }: Trace): CommentedValue | undefined {
  const streamMs = Math.max(longestStreamOf(calls), longestStreamOf(streamsBeside)) / 1000;
  if (streamMs <= shortStreamMs) return undefined;
  const drainMs = Math.min(mostDrainMs, Math.ceil(streamMs / 1000) * 1000 + 5000);
  return new CommentedValue(durationText(drainMs), 'streams that began last go on to their end');
}

function writeRepeat(step: RepeatStep, facts: StepFacts, draws: boolean): Written {
  const times = roundsWritten(step);
  if (times === 1) return writeSteps(step.steps, facts, draws);
  const rounds = spreadOf(step.rounds);
  const { everyMs, inner } = roundsOf(step, facts, draws);
  const comments = [
    ...(rounds.least === rounds.most
      ? []
      : [`${formatCount(rounds.least)} to ${formatCount(rounds.most)} rounds were seen`]),
    ...(everyMs === 0 ? [] : [pauseWords(spreadOf(step.periodsUs), everyMs)]),
  ];
  const every = everyMs === 0 ? undefined : durationTexts(everyMs);
  return {
    written: [new CommentedMap({ repeat: times, every, steps: inner.written }, comments)],
    pausesMs: times * Math.max(durationMs(everyMs, 'mean'), inner.pausesMs),
    longestMs: times * Math.max(durationMs(everyMs, 'longest'), inner.longestMs),
  };
}

/** Between rounds and in them, so that no round is late by its own pauses: the scenario refuses that. */
function roundsOf(
  step: RepeatStep,
  facts: StepFacts,
  draws: boolean,
): { readonly everyMs: Durations; readonly inner: Written } {
  const drawn = writeSteps(step.steps, facts, draws);
  const period = everyOf(step);
  if (period === 0) return { everyMs: 0, inner: drawn };
  const means = writeSteps(step.steps, facts, false);
  const several = draws ? durationsFrom(step.periodsUs) : period;
  const everyMs =
    durationMs(several, 'shortest') >= means.pausesMs ? several : Math.max(period, means.pausesMs);
  const inner = drawn.longestMs <= durationMs(everyMs, 'shortest') ? drawn : means;
  return { everyMs, inner };
}

function writeChoose({ options }: ChooseStep, facts: StepFacts): CommentedMap {
  const ways = options.map(
    (option) => new CommentedMap({ weight: option.calls.length, steps: writeCall(option, facts) }),
  );
  return new CommentedMap({ choose: ways }, ['no order was found: each as often as it was seen']);
}

export function roundsWritten(step: RepeatStep): number {
  const most = Math.min(mostTimes, Math.floor(mostCallsOfLoop / callsOfRound(step)));
  return Math.min(Math.max(1, most), Math.max(1, Math.round(meanOf(step.rounds))));
}

/** Whether rounds were left out that a scenario cannot have. */
export const isCutShort = (step: RepeatStep): boolean =>
  roundsWritten(step) < Math.round(meanOf(step.rounds)) ||
  step.steps.some((inner) => inner.kind === 'repeat' && isCutShort(inner));

const callsOfRound = ({ steps }: RepeatStep): number =>
  steps.reduce(
    (sum, step) => sum + (step.kind === 'repeat' ? roundsWritten(step) * callsOfRound(step) : 1),
    0,
  );

function everyOf({ periodsUs }: RepeatStep): number {
  if (periodsUs.length === 0) return 0;
  const ms = meanOf(periodsUs) / 1000;
  return ms < leastPauseMs ? 0 : rounded(ms);
}

function pauseBefore(
  { gaps }: Step,
  before: Step,
  facts: StepFacts,
  draws: boolean,
): { readonly ms: Durations; readonly comments: readonly string[] } | undefined {
  const numbers = pausesUs(gaps, before, facts);
  if (numbers.length === 0 || meanOf(numbers) / 1000 < leastPauseMs) return undefined;
  const ms = draws ? durationsFrom(numbers) : meanMs(numbers);
  return { ms, comments: [pauseWords(spreadOf(numbers.map((us) => Math.max(0, us))), ms)] };
}

/** The mean, or where they differ the means of their fifths: both keep the rates. */
function durationsFrom(us: readonly number[]): Durations {
  const fifths = meansOfFifths(us);
  // After a round that was shorter than the others there is nothing to wait for.
  if (fifths === undefined || fifths[0]! < 0) return meanMs(us);
  return fifths.map((each) => rounded(each / 1000));
}

const meanMs = (us: readonly number[]): number => rounded(meanOf(us) / 1000);

/** From where the session goes on: after the time of a round, an answer, or at once. */
function pausesUs(gaps: Gaps, before: Step, facts: StepFacts): readonly number[] {
  if (before.kind === 'repeat' && roundsWritten(before) > 1) {
    const everyUs = everyOf(before) * 1000;
    if (everyUs > 0) return gaps.fromRoundUs.map((us) => us - everyUs);
  }
  const last = lastCallStep(before);
  const { reply } = facts.answering(last);
  const events = facts.waited(last, 'after').map(({ event }) => event);
  const waits = last.form === 'stream' || reply === 'completion';
  return gaps.after.map(({ call, untilUs }) => {
    let fromUs = (waits ? call.endUs : undefined) ?? call.atUs;
    for (const event of events)
      fromUs = Math.max(fromUs, firstCallbackAfter(call, event)?.atUs ?? 0);
    return Math.max(0, untilUs - fromUs);
  });
}

function lastCallStep(step: Step): CallStep {
  if (step.kind === 'call') return step;
  return step.kind === 'repeat' ? lastCallStep(step.steps.at(-1)!) : step.options.at(-1)!;
}

/** To a thousandth of its size, a tenth of a millisecond at least. */
function rounded(ms: number): number {
  const digits = Math.max(1, Math.ceil(Math.log10(Math.max(ms, 1))));
  return Number(ms.toPrecision(Math.max(3, Math.min(digits, 6))));
}

/** `2.1s`, `250ms`. */
export const durationText = (ms: number): string =>
  ms < 1000 ? `${Number(ms.toFixed(1))}ms` : `${Number((ms / 1000).toFixed(3))}s`;

const durationTexts = (durations: Durations): string | readonly string[] =>
  typeof durations === 'number' ? durationText(durations) : durations.map(durationText);

export function pauseWords({ median, p10, p90 }: Spread, as?: Durations): string {
  const words = (us: number): string => formatDurationMs(Number((us / 1000).toPrecision(3)));
  if (words(p10) === words(p90)) return `${words(median)} each time`;
  const drawn = typeof as === 'object' ? '; one of these is drawn each time' : '';
  return `median ${words(median)}, 10 to 90 %: ${words(p10)} to ${words(p90)}${drawn}`;
}

function errorWords({ calls }: CallStep): string[] {
  const failed = calls.filter(({ error }) => error !== undefined).length;
  return failed === 0
    ? []
    : [
        `${formatCount(failed)} of ${formatCount(calls.length)} calls were answered with an error; a session that gets one breaks off`,
      ];
}

/** For people: whom a callback went to. */
export const audienceWords: Readonly<Record<Audience, string>> = {
  self: 'to the caller',
  client: 'to one other client',
  others: 'to all others than the caller',
  someOthers: 'to some others than the caller',
  everyone: 'to everyone',
  some: 'to some of the clients',
};

/** A run counts a callback by a text of the call, at clients that it knows. */
export const whyOnlyCounted = ({
  echoed,
  audience,
  repeated,
  followed,
}: MethodCallback): string => {
  if (repeated * 2 > followed) return ': it comes again and again';
  if (echoed === undefined) return ': it has no free text of the call';
  return audience === 'client' || audience === 'some' ? ': it is not known to whom' : '';
};

export const perCallWords = ({ count, calls }: MethodCallback): string =>
  `${formatCount(count / calls, 1)} for each call`;

/**
 * How calls to a method are answered, by what was found of its callbacks.
 * @param needsAnswer the session cannot go on without: something of it is kept, or it joins a group
 */
export function answerModeOf(
  step: CallStep,
  consequences: readonly MethodCallback[],
  {
    toRoom,
    needsAnswer,
    isFree,
  }: {
    readonly toRoom: (consequence: MethodCallback) => boolean;
    readonly needsAnswer: boolean;
    readonly isFree: (consequence: MethodCallback) => boolean;
  },
): AnswerMode {
  const mine = consequences.filter(({ method }) => method === step.method);
  const nearlyAlways = mine.filter(
    // Of others nobody hears who is alone. What comes to a client again and again is more than a session expects.
    ({ followed, calls, audience, repeated }) =>
      followed >= calls * (excludesCaller(audience) ? 0.5 : 0.9) && repeated * 2 <= followed,
  );
  const countable = nearlyAlways.find(
    (each) => isFree(each) && receiversOf(each.audience, toRoom(each)) !== undefined,
  );
  const events = nearlyAlways
    .filter((each) => each !== countable && each.audience === 'self' && !toRoom(each))
    .map(({ target }) => target);
  if (countable !== undefined && step.form !== 'stream' && !needsAnswer) {
    const receivers = receiversOf(countable.audience, toRoom(countable))!;
    const answered = step.form === 'call';
    return { reply: 'callback', callback: countable.target, receivers, answered, events };
  }
  return { reply: step.form === 'send' && !needsAnswer ? 'none' : 'completion', events };
}

function receiversOf(heard: Audience, toRoom: boolean): AnswerMode['receivers'] {
  if (toRoom) return excludesCaller(heard) ? 'others' : 'group';
  return heard === 'some' || heard === 'someOthers' || heard === 'client' ? undefined : heard;
}

/** Callbacks that are only counted: further names are left out. */
const mostHeard = 20;
const mostEventBytes = 16 * 1024 * 1024;

interface HeardFacts {
  readonly found: readonly FoundCallback[];
  readonly greetings: ReadonlySet<string>;
  /** Of a session: what the written one is of it. */
  readonly part: number;
}

/** What clients of the kind heard and no step counts: counted as it comes; how often and how large it was is for the estimate. */
export function countedCallbackSteps(
  { clients, sessions, streams }: ClientKind,
  callbacks: readonly TracedCallback[],
  { found, greetings, part }: HeardFacts,
): CommentedMap[] {
  // The connections that make their other calls count.
  if (streams !== undefined) return [];
  const open = found.filter(({ recognised }) => !recognised);
  const names = new Set(open.map(({ target }) => target));
  const own = new Set(clients);
  const heard = new Map<string, { count: number; bytes: number }>();
  for (const { target, client, arguments: values } of callbacks) {
    if (!names.has(target) || !own.has(client)) continue;
    const seen = getOrCreate(heard, target, () => ({ count: 0, bytes: 0 }));
    seen.count += 1;
    seen.bytes += textBytes(JSON.stringify(values));
  }
  // Those that weigh most, where they are many.
  const kept = new Set(
    [...heard]
      .sort(([, a], [, b]) => b.bytes - a.bytes)
      .slice(0, mostHeard)
      .map(([target]) => target),
  );
  return open
    .filter(({ target }) => kept.has(target))
    .map(({ target, as }) => {
      const seen = heard.get(target)!;
      // Of a greeting there is one for each connection, however many sessions it has.
      const often = greetings.has(target) ? 0 : (seen.count * part) / sessions;
      const eventSize = Math.min(mostEventBytes, Math.round(seen.bytes / seen.count));
      const perSession = Number(often.toPrecision(4));
      return new CommentedMap({ on: target, within: 0, perSession, eventSize }, [as]);
    });
}
