import type { Words } from '../base/sentence';
import type { ErrorCounts } from '../base/errorClass';
import type { SearchSummary } from '../base/searchSummary';
import type { LatencySummary } from './latencySummary';
import type { PushedSummary } from './summary';
import type {
  AgentProgress,
  CallSummary,
  GeneratorHealth,
  MessageSummary,
  SessionSummary,
  VerdictStatus,
} from './summary';

/** Lower bounds: samples come once a second. */
export interface Waiting {
  /** The oldest of them was due at least so long ago, seconds. */
  readonly oldestS: number;
  /** Nothing at all has arrived for at least so long while some were due, seconds. */
  readonly silentS: number;
}

export type Phase =
  | 'connecting'
  | 'preparing'
  | 'warmup'
  | 'measuring'
  | 'draining'
  | 'closing'
  | 'done';

export interface MessageProgress extends Pick<
  MessageSummary,
  | ('senders' | 'offered' | 'skipped' | 'sent' | 'expected' | 'received' | 'receivedLater')
  | ('sentPerSecond' | 'receivedPerSecond' | 'latencyUs' | 'judgedUs' | 'timeToAllUs')
> {
  /** Expected and not yet received; part of it may still be on its way. */
  readonly outstanding: number;
}

export interface EntryProgress extends MessageProgress {
  readonly name: string;
  readonly sessions?: SessionSummary;
}

export interface CallProgress extends Omit<CallSummary, 'lost'> {
  readonly outstanding: number;
}

/** An objective that is not met by now, in the words of a verdict. */
export interface MissedSoFar {
  readonly message: string;
  /** Absent in samples of earlier versions. */
  readonly words?: Words;
  /** Nothing that may still come can mend it. */
  readonly isFinal?: true;
}

export interface StepProgress extends MessageProgress {
  readonly index: number;
  /** Drained and judged: what is outstanding is lost. */
  readonly over: boolean;
  readonly verdict?: VerdictStatus;
  readonly elapsedS: number;
  readonly totalS: number;
  /** How long what is outstanding is waited for; absent when that is not long. */
  readonly waiting?: Waiting;
  /** Absent where all objectives are met by now. */
  readonly missed?: MissedSoFar;
  readonly duplicated: number;
  readonly outOfOrder: number;
  /** Deliveries below 100, 200, … 1,000 ms, each class apart, and those slower: 11 counts. */
  readonly latencyClasses?: readonly number[];
  readonly errors?: number;
  readonly warmupErrors?: number;
  readonly payloadBytesIn?: number;
  readonly payloadBytesOut?: number;
  readonly entries?: readonly EntryProgress[];
  readonly calls?: readonly CallProgress[];
  readonly sessions?: SessionSummary;
  readonly pushed?: readonly PushedSummary[];
  readonly latencySameAgentUs?: LatencySummary;
  readonly clockErrorUs?: number;
  readonly clockJumps?: number;
  readonly generator: GeneratorHealth;
}

export interface SearchProgress extends Pick<SearchSummary, 'of' | 'low' | 'high'> {
  readonly value: number;
}

/** State of a run, about once a second and at each change of phase. Plain data. */
export interface Snapshot {
  readonly atMs: number;
  /** Number of the tick the sample belongs to; rises by one a second. */
  readonly tick: number;
  readonly phase: Phase;
  readonly connections: {
    readonly requested: number;
    readonly connected: number;
    readonly failed: number;
    readonly dropped: number;
    /** Absent in stored samples that do not know it. */
    readonly takingPart?: number;
    readonly reconnected?: number;
    readonly connectP99Us: number;
  };
  readonly step?: StepProgress;
  readonly stepCount: number;
  /** How far a search is; `stepCount` is then the steps begun so far. */
  readonly search?: SearchProgress;
  /** Counts and latency of this tick alone; absent when nothing was measured in it. */
  readonly interval?: {
    /** Part of the tick in which messages of a step were being sent. */
    readonly seconds: number;
    /** The same with the drain after it: the part in which deliveries counted. */
    readonly receivingSeconds: number;
    readonly offered: number;
    readonly sent: number;
    readonly received: number;
    readonly latencyUs: LatencySummary;
  };
  readonly errors: ErrorCounts;
  /** The processes that generate the load, where there are several; not in every snapshot, and kept of the newest alone. */
  readonly agents?: readonly AgentProgress[];
  readonly observed?: Readonly<Record<string, number>>;
  readonly problem?: string;
  /** False when a worker's sample for this tick came too late to be in it. */
  readonly complete: boolean;
}

/**
 * Warm-ups and measured times to come, without connecting and draining; undefined before the first step, and in a
 * search.
 */
export function runLeftS(
  { step, stepCount, search }: Pick<Snapshot, 'step' | 'stepCount' | 'search'>,
  { warmupMs, singleStepDurationMs }: Readonly<Record<'warmupMs' | 'singleStepDurationMs', number>>,
): number | undefined {
  if (!step || search) return undefined;
  const stepMs = (step.senders === 0 ? 0 : warmupMs) + singleStepDurationMs;
  const later = Math.max(0, stepCount - step.index) * stepMs;
  return Math.max(0, step.totalS - step.elapsedS) + later / 1000;
}

/** Two hours at one a second. */
export const mostSnapshots = 7200;

/** At most about `most`: of neighbours of one phase and step the slowest stays; so do the first and last of each. */
export function thinSnapshots(snapshots: readonly Snapshot[], most = mostSnapshots) {
  if (snapshots.length <= most) return snapshots;
  const width = Math.ceil(snapshots.length / most);
  const kept: Snapshot[] = [];
  let group: Snapshot[] = [];
  const close = (): void => {
    if (group.length > 0) kept.push(group.reduce(slower));
    group = [];
  };
  for (const [at, snapshot] of snapshots.entries()) {
    const starts = !sameStage(snapshots[at - 1], snapshot);
    const ends = !sameStage(snapshot, snapshots[at + 1]);
    if (starts || ends) {
      close();
      kept.push(snapshot);
      continue;
    }
    group.push(snapshot);
    if (group.length === width) close();
  }
  return kept;
}

export function dropAgents({ agents: _agents, ...kept }: Snapshot): Snapshot {
  return kept;
}

/** Without what takes most of the room of a second, and only the newest of a step is asked for. */
export function dropDetails({ step, ...snapshot }: Snapshot): Snapshot {
  if (step === undefined) return snapshot;
  return { ...snapshot, step: withoutCalls(step) };
}

const withoutCalls = ({
  calls: _calls,
  entries: _entries,
  latencyClasses: _classes,
  ...step
}: StepProgress): StepProgress => step;

export function latestAgents(snapshots: readonly Snapshot[]): readonly AgentProgress[] {
  for (let at = snapshots.length - 1; at >= 0; at--) {
    const agents = snapshots[at]?.agents;
    if (agents !== undefined) return agents;
  }
  return [];
}

export interface TextCompression {
  pack(text: string): Uint8Array;
  unpack(packed: Uint8Array): string;
}

/** Enough of them to become a tenth of their size together. */
const packedTogether = 64;

type StepSecond = Pick<StepProgress, 'index' | 'elapsedS' | 'totalS' | 'outstanding'>;

type HeldSecond = Omit<Snapshot, 'step' | 'agents'> & { readonly step?: StepSecond };

function secondOf({ step, agents: _agents, ...rest }: Snapshot): HeldSecond {
  if (step === undefined) return rest;
  const { index, elapsedS, totalS, outstanding } = step;
  return { ...rest, step: { index, elapsedS, totalS, outstanding } };
}

const wholeSecond = (
  { step, ...rest }: HeldSecond,
  steps: ReadonlyMap<number, StepProgress>,
): Snapshot => ({ ...rest, ...(step && { step: { ...steps.get(step.index)!, ...step } }) });

/**
 * Oldest first; only the last second of each step has calls, use cases and generator. Thinned to half at twice {@link
 * mostSnapshots}.
 */
export class SnapshotHistory {
  private packed: Uint8Array[] = [];
  private open: HeldSecond[] = [];
  private readonly steps = new Map<number, StepProgress>();
  private count = 0;
  private most = 2 * mostSnapshots;
  private withAgents: { readonly at: number; readonly agents: Snapshot['agents'] } | undefined;

  /** @param packing takes little memory, and time to read them again where all are asked for */
  constructor(private readonly packing?: TextCompression) {}

  get all(): readonly Snapshot[] {
    const { packed, packing, withAgents, steps } = this;
    const list = packed.flatMap((each) => JSON.parse(packing!.unpack(each)) as HeldSecond[]);
    list.push(...this.open);
    const all = list.map((second) => wholeSecond(second, steps));
    if (withAgents?.agents !== undefined)
      all[withAgents.at] = { ...all[withAgents.at]!, agents: withAgents.agents };
    return all;
  }

  add(snapshot: Snapshot): void {
    this.hold(snapshot);
    if (this.count < this.most) return;
    const kept = thinSnapshots(this.all);
    this.packed = [];
    this.open = [];
    this.count = 0;
    this.withAgents = undefined;
    for (const each of kept) this.hold(each);
    // The first and last of each step stay: with many steps the next look is later.
    this.most = 2 * Math.max(mostSnapshots, this.count);
  }

  private hold(snapshot: Snapshot): void {
    const { open, packing, steps } = this;
    const { agents, step } = snapshot;
    if (agents !== undefined) this.withAgents = { at: this.count, agents };
    if (step !== undefined) steps.set(step.index, step);
    this.count += 1;
    open.push(secondOf(snapshot));
    if (packing === undefined || open.length < packedTogether) return;
    this.packed.push(packing.pack(JSON.stringify(open)));
    this.open = [];
  }
}

/** Snapshots as a panel is filled with them: the last of each step, and by the path of each number and word a list with one for each second. */
export interface SnapshotColumns {
  readonly count: number;
  readonly steps: readonly StepProgress[];
  readonly agents: readonly AgentProgress[];
  readonly columns: Readonly<Record<string, readonly (number | string | boolean | null)[]>>;
}

/** Between the parts of a path: in no name. */
const pathMark = '\n';
/** Stands for a null; a null for what is absent. */
const nullMark = '-';

export function snapshotsToColumns(snapshots: readonly Snapshot[]): SnapshotColumns {
  const steps = new Map<number, StepProgress>();
  const columns: Record<string, (number | string | boolean | null)[]> = {};
  const put = (value: unknown, path: string, at: number): void => {
    if (value === undefined) return;
    if (typeof value === 'object' && value !== null) {
      for (const [name, part] of Object.entries(value))
        put(part, path === '' ? name : path + pathMark + name, at);
      return;
    }
    const column = (columns[path] ??= []);
    while (column.length < at) column.push(null);
    column.push(value === null ? nullMark : (value as number | string | boolean));
  };
  for (const [at, snapshot] of snapshots.entries()) {
    if (snapshot.step !== undefined) steps.set(snapshot.step.index, snapshot.step);
    put(secondOf(snapshot), '', at);
  }
  const agents = latestAgents(snapshots);
  return { count: snapshots.length, steps: [...steps.values()], agents, columns };
}

export function columnsToSnapshots({ count, steps, columns }: SnapshotColumns): Snapshot[] {
  const known = new Map(steps.map((step) => [step.index, step]));
  const seconds = Array.from({ length: count }, (): Record<string, unknown> => ({ errors: {} }));
  for (const [path, column] of Object.entries(columns)) {
    const names = path.split(pathMark);
    const last = names.pop()!;
    for (const [at, value] of column.entries()) {
      if (value === null) continue;
      let place = seconds[at]!;
      for (const name of names) place = (place[name] ??= {}) as Record<string, unknown>;
      place[last] = value === nullMark ? null : value;
    }
  }
  return seconds.map((second) => wholeSecond(second as unknown as HeldSecond, known));
}

const slower = (one: Snapshot, other: Snapshot): Snapshot =>
  (other.interval?.latencyUs.max ?? -1) > (one.interval?.latencyUs.max ?? -1) ? other : one;

function sameStage(one: Snapshot | undefined, other: Snapshot | undefined): boolean {
  return one?.phase === other?.phase && one?.step?.index === other?.step?.index;
}
