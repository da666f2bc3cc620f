import { stampBytes } from '../../base/message';
import { getOrCreate } from '../../base/collect';
import type { Analysis } from './analysis';
import { inferArguments, type InferredArguments } from './arguments';
import type { MethodCallback } from './methodCallbacks';
import { isCausedByOthers, type ValueSource } from './earlierValues';
import { callStepsIn, type CallStep } from './kinds';
import { answerModeOf, type AnswerMode, type StepFacts } from './plannedSteps';
import { jsonPathOf, pathKey, valueAt } from './values';

/** What the steps of sessions have for arguments and answers, each read once. */
export class SessionFacts implements StepFacts {
  private readonly read = new Map<CallStep, InferredArguments>();
  private readonly answers = new Map<CallStep, AnswerMode>();
  private readonly sources: readonly ValueSource[];

  constructor(private readonly analysis: Analysis) {
    this.sources = [...analysis.names.keys()];
  }

  arguments(step: CallStep): InferredArguments {
    return getOrCreate(this.read, step, () => this.readArguments(step));
  }

  answering(step: CallStep): AnswerMode {
    return getOrCreate(this.answers, step, () => {
      const { consequences, rooms } = this.analysis;
      const isToRoom = (each: MethodCallback): boolean => rooms.heard.has(each);
      return answerModeOf(step, consequences, {
        toRoom: isToRoom,
        needsAnswer:
          this.answerOf(step) !== undefined || this.analysis.groupChange(step) !== undefined,
        isFree: (each) => !(rooms.inSeveral && isToRoom(each)) && this.isFree(each),
      });
    });
  }

  keep(step: CallStep): Readonly<Record<string, string>> {
    const source = this.answerOf(step);
    return source === undefined ? {} : this.keepOf(source);
  }

  waited(step: CallStep, turn: 'before' | 'after'): ReturnType<StepFacts['waited']> {
    const kept = this.sources
      .filter((source) => source.from === step && source.turn === turn)
      .map((source) => ({
        event: source.event!,
        keep: this.keepOf(source),
        isOfOthers: isCausedByOthers(source),
      }));
    if (turn === 'before') return kept;
    // Where a value of one is kept, it is waited for there alone: it comes once.
    const others = this.answering(step).events.filter((event) => !this.isKeptFrom(event));
    return [...others.map((event) => ({ event })), ...kept];
  }

  groupChange(step: CallStep, values: readonly unknown[]): 'join' | 'leave' | 'none' | undefined {
    if (!JSON.stringify(values).includes('{group}')) return undefined;
    // By its name it would be taken for one that does.
    const seemsTo = /^(?:join|leave)/i.test(step.method);
    return this.analysis.groupChange(step) ?? (seemsTo ? 'none' : undefined);
  }

  usesRoom(step: CallStep): boolean {
    const { values } = this.arguments(step);
    return this.answering(step).receivers === 'group' || JSON.stringify(values).includes('{group}');
  }

  /** Whether later calls have a value of the callback. */
  isKeptFrom(event: string): boolean {
    return this.sources.some((source) => source.event === event);
  }

  /** Callbacks that a step counts or waits for. */
  get expectedCallbacks(): ReadonlySet<string | undefined> {
    const steps = this.analysis.kinds.flatMap((kind) => callStepsIn(kind.steps));
    const answers = steps.map((step) => this.answering(step));
    return new Set(answers.flatMap(({ callback, events }) => [callback, ...events]));
  }

  private answerOf(step: CallStep): ValueSource | undefined {
    return this.sources.find(({ from, event }) => from === step && event === undefined);
  }

  private keepOf(source: ValueSource): Readonly<Record<string, string>> {
    const named = [...this.analysis.names.get(source)!];
    return Object.fromEntries(named.map(([path, name]) => [name, path]));
  }

  private readArguments(step: CallStep): InferredArguments {
    const { earlierValues, names, consequences, identities, roomNames, header } = this.analysis;
    const kept = new Map<string, string>();
    for (const [key, { source, path }] of earlierValues.get(step) ?? [])
      kept.set(key, names.get(source)!.get(jsonPathOf(path))!);
    const { callback } = this.answering(step);
    const echoed = consequences.find(
      ({ method, target }) => method === step.method && target === callback,
    )?.echoed;
    const read = inferArguments({
      step,
      kept,
      rooms: roomNames,
      identities,
      echoed: echoed && pathKey(echoed),
      leastEchoBytes: stampBytes,
      startedMs: Date.parse(header.startedAt),
    });
    for (const what of read.notRecognised) this.analysis.leave(what, step.calls.length);
    return read;
  }

  /** Whether the text that comes back is one that people write, and random text may stand in its place. */
  private isFree({ method, echoed }: MethodCallback): boolean {
    if (echoed === undefined) return false;
    const texts = new Set<string>();
    for (const call of this.analysis.trace.calls) {
      if (call.method !== method) continue;
      const text = valueAt(call.arguments, echoed);
      if (typeof text !== 'string') continue;
      if (this.analysis.rooms.names.has(text)) return false;
      texts.add(text);
      if (texts.size > 1 || /\s/.test(text) || text.length >= 12) return true;
    }
    return false;
  }
}
