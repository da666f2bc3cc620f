import type { CallStep } from './kinds';
import type { TracedCall, TracedClient } from './trace';
import { lastName, pathKey, visitLeaves, visitTexts, visitValues, type Path } from './values';

/** Arguments that came in an earlier answer, such as the id of the latest message. */
export interface Kept {
  /** The step whose answer it is in, and where. */
  readonly from: CallStep;
  readonly path: Path;
}

/** Places of an argument that have votes; an answer has a few that are equal. */
const mostPlaces = 16;
const nearlyAll = 0.9;
/** A text so long is not twice the same by chance. */
const tellingLength = 6;

/** By the step and the key of the path in its arguments. */
export type KeptArguments = ReadonlyMap<CallStep, ReadonlyMap<string, Kept>>;

interface Votes {
  readonly path: Path;
  calls: number;
  readonly values: Set<string | number>;
  readonly places: Map<string, { readonly kept: Kept; votes: number }>;
}

/**
 * @param stepOf the step of each call
 * @param isBefore whether the first step is done whenever the second one is due
 */
export function findKept(
  clients: readonly TracedClient[],
  stepOf: ReadonlyMap<TracedCall, CallStep>,
  isBefore: (from: CallStep, step: CallStep) => boolean,
): KeptArguments {
  const votes = new Map<CallStep, Map<string, Votes>>();
  for (const client of clients) voteOf(client, stepOf, votes);
  const found = new Map<CallStep, Map<string, Kept>>();
  for (const [step, ofStep] of votes) {
    for (const [key, vote] of ofStep) {
      const kept = winner(vote, step.calls.length, (from) => isBefore(from, step));
      if (kept === undefined) continue;
      const ofFound = found.get(step) ?? new Map<string, Kept>();
      found.set(step, ofFound.set(key, kept));
    }
  }
  return found;
}

interface Seen {
  readonly atUs: number;
  readonly kept: Kept;
}

/** Of one client until now: where each value was seen, and when each step was answered last. */
interface Answers {
  readonly values: Map<string | number, Map<CallStep, Seen[]>>;
  readonly latestUs: Map<CallStep, number>;
  /** Those that the client sends at all. */
  readonly wanted: ReadonlySet<string | number>;
  /** Texts that the client sent before an answer had them: its own, such as its name in the history of a room. */
  readonly own: Set<string | number>;
}

function voteOf(
  { calls }: TracedClient,
  stepOf: ReadonlyMap<TracedCall, CallStep>,
  votes: Map<CallStep, Map<string, Votes>>,
): void {
  const wanted = new Set<string | number>();
  for (const call of calls) visitValues(call.arguments, (leaf) => wanted.add(leaf));
  const seen: Answers = { values: new Map(), latestUs: new Map(), wanted, own: new Set() };
  let next = 0;
  const byEnd = calls
    .filter(({ result, endUs }) => result !== undefined && endUs !== undefined)
    .sort((a, b) => a.endUs! - b.endUs!);
  for (const call of calls) {
    while (next < byEnd.length && byEnd[next]!.endUs! <= call.atUs)
      remember(byEnd[next++]!, stepOf, seen);
    const step = stepOf.get(call);
    if (step !== undefined && next > 0) vote(call, step, seen, votes);
    visitTexts(call.arguments, (text) => {
      if (!seen.values.has(text)) seen.own.add(text);
    });
  }
}

function remember(
  answer: TracedCall,
  stepOf: ReadonlyMap<TracedCall, CallStep>,
  { values, latestUs, wanted, own }: Answers,
): void {
  const from = stepOf.get(answer);
  if (from === undefined) return;
  const atUs = answer.endUs!;
  latestUs.set(from, atUs);
  visitLeaves(answer.result, (leaf, path) => {
    if ((typeof leaf !== 'string' && typeof leaf !== 'number') || leaf === '') return;
    if (!wanted.has(leaf) || own.has(leaf)) return;
    const ofValue = values.get(leaf) ?? new Map<CallStep, Seen[]>();
    values.set(leaf, ofValue);
    const latest = (ofValue.get(from) ?? []).filter((one) => one.atUs === atUs);
    if (latest.length < mostPlaces)
      latest.push(
        { atUs, kept: { from, path: [...path] } },
        ...fromEnd(answer.result, from, path, atUs),
      );
    ofValue.set(from, latest);
  });
}

/** The same place, in the last item of the outermost list. */
function fromEnd(result: unknown, from: CallStep, path: Path, atUs: number): Seen[] {
  const [index] = path;
  if (!Array.isArray(result) || index !== result.length - 1 || index === 0) return [];
  return [{ atUs, kept: { from, path: [-1, ...path.slice(1)] } }];
}

function vote(
  call: TracedCall,
  step: CallStep,
  { values, latestUs }: Answers,
  votes: Map<CallStep, Map<string, Votes>>,
): void {
  visitLeaves(call.arguments, (leaf, path) => {
    if (typeof leaf !== 'string' && typeof leaf !== 'number') return;
    const places = values.get(leaf);
    if (places === undefined) return;
    const ofStep = votes.get(step) ?? new Map<string, Votes>();
    votes.set(step, ofStep);
    const key = pathKey(path);
    const vote: Votes = ofStep.get(key) ?? {
      ...{ path: [...path], calls: 0, values: new Set<string | number>(), places: new Map() },
    };
    ofStep.set(key, vote);
    vote.calls += 1;
    vote.values.add(leaf);
    for (const ofPlace of places.values())
      for (const { kept, atUs } of ofPlace) {
        // An older answer is not kept any more.
        if (latestUs.get(kept.from) !== atUs) continue;
        const place = `${pathKey(kept.path)} ${kept.from.form} ${kept.from.method}`;
        const counted = vote.places.get(place) ?? { kept, votes: 0 };
        if (vote.places.size < 4 * mostPlaces) vote.places.set(place, counted);
        counted.votes += 1;
      }
  });
}

function winner(
  { values, places, calls }: Votes,
  stepCalls: number,
  isBefore: (from: CallStep) => boolean,
): Kept | undefined {
  if (calls < stepCalls * nearlyAll) return undefined;
  const [best] = [...places.values()]
    .filter(({ kept }) => isBefore(kept.from))
    .sort((a, b) => b.votes - a.votes);
  if (best === undefined || best.votes < stepCalls * nearlyAll) return undefined;
  return values.size > 1 || isTelling([...values][0]!, best.kept.path) ? best.kept : undefined;
}

/** The only value that was seen is no accident: it is long, or the answer calls it an id. */
function isTelling(value: string | number, path: Path): boolean {
  if (/id$/i.test(lastName(path) ?? '')) return true;
  return typeof value === 'string' && value.length >= tellingLength && /\d/.test(value);
}
