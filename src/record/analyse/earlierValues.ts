import { getOrCreate } from '../../base/collect';
import type { CallStep } from './kinds';
import {
  firstCallbackAfter,
  nearlyAll,
  type TracedCall,
  type TracedCallback,
  type TracedClient,
} from './trace';
import { lastName, pathKey, visitLeaves, visitTexts, visitValues, type Path } from './values';

/** Where a value was before it was sent, such as the id of the latest message. */
export interface ValueSource {
  /** The step whose answer had it, or around which the callback came. */
  readonly from: CallStep;
  /** Name of the callback: the first after the step, or the latest before it. Absent: it was in the answer. */
  readonly event?: string;
  readonly turn?: Turn;
}

type Turn = 'after' | 'before';

export interface EarlierValue {
  readonly source: ValueSource;
  readonly path: Path;
}

const mostPlaces = 16;
/** Texts of this length are not equal by chance. */
const tellingLength = 6;

export type EarlierValues = ReadonlyMap<CallStep, ReadonlyMap<string, EarlierValue>>;

interface Votes {
  readonly path: Path;
  calls: number;
  readonly values: Set<string | number>;
  readonly places: Map<string, { readonly place: EarlierValue; votes: number }>;
}

interface Facts {
  readonly stepOf: ReadonlyMap<TracedCall, CallStep>;
  /** Whether the source has come whenever the step is due. */
  readonly isBefore: (source: ValueSource, step: CallStep) => boolean;
  /** Room names are in callbacks because the client is in the room. */
  readonly rooms: ReadonlySet<string>;
}

export function findEarlierValues(clients: readonly TracedClient[], facts: Facts): EarlierValues {
  const votes = new Map<CallStep, Map<string, Votes>>();
  const sources = new Sources();
  for (const client of clients) new Reading(client, facts, sources, votes).read();
  const found = new Map<CallStep, Map<string, EarlierValue>>();
  for (const [step, ofStep] of votes) {
    for (const [key, vote] of ofStep) {
      const value = winner(vote, step, facts);
      if (value !== undefined) getOrCreate(found, step, () => new Map()).set(key, value);
    }
  }
  return found;
}

class Sources {
  private readonly answers = new Map<CallStep, ValueSource>();
  private readonly events = {
    after: new Map<CallStep, Map<string, ValueSource>>(),
    before: new Map<CallStep, Map<string, ValueSource>>(),
  };

  answer(from: CallStep): ValueSource {
    return getOrCreate(this.answers, from, () => ({ from }));
  }

  event(from: CallStep, event: string, turn: Turn): ValueSource {
    const ofStep = getOrCreate(this.events[turn], from, () => new Map<string, ValueSource>());
    return getOrCreate(ofStep, event, () => ({ from, event, turn }));
  }
}

interface Seen {
  readonly atUs: number;
  readonly place: EarlierValue;
}

class Reading {
  private readonly values = new Map<string | number, Map<ValueSource, Seen[]>>();
  private readonly latestUs = new Map<ValueSource, number>();
  /** The call before each callback, and whether it caused the callback. */
  private readonly heard = new Map<ValueSource, { readonly call: TracedCall; isOwn: boolean }>();
  private readonly wanted = new Set<string | number>();
  /** Texts the client sent before it received them, such as its own name in a history. */
  private readonly own = new Set<string | number>();

  constructor(
    private readonly client: TracedClient,
    private readonly facts: Facts,
    private readonly sources: Sources,
    private readonly votes: Map<CallStep, Map<string, Votes>>,
  ) {}

  read(): void {
    const { calls, callbacks } = this.client;
    for (const call of calls)
      visitValues(call.arguments, (leaf) => {
        this.wanted.add(leaf);
      });
    const answers = calls
      .filter(({ result, endUs }) => result !== undefined && endUs !== undefined)
      .sort((a, b) => a.endUs! - b.endUs!);
    let [nextAnswer, nextCallback] = [0, 0];
    for (const [index, call] of calls.entries()) {
      while (nextAnswer < answers.length && answers[nextAnswer]!.endUs! <= call.atUs)
        this.rememberAnswer(answers[nextAnswer++]!);
      while (nextCallback < callbacks.length && callbacks[nextCallback]!.atUs <= call.atUs)
        this.rememberCallback(callbacks[nextCallback++]!, calls[index - 1], call);
      const step = this.facts.stepOf.get(call);
      if (step !== undefined && this.values.size > 0) this.vote(call, step);
      visitTexts(call.arguments, (text) => {
        if (!this.values.has(text)) this.own.add(text);
      });
    }
  }

  private rememberAnswer(answer: TracedCall): void {
    const from = this.facts.stepOf.get(answer);
    if (from === undefined) return;
    const { result } = answer;
    const source = this.sources.answer(from);
    const atUs = answer.endUs!;
    this.latestUs.set(source, atUs);
    this.visitForeign(result, (leaf, path) => {
      this.remember(leaf, source, atUs, path);
      // The same place counted from the end of the outermost list.
      const [index] = path;
      if (Array.isArray(result) && index === result.length - 1 && index !== 0)
        this.remember(leaf, source, atUs, [-1, ...path.slice(1)]);
    });
  }

  /** A session does not receive what came before its first call. */
  private rememberCallback(
    { atUs, cause, target, arguments: values }: TracedCallback,
    last: TracedCall | undefined,
    next: TracedCall,
  ): void {
    const { stepOf, rooms } = this.facts;
    const [lastStep, nextStep] = [last && stepOf.get(last), stepOf.get(next)];
    if (last === undefined || lastStep === undefined || nextStep === undefined) return;
    const sources = [this.sources.event(nextStep, target, 'before')];
    const after = this.sources.event(lastStep, target, 'after');
    const heard = this.heard.get(after);
    const isOwn = cause === last;
    // A callback that others cause may come before that of the call.
    if (heard?.call !== last || (isOwn && !heard.isOwn)) {
      sources.push(after);
      this.heard.set(after, { call: last, isOwn });
    }
    for (const source of sources) this.latestUs.set(source, atUs);
    this.visitForeign(values, (leaf, path) => {
      const isEcho = typeof leaf === 'number' && isIn(last, leaf);
      if (isEcho || rooms.has(String(leaf))) return;
      for (const source of sources) this.remember(leaf, source, atUs, path);
    });
  }

  /** Values that the client sends later and has not sent before. */
  private visitForeign(value: unknown, visit: (leaf: string | number, path: Path) => void): void {
    const { wanted, own } = this;
    visitLeaves(value, (leaf, path) => {
      if ((typeof leaf !== 'string' && typeof leaf !== 'number') || leaf === '') return;
      if (wanted.has(leaf) && !own.has(leaf)) visit(leaf, path);
    });
  }

  private remember(leaf: string | number, source: ValueSource, atUs: number, path: Path): void {
    const ofValue = getOrCreate(this.values, leaf, () => new Map<ValueSource, Seen[]>());
    const latest = (ofValue.get(source) ?? []).filter((one) => one.atUs === atUs);
    if (latest.length < mostPlaces) latest.push({ atUs, place: { source, path: [...path] } });
    ofValue.set(source, latest);
  }

  private vote(call: TracedCall, step: CallStep): void {
    visitLeaves(call.arguments, (leaf, path) => {
      if (typeof leaf !== 'string' && typeof leaf !== 'number') return;
      const places = this.values.get(leaf);
      if (places === undefined) return;
      const ofStep = getOrCreate(this.votes, step, () => new Map<string, Votes>());
      const vote = getOrCreate(ofStep, pathKey(path), () => ({
        path: [...path],
        calls: 0,
        values: new Set<string | number>(),
        places: new Map(),
      }));
      vote.calls += 1;
      vote.values.add(leaf);
      for (const [source, ofPlace] of places)
        for (const { place, atUs } of ofPlace) {
          if (this.latestUs.get(source) !== atUs) continue;
          const { from, event = '', turn = '' } = source;
          const key = `${pathKey(place.path)} ${from.form} ${from.method} ${turn} ${event}`;
          const counted = vote.places.get(key) ?? { place, votes: 0 };
          if (vote.places.size < 4 * mostPlaces) vote.places.set(key, counted);
          counted.votes += 1;
        }
    });
  }
}

function isIn({ arguments: values }: TracedCall, leaf: number): boolean {
  let found = false;
  visitValues(values, (each) => {
    found ||= each === leaf;
  });
  return found;
}

/**
 * Answers before callbacks, which a session has to wait for. Then the first callback that the client caused; of others'
 * callbacks the latest, which keeps the pause.
 */
function winner(
  { values, places, calls }: Votes,
  step: CallStep,
  { isBefore }: Facts,
): EarlierValue | undefined {
  const enough = step.calls.length * nearlyAll;
  if (calls < enough) return undefined;
  const likely = [...places.values()]
    .filter(({ place, votes }) => votes >= enough && isBefore(place.source, step))
    .sort((a, b) => b.votes - a.votes)
    .map(({ place }) => place);
  const [only] = values.size > 1 ? [] : values;
  const answer = likely.find(
    ({ source, path }) =>
      source.event === undefined && (only === undefined || isTelling(only, path)),
  );
  if (answer !== undefined) return answer;
  const events = likely.filter(
    (place) => comesAlways(place.source) && (only === undefined || isTold(only, place)),
  );
  const own = events.find(({ source }) => source.turn === 'after' && !isCausedByOthers(source));
  return own ?? events.find(({ source }) => source.turn === 'before') ?? events[0];
}

function heardOf({ from, event, turn }: ValueSource): (TracedCallback | undefined)[] {
  if (event === undefined) return [];
  return from.calls.flatMap((call) => {
    const { calls } = call.client;
    const last = turn === 'after' ? call : calls[call.index - 1];
    return last === undefined || last.index === calls.length - 1
      ? []
      : [firstCallbackAfter(last, event)];
  });
}

/** A session waits for such a callback, in vain where it does not come. */
const nearlyAlways = 0.95;

function comesAlways(source: ValueSource): boolean {
  const heard = heardOf(source);
  const times = heard.filter((callback) => callback !== undefined).length;
  return times > 0 && times >= heard.length * nearlyAlways;
}

export function isCausedByOthers(source: ValueSource): boolean {
  const heard = heardOf(source).filter((callback) => callback !== undefined);
  return heard.filter(({ client, cause }) => cause?.client !== client).length * 2 > heard.length;
}

/** A value that is the only one must be long, or called an id. */
function isTelling(value: string | number, path: Path): boolean {
  if (/id$/i.test(lastName(path) ?? '')) return true;
  return typeof value === 'string' && value.length >= tellingLength && /\d/.test(value);
}

/** A value that each callback repeats needs no wait. */
const isTold = (value: string | number, { source, path }: EarlierValue): boolean =>
  isTelling(value, path) && source.from.calls.length === 1;

/** Placeholders with a meaning of their own. */
export const placeholderNames = [
  ...['sender', 'senderIndex', 'receiver', 'group', 'sequence', 'time', 'ticks', 'text', 'file'],
  ...['identity', 'data', 'index', 'row'],
];
export function unusedName(wanted: string, taken: ReadonlySet<string>): string {
  const plain = wanted.replace(/[^A-Za-z]/g, '').slice(0, 30) || 'value';
  const start = plain[0]!.toLowerCase() + plain.slice(1);
  let name = taken.has(start) ? `${start}Kept` : start;
  for (let letter = 1; taken.has(name); letter++)
    name = `${start}${'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[letter % 26]}${'x'.repeat(letter / 26)}`;
  return name;
}
