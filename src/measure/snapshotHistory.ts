import type { Snapshot, StepProgress } from './snapshot';
import type { AgentProgress } from './summary';

/**
 * Warm-ups and measured times to come, without connecting and draining; undefined before the first step, and in a
 * search.
 */
export function remainingRunS(
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
