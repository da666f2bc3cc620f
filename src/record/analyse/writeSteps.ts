import { getOrCreate } from '../../base/collect';
import { formatCount, formatDurationMs } from '../../base/units';
import type { FoundCallback } from './findings';
import type { CallStep, ChooseStep, Gaps, ClientKind, RepeatStep, Step } from './kinds';
import type { AwaitedCallback, StepDetails } from './stepDetails';
import { textBytes } from '../../usecases/ownArguments';
import { durationMs, type Durations } from '../../usecases/sessionSteps';
import { meansOfFifths, meanOf, sizeRangeWords, spreadOf, type Spread } from './spread';
import { CommentedMap, CommentedValue } from '../yamlText';
import { firstCallbackAfter, longestStreamOf, type Trace, type TracedCallback } from './trace';

const mostWithinS = 600;
const leastPauseMs = 5;
/** Limits of a loop: rounds, and a part of the calls that a session may have. */
const mostTimes = 10_000;
const mostCallsOfLoop = 20_000;

interface Written {
  readonly written: readonly CommentedMap[];
  /** Mean duration by pauses alone. */
  readonly pausesMs: number;
}

/** @param draws write varying pauses as lists to draw from, else as means */
export function writeSteps(steps: readonly Step[], details: StepDetails, draws = true): Written {
  const written: CommentedMap[] = [];
  let pausesMs = 0;
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1];
    const pause = before === undefined ? undefined : pauseBefore(step, before, details, draws);
    if (pause !== undefined) {
      const { ms, comments } = pause;
      pausesMs += durationMs(ms, 'mean');
      written.push(new CommentedMap({ wait: durationTexts(ms) }, comments));
    }
    const own = writeStep(step, details, draws);
    written.push(...own.written);
    pausesMs += own.pausesMs;
  }
  return { written, pausesMs };
}

const onStep = ({ event, keep, isOfOthers }: AwaitedCallback): CommentedMap => {
  const words =
    'other clients cause it: without them nothing comes, and the wait for them counts as latency';
  return new CommentedMap({ on: event, keep }, isOfOthers === true ? [words] : []);
};

function writeStep(step: Step, details: StepDetails, draws: boolean): Written {
  switch (step.kind) {
    case 'call':
      return { written: writeCall(step, details), pausesMs: 0 };
    case 'repeat':
      return writeRepeat(step, details, draws);
    case 'choose':
      return { written: [writeChoose(step, details)], pausesMs: 0 };
  }
}

function writeCall(step: CallStep, details: StepDetails): CommentedMap[] {
  const { values, remarks, texts } = details.arguments(step);
  const { reply, callback, receivers, answered } = details.answering(step);
  const keep = details.keep(step);
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
          group: details.groupChange(step, values),
          keep: Object.keys(keep).length > 0 ? keep : undefined,
        };
  const waited = (turn: 'before' | 'after'): CommentedMap[] =>
    details.awaited(step, turn).map(onStep);
  return [...waited('before'), new CommentedMap(keys, comments), ...waited('after')];
}

function streamKeys({ calls, pieces = 1 }: CallStep): Readonly<Record<string, unknown>> {
  const items = Math.max(1, Math.round(meanOf(calls.map((call) => call.items)) / pieces));
  const everyUs = calls.flatMap(({ items: all, firstItemUs = 0, lastItemUs = 0 }) =>
    all < 2 ? [] : [(lastItemUs - firstItemUs) / (all - 1)],
  );
  const everyMs = meanOf(everyUs) / 1000;
  const all = calls.reduce((sum, call) => sum + call.items, 0);
  const itemBytes = calls.reduce((sum, call) => sum + call.itemBytes, 0) / Math.max(1, all);
  // A stream left open by a client that went did not end by itself.
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

/** A run waits this long for outstanding answers anyway. */
const shortStreamMs = 2000;
const mostDrainMs = 600_000;

/** For `config`: the last streams need time to end. */
export function drainForStreams({ calls, streamsBeside }: Trace): CommentedValue | undefined {
  const streamMs = Math.max(longestStreamOf(calls), longestStreamOf(streamsBeside)) / 1000;
  if (streamMs <= shortStreamMs) return undefined;
  const drainMs = Math.min(mostDrainMs, Math.ceil(streamMs / 1000) * 1000 + 5000);
  return new CommentedValue(durationText(drainMs), 'streams that began last go on to their end');
}

function writeRepeat(step: RepeatStep, details: StepDetails, draws: boolean): Written {
  const times = roundsWritten(step);
  if (times === 1) return writeSteps(step.steps, details, draws);
  const rounds = spreadOf(step.rounds);
  const periodMs = everyOf(step);
  // Rounds vary by their period alone: a scenario refuses rounds that are longer than it by their pauses.
  const inner = writeSteps(step.steps, details, draws && periodMs === 0);
  const everyMs = periodOf(step, { periodMs, leastMs: inner.pausesMs, draws });
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
  };
}

function periodOf(
  { periodsUs }: RepeatStep,
  { periodMs, leastMs, draws }: { periodMs: number; leastMs: number; draws: boolean },
): Durations {
  if (periodMs === 0) return 0;
  const several = draws ? durationsFrom(periodsUs) : periodMs;
  return durationMs(several, 'shortest') >= leastMs ? several : Math.max(periodMs, leastMs);
}

function writeChoose({ options }: ChooseStep, details: StepDetails): CommentedMap {
  const ways = options.map(
    (option) =>
      new CommentedMap({ weight: option.calls.length, steps: writeCall(option, details) }),
  );
  return new CommentedMap({ choose: ways }, ['no order was found: each as often as it was seen']);
}

export function roundsWritten(step: RepeatStep): number {
  const most = Math.min(mostTimes, Math.floor(mostCallsOfLoop / callsOfRound(step)));
  return Math.min(Math.max(1, most), Math.max(1, Math.round(meanOf(step.rounds))));
}

/** Whether rounds were left out because of the limits. */
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
  details: StepDetails,
  draws: boolean,
): { readonly ms: Durations; readonly comments: readonly string[] } | undefined {
  const numbers = pausesUs(gaps, before, details);
  if (numbers.length === 0 || meanOf(numbers) / 1000 < leastPauseMs) return undefined;
  const ms = draws ? durationsFrom(numbers) : meanMs(numbers);
  return { ms, comments: [pauseWords(spreadOf(numbers.map((us) => Math.max(0, us))), ms)] };
}

/** The mean, or the means of fifths: both keep the rates. */
function durationsFrom(us: readonly number[]): Durations {
  const fifths = meansOfFifths(us);
  if (fifths === undefined || fifths[0]! < 0) return meanMs(us);
  return fifths.map((each) => rounded(each / 1000));
}

const meanMs = (us: readonly number[]): number => rounded(meanOf(us) / 1000);

/** From the end of the round, the answer or the callback before, or from the call. */
function pausesUs(gaps: Gaps, before: Step, details: StepDetails): readonly number[] {
  if (before.kind === 'repeat' && roundsWritten(before) > 1) {
    const everyUs = everyOf(before) * 1000;
    if (everyUs > 0) return gaps.fromRoundUs.map((us) => us - everyUs);
  }
  const last = lastCallStep(before);
  const { reply } = details.answering(last);
  const events = details.awaited(last, 'after').map(({ event }) => event);
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

function rounded(ms: number): number {
  const digits = Math.max(1, Math.ceil(Math.log10(Math.max(ms, 1))));
  return Number(ms.toPrecision(Math.max(3, Math.min(digits, 6))));
}

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

const mostHeard = 20;
const mostEventBytes = 16 * 1024 * 1024;

interface HeardFacts {
  readonly found: readonly FoundCallback[];
  readonly greetings: ReadonlySet<string>;
  /** Written duration of a session by the recorded one. */
  readonly part: number;
}

/** Callbacks that no step counts: the run counts them as they come; number and size are for the estimate. */
export function countedCallbackSteps(
  { clients, sessions, streams }: ClientKind,
  callbacks: readonly TracedCallback[],
  { found, greetings, part }: HeardFacts,
): CommentedMap[] {
  // Connections of the kind with the other calls count them.
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
      const often = greetings.has(target) ? 0 : (seen.count * part) / sessions;
      const eventSize = Math.min(mostEventBytes, Math.round(seen.bytes / seen.count));
      const perSession = Number(often.toPrecision(4));
      return new CommentedMap({ on: target, within: 0, perSession, eventSize }, [as]);
    });
}
