import { addCount, getOrCreate, groupBy } from '../../base/collect';
import type { ClientStay } from './connectionPlan';
import { foldLoops, isLoop, SymbolTable, type CallOrLoop } from './fold';
import {
  longestStreamOf,
  type CallForm,
  type Trace,
  type TracedCall,
  type TracedClient,
} from './trace';

/** Clients with the same calls in the same order. */
export interface ClientKind {
  readonly clients: readonly TracedClient[];
  readonly steps: readonly Step[];
  /** `periodsUs` lie between the beginnings of two sessions of one client. */
  readonly sessions: number;
  readonly periodsUs: readonly number[];
  /** Ended before their last step: the client left, or the recording ended. */
  readonly unfinished: number;
  /** Streams beside other calls: each counts as a client of its own. */
  readonly streams?: readonly ClientStay[];
}

export type Step = CallStep | RepeatStep | ChooseStep;

export interface Gaps {
  readonly after: { readonly call: TracedCall; readonly untilUs: number }[];
  /** From the beginning of the last round, where a loop came before. */
  readonly fromRoundUs: number[];
}

/** One call of a session, with all recorded calls that it stands for. */
export interface CallStep {
  readonly gaps: Gaps;
  readonly kind: 'call';
  readonly method: string;
  readonly form: CallForm;
  readonly calls: TracedCall[];
  /** Each recorded stream is written as so many, since a step may not last that long. */
  readonly pieces?: number;
}

export interface RepeatStep {
  readonly gaps: Gaps;
  readonly kind: 'repeat';
  readonly steps: readonly Step[];
  readonly rounds: number[];
  readonly periodsUs: number[];
}

export interface ChooseStep {
  readonly gaps: Gaps;
  readonly kind: 'choose';
  readonly options: readonly CallStep[];
}

/** Nobody can read longer sessions: their middle becomes a choice. */
const longestSession = 24;
const deepestLoops = 3;
const longestStreamUs = 540_000_000;

interface Behaviour {
  readonly client: TracedClient;
  readonly sessions: readonly (readonly CallOrLoop<TracedCall>[])[];
}

export function findClientKinds(trace: Trace): ClientKind[] {
  return [...sessionKinds(trace), ...streamKinds(trace)];
}

function streamKinds({ streamsBeside, endUs }: Trace): ClientKind[] {
  const byKey = groupBy(streamsBeside, ({ key }) => key);
  return [...byKey.values()].map((calls) => {
    const pieces = Math.max(1, Math.ceil(longestStreamOf(calls) / longestStreamUs));
    return {
      clients: [...new Set(calls.map(({ client }) => client))],
      steps: [{ ...callStep(calls[0]!), calls, pieces }],
      streams: calls.map(({ client, atUs, endUs: endedUs }) => ({
        open: { ...client.open, t: atUs },
        closedUs: endedUs ?? client.closedUs ?? endUs,
      })),
      ...{ sessions: pieces * calls.length, periodsUs: [], unfinished: 0 },
    };
  });
}

function sessionKinds({ clients, endUs }: Trace): ClientKind[] {
  const symbols = new SymbolTable();
  const symbolOf = ({ key }: TracedCall): number => symbols.of(key);
  const active = clients.filter(({ calls }) => calls.length > 0);
  // Twice, so that a loop of one client is one of all clients.
  for (const { calls } of active) foldLoops(calls, symbolOf, symbols);
  const strict = active.map((client) =>
    behaviourOf(client, foldLoops(client.calls, symbolOf, symbols)),
  );
  const loose = new Map(
    active.map((client) => [client, looselyFolded(client, symbolOf, symbols)] as const),
  );
  const groups = grouped(strict, loose, endUs);
  return groups.map((behaviours) => kindOf(behaviours));
}

/** A single loop is a session that begins again and again. */
function behaviourOf(client: TracedClient, sequence: readonly CallOrLoop<TracedCall>[]): Behaviour {
  const [only] = sequence;
  if (sequence.length === 1 && isLoop(only!)) return { client, sessions: only.rounds };
  return { client, sessions: [sequence] };
}

const signatureOf = ({ sessions }: Behaviour): string => nameOf(sessions[0]!);

const nameOf = (sequence: readonly CallOrLoop<TracedCall>[]): string =>
  sequence.map(({ symbol }) => symbol).join(' ');

function grouped(
  strict: readonly Behaviour[],
  loose: ReadonlyMap<TracedClient, Behaviour>,
  endUs: number,
): Behaviour[][] {
  const signatures = new Map<string, Set<string>>();
  for (const behaviour of strict) {
    const name = signatureOf(loose.get(behaviour.client)!);
    getOrCreate(signatures, name, () => new Set()).add(signatureOf(behaviour));
  }
  const chosen = strict.map((behaviour) => {
    const other = loose.get(behaviour.client)!;
    // Others made the same calls in another order: only a choice among them is common.
    const isOneOfMany = hasChoice(other) && signatures.get(signatureOf(other))!.size > 1;
    return isOneOfMany || !isReadable(behaviour.sessions[0]!) ? other : behaviour;
  });
  const groups = groupBy(chosen, signatureOf);
  return withBegun([...groups.values()], endUs).sort((a, b) => b.length - a.length);
}

function isReadable(sequence: readonly CallOrLoop<TracedCall>[], depth = 1): boolean {
  return (
    sequence.length <= longestSession &&
    depth <= deepestLoops &&
    sequence.every((one) => !isLoop(one) || isReadable(one.rounds[0]!, depth + 1))
  );
}

export function callStepsIn(steps: readonly Step[]): CallStep[] {
  return steps.flatMap((step) => {
    if (step.kind === 'call') return [step];
    return callStepsIn(step.kind === 'repeat' ? step.steps : step.options);
  });
}

export function chosenStepsIn(steps: readonly Step[]): CallStep[] {
  return steps.flatMap((step) => {
    if (step.kind === 'choose') return step.options;
    return step.kind === 'repeat' ? chosenStepsIn(step.steps) : [];
  });
}

const hasChoice = ({ sessions }: Behaviour): boolean =>
  sessions[0]!.some((one) => isLoop(one) && isChoice(one));

const choices = new WeakSet();
const isChoice = (one: object): boolean => choices.has(one);

/**
 * Calls to methods called once, before and after all others, are steps; the calls between have no order and become a loop with
 * a choice in it.
 */
function looselyFolded(
  client: TracedClient,
  symbolOf: (call: TracedCall) => number,
  symbols: SymbolTable,
): Behaviour {
  const { calls } = client;
  const times = new Map<number, number>();
  for (const call of calls) addCount(times, symbolOf(call));
  const isOnce = (call: TracedCall): boolean => times.get(symbolOf(call)) === 1;
  const from = calls.findIndex((call) => !isOnce(call));
  const item = (call: TracedCall): CallOrLoop<TracedCall> => ({
    symbol: symbolOf(call),
    item: call,
  });
  if (from < 0) return { client, sessions: [calls.map(item)] };
  const to = calls.map(isOnce).lastIndexOf(false) + 1;
  const middle = calls.slice(from, to);
  const kinds = [...new Set(middle.map(symbolOf))].sort((a, b) => a - b);
  const rounds = middle.map((call) => [item(call)]);
  const loop = { symbol: symbols.of(`{${kinds.join(' ')}}`), rounds };
  if (kinds.length > 1) choices.add(loop);
  return {
    client,
    sessions: [[...calls.slice(0, from).map(item), loop, ...calls.slice(to).map(item)]],
  };
}

/** Clients that left before they could go on belong to the longer kind that begins the same. */
function withBegun(groups: readonly Behaviour[][], endUs: number): Behaviour[][] {
  const whole = [...groups].sort((a, b) => b[0]!.sessions[0]!.length - a[0]!.sessions[0]!.length);
  const beginnings = new Map<string, Behaviour[]>();
  const kept: Behaviour[][] = [];
  for (const group of whole) {
    const [first] = group;
    const { sessions } = first!;
    const longer = sessions.length === 1 ? beginnings.get(nameOf(sessions[0]!)) : undefined;
    const begun: Behaviour[] = [];
    const own: Behaviour[] = [];
    for (const behaviour of group)
      (longer !== undefined && leftSoon(behaviour, longer, endUs) ? begun : own).push(behaviour);
    longer?.push(...begun);
    if (own.length === 0) continue;
    kept.push(own);
    const [sequence] = sessions;
    for (let length = 1; length < sequence!.length; length++) {
      const name = nameOf(sequence!.slice(0, length));
      if (!beginnings.has(name)) beginnings.set(name, own);
    }
  }
  return kept;
}

/** Left, or the recording ended, before the others went on. */
function leftSoon(
  { client, sessions }: Behaviour,
  longer: readonly Behaviour[],
  endUs: number,
): boolean {
  const steps = sessions[0]!.length;
  const last = client.calls.at(-1)!;
  const stayedUs = (client.closedUs ?? endUs) - last.atUs;
  let longestUs = 0;
  for (const other of longer) {
    const [sequence] = other.sessions;
    const next = sequence![steps];
    if (next === undefined) continue;
    const before = sequence![steps - 1]!;
    longestUs = Math.max(longestUs, firstCall(next).atUs - lastCall(before).atUs);
    if (isLoop(before)) longestUs = pausesIn(before.rounds).reduce(larger, longestUs);
  }
  return stayedUs <= longestUs;
}

const larger = (a: number, b: number): number => Math.max(a, b);

const pausesIn = (rounds: readonly (readonly CallOrLoop<TracedCall>[])[]): number[] =>
  rounds.slice(1).map((round, at) => firstCall(round[0]!).atUs - firstCall(rounds[at]![0]!).atUs);

export function firstCall(one: CallOrLoop<TracedCall>): TracedCall {
  return isLoop(one) ? firstCall(one.rounds[0]![0]!) : one.item;
}

function lastCall(one: CallOrLoop<TracedCall>): TracedCall {
  return isLoop(one) ? lastCall(one.rounds.at(-1)!.at(-1)!) : one.item;
}

function kindOf(behaviours: readonly Behaviour[]): ClientKind {
  const all = behaviours.flatMap(({ sessions }) => sessions);
  const longest = all.reduce((a, b) => (b.length > a.length ? b : a));
  const steps = stepsOf(longest);
  const periodsUs: number[] = [];
  let unfinished = 0;
  for (const { sessions } of behaviours) {
    for (const [index, session] of sessions.entries()) {
      fill(steps, session);
      if (session.length < longest.length) unfinished += 1;
      const next = sessions[index + 1];
      if (next !== undefined)
        periodsUs.push(firstCall(next[0]!).atUs - firstCall(session[0]!).atUs);
    }
  }
  const clients = behaviours.map(({ client }) => client);
  return { clients, steps, sessions: all.length, periodsUs, unfinished };
}

const noGaps = (): Gaps => ({ after: [], fromRoundUs: [] });

function stepsOf(sequence: readonly CallOrLoop<TracedCall>[]): Step[] {
  return sequence.map((one): Step => {
    if (!isLoop(one)) return callStep(one.item);
    const steps = isChoice(one) ? [choiceOf(one.rounds)] : stepsOf(one.rounds[0]!);
    return { kind: 'repeat', gaps: noGaps(), steps, rounds: [], periodsUs: [] };
  });
}

const callStep = ({ method, form }: TracedCall): CallStep => ({
  ...{ kind: 'call', gaps: noGaps(), method, form, calls: [] },
});

function choiceOf(rounds: readonly (readonly CallOrLoop<TracedCall>[])[]): ChooseStep {
  const options = new Map<number, CallStep>();
  for (const [one] of rounds)
    if (!options.has(one!.symbol)) options.set(one!.symbol, callStep(firstCall(one!)));
  return { kind: 'choose', gaps: noGaps(), options: [...options.values()] };
}

function fill(steps: readonly Step[], sequence: readonly CallOrLoop<TracedCall>[]): void {
  for (const [index, one] of sequence.entries()) {
    const step = steps[index]!;
    if (index > 0) noteGap(step.gaps, sequence[index - 1]!, firstCall(one));
    if (step.kind === 'call' && !isLoop(one)) step.calls.push(one.item);
    else if (step.kind === 'choose') {
      const { method, form } = firstCall(one);
      const option = step.options.find((each) => each.method === method && each.form === form);
      option!.calls.push(firstCall(one));
    } else if (step.kind === 'repeat' && isLoop(one)) {
      const isCut = one.rounds.at(-1)!.length < one.rounds[0]!.length;
      step.rounds.push(one.rounds.length - (isCut ? 1 : 0));
      let lastUs: number | undefined;
      for (const round of one.rounds) {
        const { atUs } = firstCall(round[0]!);
        if (lastUs !== undefined) step.periodsUs.push(atUs - lastUs);
        lastUs = atUs;
        fill(step.steps, round);
      }
    }
  }
}

function noteGap(
  { after, fromRoundUs }: Gaps,
  before: CallOrLoop<TracedCall>,
  { atUs }: TracedCall,
): void {
  after.push({ call: lastCall(before), untilUs: atUs });
  if (isLoop(before)) fromRoundUs.push(atUs - firstCall(before.rounds.at(-1)![0]!).atUs);
}
