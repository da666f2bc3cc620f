/** What agents and the coordinator of a run say to each other, and where on the bus. */
import { createHash, randomBytes } from 'node:crypto';
import { ExpectedError } from '../base/expectedError';
import { truncate } from '../base/text';
import { type HistogramCounts, packCounts, unpackCounts } from '../measure/histogram';
import type { Plan } from '../plan/plan';
import type { FromWorker, MembershipReport, ToWorker } from '../messages/worker';
import type { Override } from '../scenario/read/overrides';
import {
  isWorkerFact,
  allOf,
  eitherOf,
  exactly,
  fields,
  type Fits,
  isAmount,
  isContent,
  isCount,
  isFlag,
  isObject,
  isText,
  list,
  mostText,
  oneOf,
  optional,
  record,
  textUpTo,
} from './factShape';

/** Where agents ask for a run that still has room. */
export const joinSubject = 'signalr-bench.join';

/** Subjects of the logs of all runs; nothing else is kept below them. */
export const everyLog = 'signalr-bench.*.log.>';

/** Stream of a log: its names have no dots. */
export const streamOf = (log: string): string => log.replaceAll('.', '-');

/** Ids of runs: short enough to be typed, and parts of names on the bus. */
const runIdPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Names of one run on the bus; what stands below `log` is kept. @throws ExpectedError `run-id` */
export function subjectsOf(run: string) {
  if (!runIdPattern.test(run))
    throw new ExpectedError(
      'run-id',
      `“${run}” is not an id of a run: it has lower-case letters, digits and hyphens, at most 63.`,
    );
  const base = `signalr-bench.${run}`;
  const log = `${base}.log`;
  return {
    /** Asked by an agent that wants to work for this run. */
    join: `${joinSubject}.${run}`,
    /** Questions for the reference time. */
    clock: `${base}.clock`,
    /** Signs of life. */
    alive: `${base}.alive`,
    beats: `${base}.beat`,
    log,
    /** Places of agents, taken by the first that claims them. */
    members: `${log}.member`,
    /** Taken by the process that leads the run: no other one begins it. */
    leader: `${log}.leader`,
    /** What the coordinator says to all, each in a subject of its own by its number: first how the run goes, then its orders. */
    lead: `${log}.lead`,
    facts: `${log}.fact`,
    /** What people see of the run, for whoever looks at it from elsewhere. */
    view: `${log}.view`,
    /** Asked by who has the whole result, so that the run may go. */
    seen: `${base}.seen`,
    /** Asked by who wants the run to end in order. */
    stop: `${base}.stop`,
  };
}

export type RunSubjects = Readonly<ReturnType<typeof subjectsOf>>;

/** An agent asks for work. */
export interface JoinQuestion {
  readonly toolVersion: string;
  /** Who waits, for whoever looks at the bus: a name for as long as it waits, and that of its machine. */
  readonly id?: string;
  readonly host?: string;
}

/** The answer: a run with room, or why there is none for this agent. */
export type JoinAnswer =
  | { readonly run: string; readonly agents: number }
  | { readonly refused: string };

/** A place in a run, as its agent describes itself. */
export interface Member {
  /** Drawn anew for each start of an agent. */
  readonly epoch: string;
  readonly host: string;
  /** Of the cluster, where there is one. */
  readonly node?: string;
  /** See `clockName`; absent where the system does not say. */
  readonly clock?: string;
  readonly cores: number;
  readonly fileDescriptors: number | null;
  readonly localPorts: number | null;
}

/** How the run goes: an agent makes the same plan of it as the coordinator, or leaves. */
export interface RunOrder {
  readonly type: 'run';
  /** Scenario file and what replaces keys of it. */
  readonly text: string;
  readonly overrides: readonly Override[];
  /** Of the files that the scenario names. */
  readonly files: Readonly<Record<string, string>>;
  readonly workersEach: number;
  readonly runId: number;
  readonly seed: number;
  readonly dialect: string;
  /** Of the plan, see `planHash`. */
  readonly planHash: string;
  /** Hub that the coordinator has started on its machine. */
  readonly startedHub?: string;
  /** Zero of the run on the coordinator's clock, microseconds. */
  readonly originUs: number;
  /** Of the coordinator; see {@link Member}. */
  readonly clock?: string;
}

/** `end`: whatever is going on, no more. */
export type LeadMessage = RunOrder | ToWorker | { readonly type: 'end' };

export interface NumberedOrder {
  /** From 1, without gaps. */
  readonly number: number;
  readonly order: LeadMessage;
}

/** Where answers come for a user of the bus: nobody has to hear those of others. */
export const inboxOf = (user: string): string => `_INBOX.${user}`;

/** Silence of the coordinator after which its agents stop by themselves, and nobody waits for its result any more. */
export const usualSilenceMs = 60_000;

/** A sign of life of the coordinator, four times a second. */
export interface Alive {
  /** Whether every agent is to answer with a beat. */
  readonly asks?: true;
  /** Once a second: the last fact of each agent that was taken, in the order of their places. */
  readonly taken?: readonly number[];
  /** Number of the last order; absent: the run has not begun. */
  readonly orders?: number;
}

/** What an agent reports beside the facts of its workers. */
export type AgentFact =
  | {
      readonly worker: number;
      readonly fact: FromWorker;
      /** What the worker has reported before it, where that is short. */
      readonly moved?: Omit<MembershipReport, 'worker'>;
    }
  /** It cannot take part, or not any more, in a sentence. */
  | { readonly failed: string; readonly isInput: boolean }
  /** It was asked to leave, by a signal or by whoever runs its machine. */
  | { readonly leaving: string }
  /** Nothing follows. */
  | { readonly final: true };

export interface NumberedFact {
  readonly epoch: string;
  /** From 1, without gaps. */
  readonly number: number;
  /** Connections of the agent that take part. */
  readonly open: number;
  /** CPU time of the agent since its workers started, microseconds. */
  readonly cpuUs: number;
  readonly said: AgentFact;
}

/** What a view begins with. */
export interface RunTitle {
  /** File name of the scenario, its text without secrets, and when the run began. */
  readonly file: string;
  readonly text: string;
  readonly startedAt: string;
  /** Of the target, as it may be shown. */
  readonly url: string;
}

/** In the order in which they come: who is there, a title, snapshots, then the result in parts, or why there is none. */
export type ViewContent =
  /** Machines of the agents that have come, of so many that are waited for. */
  | { readonly type: 'gathered'; readonly nodes: readonly string[]; readonly agents: number }
  | ({ readonly type: 'title' } & RunTitle)
  | { readonly type: 'snapshot'; readonly snapshot: string }
  | {
      readonly type: 'result';
      readonly isFirst: boolean;
      readonly isLast: boolean;
      readonly text: string;
    }
  | { readonly type: 'failed'; readonly text: string };

/** Rising numbers; one that came before comes again when the bus has lost its file. */
export type ViewMessage = { readonly number: number } & ViewContent;

/** Twice a second, kept nowhere. */
export interface Beat {
  readonly epoch: string;
  /** Of the last fact that was reported, and of the last order that was taken. */
  readonly facts: number;
  readonly orders: number;
  /** How far the agent's clock may be off, microseconds, the most of the last seconds. */
  readonly clockErrorUs: number;
}

/** Larger messages are no one's of ours; the bus takes at most 1 MB by itself. */
export const mostMessageBytes = 1_000_000;

const mostAgents = 1000;

/** Number of the agent whose subject below `above` this is, from 0; undefined for any other subject. */
export function placeOf(subject: string, above: string): number | undefined {
  const name = subject.startsWith(`${above}.`) ? subject.slice(above.length + 1) : '';
  const place = Number(name);
  return /^\d{1,4}$/.test(name) && place < mostAgents && String(place) === name ? place : undefined;
}

/** In place of the latency inside one agent where that is all there is. */
const sameAsLatency = 'latency';

/** Counts of histograms become text. */
export const encode = (message: unknown): string =>
  JSON.stringify(
    message,
    function (this: Readonly<Record<string, unknown>>, key: string, value: unknown) {
      if (value instanceof Float64Array) return Buffer.from(packCounts(value)).toString('base64');
      const isTwice = key === 'latencySameAgent' && isSame(this['latency'], value);
      return isTwice ? sameAsLatency : value;
    },
  );

function isSame(all: unknown, inside: unknown): boolean {
  const [a, b] = [all, inside] as (HistogramCounts | undefined)[];
  const isIt = a?.pairs.length === b?.pairs.length && a?.sumUs === b?.sumUs;
  return (
    a !== undefined && b !== undefined && isIt && a.pairs.every((each, at) => each === b.pairs[at])
  );
}

/** What is said is cut to half of what is read, as marks in the place of secrets may be longer. */
export const cutToShow = (text: string): string => truncate(text, mostText / 2);

/** Undefined for what is none of ours: whoever has the key of the bus may write anything on it. */
const reader =
  <T>(fits: Fits) =>
  (text: string): T | undefined => {
    if (text.length > mostMessageBytes) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      return fits(value) ? (value as T) : undefined;
    } catch {
      return undefined;
    }
  };

const isName = textUpTo(255);
const isLimit = eitherOf(exactly(null), isAmount);
const isAgentCount: Fits = (value) => isCount(value) && Number(value) <= mostAgents;
const isTime: Fits = (value) => isText(value) && !Number.isNaN(Date.parse(String(value)));
const isNodes: Fits = (value) =>
  Array.isArray(value) && value.length <= mostAgents && value.every(isText);

export const readJoinQuestion = reader<JoinQuestion>(
  fields({ toolVersion: textUpTo(40), id: optional(isName), host: optional(isName) }),
);

export const readJoinAnswer = reader<JoinAnswer>(
  eitherOf(
    fields({ refused: isText }),
    fields({ refused: exactly(undefined), run: isText, agents: isAgentCount }),
  ),
);

const readOwnMember = reader<Member>(
  fields({
    ...allOf(['epoch', 'host'], isName),
    ...allOf(['node', 'clock'], optional(isName)),
    cores: isCount,
    ...allOf(['fileDescriptors', 'localPorts'], isLimit),
  }),
);

/** What a machine is called goes to terminals, pages and files as it is. */
const nameOf = (text: string): string => text.replaceAll(/[^\w.:-]/g, '?').slice(0, 63);

export function readMember(text: string): Member | undefined {
  const member = readOwnMember(text);
  if (member === undefined) return undefined;
  const { host, node } = member;
  return { ...member, host: nameOf(host), ...(node !== undefined && { node: nameOf(node) }) };
}

export const readBeat = reader<Beat>(
  fields({ epoch: isText, ...allOf(['facts', 'orders'], isCount), clockErrorUs: isAmount }),
);

export const readAlive = reader<Alive>(
  fields({
    orders: optional(isCount),
    asks: optional(exactly(true)),
    taken: optional(list(isCount)),
  }),
);

const isRunOrder = fields({
  text: isContent,
  ...allOf(['dialect', 'planHash'], isText),
  overrides: list(fields({ path: isText, value: isContent })),
  files: record(() => true, isContent),
  ...allOf(['workersEach', 'runId', 'seed'], isCount),
  originUs: isAmount,
  ...allOf(['startedHub', 'clock'], optional(isText)),
});

/** Orders to workers are taken as they come: an agent goes where its coordinator sends it. */
export const readOrder = reader<NumberedOrder>(
  fields({
    number: isCount,
    order: (value) =>
      isObject(value) && isText(value['type']) && (value['type'] !== 'run' || isRunOrder(value)),
  }),
);

const numbered = (shape: Readonly<Record<string, Fits>>): Fits =>
  fields({ number: isCount, ...shape });

export const readViewMessage = reader<ViewMessage>(
  oneOf({
    gathered: numbered({ agents: isCount, nodes: isNodes }),
    title: numbered({ text: isContent, ...allOf(['file', 'url'], isText), startedAt: isTime }),
    snapshot: numbered({ snapshot: isContent }),
    result: numbered({ text: isContent, ...allOf(['isFirst', 'isLast'], isFlag) }),
    failed: numbered({ text: isText }),
  }),
);

/** Counts are unpacked by the way, so that their shape can be seen. */
const isFact: Fits = (fact) => isCounted(fact, mostLevels) && isWorkerFact(fact);
const isReport: Fits = (value) => isObject(value) && isFact({ ...value, type: 'moved' });

/** By its first name among these, as it is looked at then. */
const agentFacts: readonly (readonly [name: string, fits: Fits])[] = [
  ['fact', fields({ worker: isCount, fact: isFact, moved: optional(isReport) })],
  ['failed', fields({ failed: isText })],
  ['leaving', fields({ leaving: isText })],
  ['final', fields({ final: exactly(true) })],
];

const isAgentFact: Fits = (value) => {
  const found = isObject(value) ? agentFacts.find(([name]) => name in value) : undefined;
  return found?.[1](value) ?? false;
};

export const readFact = reader<NumberedFact>(
  fields({
    epoch: isText,
    ...allOf(['number', 'open'], isCount),
    ...{ cpuUs: isAmount, said: isAgentFact },
  }),
);

const readOwner = reader<Pick<NumberedFact, 'epoch'>>(fields({ epoch: isText }));

/** Whose a fact is, where all else of it cannot be read. */
export const readEpoch = (text: string): string | undefined => readOwner(text)?.epoch;

/** Of objects and lists: counts of the calls of an entry in a step have nine. */
const mostLevels = 10;

/**
 * Numbers, short texts and marks all the way down: what is added up must be something to add. Counts of histograms are
 * unpacked, and what JSON has no number for is none again: bytes that nobody can see.
 */
function isCounted(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return isText(value);
  if (typeof value === 'boolean' || value === undefined) return true;
  if (typeof value !== 'object' || value === null || levels === 0) return false;
  if (Array.isArray(value)) return value.every((each) => isCounted(each, levels - 1));
  const parts = value as Record<string, unknown>;
  for (const name of Object.keys(parts)) {
    const part = parts[name];
    if (name === 'pairs') {
      const pairs =
        typeof part === 'string' ? unpackCounts(Buffer.from(part, 'base64')) : undefined;
      if (pairs === undefined) return false;
      parts[name] = pairs;
    } else if (part === null && unseenBytes.has(name)) parts[name] = NaN;
    else if (!isCounted(part, levels - 1)) return false;
  }
  // Nobody writes into counts: both may be the same ones.
  if (parts['latencySameAgent'] === sameAsLatency) parts['latencySameAgent'] = parts['latency'];
  return true;
}

const unseenBytes = new Set([
  'payloadBytesIn',
  'payloadBytesOut',
  'wireBytesIn',
  'wireBytesOut',
  'wireBytesOutLater',
  'bytes',
]);

/** Two agents with one hash send, count and expect the same. */
export const planHash = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex');

const dialects: readonly Plan['dialect'][] = ['auto', 'recordLatency', 'measure'];

/** As it stands in an order. */
export const dialectOf = (text: string): Plan['dialect'] =>
  dialects.find((each) => each === text) ?? 'auto';

/** Short enough to be typed on other machines. */
export const newRunId = (): string => randomBytes(4).toString('hex');
