import { getOrCreate } from '../../base/collect';
import { stampBytes } from '../../base/message';
import type { Analysis } from './analysis';
import { inferArguments, type InferredArguments } from './arguments';
import { isCausedByOthers, type ValueSource } from './earlierValues';
import { callStepsIn, type CallStep } from './kinds';
import { excludesCaller, type MethodCallback } from './methodCallbacks';
import { nearlyAll } from './trace';
import { jsonPathOf, pathKey, valueAt } from './values';

export interface AnswerMode {
  readonly reply: 'completion' | 'callback' | 'none';
  readonly callback?: string;
  readonly receivers?: 'self' | 'group' | 'everyone' | 'others';
  /** The client asked for a completion as well as the callback. */
  readonly answered?: boolean;
  /** Callbacks to the caller alone without a text of the call: the session waits for them. */
  readonly events: readonly string[];
}

/** Names of values, each with its JSONPath. */
type NamedPaths = Readonly<Record<string, string>>;

export interface AwaitedCallback {
  readonly event: string;
  readonly keep?: NamedPaths;
  readonly isOfOthers?: boolean;
}

/** Others hear nothing where the caller is alone in a room. */
const oftenEnough = 0.5;
/** Random text may replace a text of at least this length. */
const shortestFreeText = 12;

/** Arguments and answers of the steps of sessions; each step is read once. */
export class StepDetails {
  private readonly inferred = new Map<CallStep, InferredArguments>();
  private readonly answerModes = new Map<CallStep, AnswerMode>();
  private readonly sources: readonly ValueSource[];

  constructor(private readonly analysis: Analysis) {
    this.sources = [...analysis.names.keys()];
  }

  arguments(step: CallStep): InferredArguments {
    return getOrCreate(this.inferred, step, () => this.inferArguments(step));
  }

  answering(step: CallStep): AnswerMode {
    return getOrCreate(this.answerModes, step, () => this.answerModeOf(step));
  }

  /** Values of the answer that later calls need. */
  keep(step: CallStep): NamedPaths {
    const source = this.answerSource(step);
    return source === undefined ? {} : this.namedPaths(source);
  }

  awaited(step: CallStep, turn: 'before' | 'after'): AwaitedCallback[] {
    const kept = this.sources
      .filter((source) => source.from === step && source.turn === turn)
      .map((source) => ({
        event: source.event!,
        keep: this.namedPaths(source),
        isOfOthers: isCausedByOthers(source),
      }));
    if (turn === 'before') return kept;
    // A callback comes once: where a value of it is kept, that wait is enough.
    const others = this.answering(step).events.filter((event) => !this.isKeptFrom(event));
    return [...others.map((event) => ({ event })), ...kept];
  }

  groupChange(step: CallStep, values: readonly unknown[]): 'join' | 'leave' | 'none' | undefined {
    if (!JSON.stringify(values).includes('{group}')) return undefined;
    // Without `none` the scenario would take a method of such a name for one that joins or leaves.
    const seemsTo = /^(?:join|leave)/i.test(step.method);
    return this.analysis.groupChange(step) ?? (seemsTo ? 'none' : undefined);
  }

  usesRoom(step: CallStep): boolean {
    const { values } = this.arguments(step);
    return this.answering(step).receivers === 'group' || JSON.stringify(values).includes('{group}');
  }

  isKeptFrom(event: string): boolean {
    return this.sources.some((source) => source.event === event);
  }

  /** Callbacks that a step counts or waits for. */
  get expectedCallbacks(): ReadonlySet<string | undefined> {
    const steps = this.analysis.kinds.flatMap((kind) => callStepsIn(kind.steps));
    const answers = steps.map((step) => this.answering(step));
    return new Set(answers.flatMap(({ callback, events }) => [callback, ...events]));
  }

  private answerSource(step: CallStep): ValueSource | undefined {
    return this.sources.find(({ from, event }) => from === step && event === undefined);
  }

  private namedPaths(source: ValueSource): NamedPaths {
    const named = [...this.analysis.names.get(source)!];
    return Object.fromEntries(named.map(([path, name]) => [name, path]));
  }

  private answerModeOf(step: CallStep): AnswerMode {
    const { methodCallbacks, rooms } = this.analysis;
    const expected = methodCallbacks.filter(
      ({ method, followed, calls, audience, repeated }) =>
        method === step.method &&
        followed >= calls * (excludesCaller(audience) ? oftenEnough : nearlyAll) &&
        repeated * 2 <= followed,
    );
    const isToRoom = (each: MethodCallback): boolean => rooms.heard.has(each);
    const counted = expected.find(
      (each) =>
        !(rooms.inSeveral && isToRoom(each)) &&
        this.isFreeText(each) &&
        receiversOf(each, isToRoom(each)) !== undefined,
    );
    const events = expected
      .filter((each) => each !== counted && each.audience === 'self' && !isToRoom(each))
      .map(({ target }) => target);
    // The session cannot go on without an answer that it keeps something of, or that lets it into a group.
    const needsAnswer =
      this.answerSource(step) !== undefined || this.analysis.groupChange(step) !== undefined;
    if (counted === undefined || step.form === 'stream' || needsAnswer)
      return { reply: step.form === 'send' && !needsAnswer ? 'none' : 'completion', events };
    return {
      reply: 'callback',
      callback: counted.target,
      receivers: receiversOf(counted, isToRoom(counted)),
      answered: step.form === 'call',
      events,
    };
  }

  private inferArguments(step: CallStep): InferredArguments {
    const { earlierValues, names, methodCallbacks, identities, roomNames, header } = this.analysis;
    const kept = new Map<string, string>();
    for (const [key, { source, path }] of earlierValues.get(step) ?? [])
      kept.set(key, names.get(source)!.get(jsonPathOf(path))!);
    const { callback } = this.answering(step);
    const echoed = methodCallbacks.find(
      ({ method, target }) => method === step.method && target === callback,
    )?.echoed;
    const inferred = inferArguments({
      step,
      kept,
      rooms: roomNames,
      identities,
      echoed: echoed && pathKey(echoed),
      leastEchoBytes: stampBytes,
      startedMs: Date.parse(header.startedAt),
    });
    for (const what of inferred.notRecognised) this.analysis.leave(what, step.calls.length);
    return inferred;
  }

  /** Whether people write the text that comes back, so that random text may replace it. */
  private isFreeText({ method, echoed }: MethodCallback): boolean {
    if (echoed === undefined) return false;
    const texts = new Set<string>();
    for (const call of this.analysis.trace.calls) {
      if (call.method !== method) continue;
      const text = valueAt(call.arguments, echoed);
      if (typeof text !== 'string') continue;
      if (this.analysis.rooms.names.has(text)) return false;
      texts.add(text);
      if (texts.size > 1 || /\s/.test(text) || text.length >= shortestFreeText) return true;
    }
    return false;
  }
}

function receiversOf(callback: MethodCallback, isToRoom: boolean): AnswerMode['receivers'] {
  const { audience } = callback;
  if (isToRoom) return excludesCaller(audience) ? 'others' : 'group';
  return audience === 'self' || audience === 'others' || audience === 'everyone'
    ? audience
    : undefined;
}
