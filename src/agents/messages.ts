/** Messages between agents and the coordinator of a run, and their subjects. */
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
  object,
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

export const joinSubject = 'signalr-bench.join';

export const allLogsSubject = 'signalr-bench.*.log.>';

/** Stream names have no dots. */
export const streamName = (log: string): string => log.replaceAll('.', '-');

const runIdPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Subjects of one run; those below `log` are kept. @throws ExpectedError `run-id` */
export function runSubjects(run: string) {
  if (!runIdPattern.test(run))
    throw new ExpectedError(
      'run-id',
      `“${run}” is not an id of a run: it has lower-case letters, digits and hyphens, at most 63.`,
    );
  const base = `signalr-bench.${run}`;
  const log = `${base}.log`;
  return {
    join: `${joinSubject}.${run}`,
    clock: `${base}.clock`,
    alive: `${base}.alive`,
    beats: `${base}.beat`,
    log,
    /** Places; each belongs to its first claim. */
    members: `${log}.member`,
    /** Claimed by the process that leads the run. */
    leader: `${log}.leader`,
    /** Messages of the coordinator, one subject per number: the run, then orders. */
    lead: `${log}.lead`,
    facts: `${log}.fact`,
    view: `${log}.view`,
    /** A viewer has the whole result: the run may go. */
    seen: `${base}.seen`,
    /** A viewer asks for an orderly end. */
    stop: `${base}.stop`,
  };
}

export type RunSubjects = Readonly<ReturnType<typeof runSubjects>>;

export interface JoinQuestion {
  readonly toolVersion: string;
  /** For `agents list`: unique while it waits, and its machine. */
  readonly id?: string;
  readonly host?: string;
}

export type JoinAnswer =
  | { readonly run: string; readonly agents: number }
  | { readonly refused: string };

export interface Member {
  readonly epoch: string;
  readonly host: string;
  readonly node?: string;
  readonly clock?: string;
  readonly cores: number;
  readonly fileDescriptors: number | null;
  readonly localPorts: number | null;
}

/** An agent builds the same plan from it as the coordinator, or leaves. */
export interface RunOrder {
  readonly type: 'run';
  readonly text: string;
  readonly overrides: readonly Override[];
  readonly files: Readonly<Record<string, string>>;
  readonly workersEach: number;
  readonly runId: number;
  readonly seed: number;
  readonly dialect: string;
  readonly planHash: string;
  readonly startedHub?: string;
  /** Zero of the run on the coordinator's clock, microseconds. */
  readonly originUs: number;
  readonly clock?: string;
}

export type LeadMessage = RunOrder | ToWorker | { readonly type: 'end' };

export interface NumberedOrder {
  /** From 1, without gaps. */
  readonly number: number;
  readonly order: LeadMessage;
}

/** Replies for one user of the bus: others may not hear them. */
export const inboxPrefix = (user: string): string => `_INBOX.${user}`;

/** Silence of the coordinator after which agents stop and viewers give up. */
export const usualSilenceMs = 60_000;

/** Sent by the coordinator four times a second. */
export interface Alive {
  readonly asks?: true;
  /** Last fact taken of each agent, once a second. */
  readonly taken?: readonly number[];
  readonly orders?: number;
}

export type AgentFact =
  | {
      readonly worker: number;
      readonly fact: FromWorker;
      /** A short membership report from before it. */
      readonly moved?: Omit<MembershipReport, 'worker'>;
    }
  | { readonly failed: string; readonly isInput: boolean }
  | { readonly leaving: string }
  | { readonly final: true };

export interface NumberedFact {
  readonly epoch: string;
  readonly number: number;
  readonly open: number;
  readonly cpuUs: number;
  readonly said: AgentFact;
}

export interface RunTitle {
  readonly file: string;
  readonly text: string;
  readonly startedAt: string;
  readonly url: string;
}

/** In order: agents, a title, snapshots, the result in parts or why there is none. */
export type ViewContent =
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

/** Numbers rise; known ones come again when the bus has lost its file. */
export type ViewMessage = { readonly number: number } & ViewContent;

/** Sent by an agent twice a second. */
export interface Beat {
  readonly epoch: string;
  readonly facts: number;
  readonly orders: number;
  readonly clockErrorUs: number;
}

/** The bus takes 1 MB at most. */
export const mostMessageBytes = 1_000_000;

const mostAgents = 1000;

/** Index of the agent from its subject below `above`; undefined for any other subject. */
export function agentIndexIn(subject: string, above: string): number | undefined {
  const name = subject.startsWith(`${above}.`) ? subject.slice(above.length + 1) : '';
  const place = Number(name);
  return /^\d{1,4}$/.test(name) && place < mostAgents && String(place) === name ? place : undefined;
}

/** Stands for equal counts: all latency is inside one agent. */
const sameAsLatency = 'latency';

/** Histogram counts become text. */
export const encodeMessage = (message: unknown): string =>
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

/** Half of what is read: redaction marks may be longer. */
export const cutForBus = (text: string): string => truncate(text, mostText / 2);

/** Undefined for anything malformed: anybody with the key of the bus may write. */
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
  object({ toolVersion: textUpTo(40), id: optional(isName), host: optional(isName) }),
);

export const readJoinAnswer = reader<JoinAnswer>(
  eitherOf(
    object({ refused: isText }),
    object({ refused: exactly(undefined), run: isText, agents: isAgentCount }),
  ),
);

const readOwnMember = reader<Member>(
  object({
    ...allOf(['epoch', 'host'], isName),
    ...allOf(['node', 'clock'], optional(isName)),
    cores: isCount,
    ...allOf(['fileDescriptors', 'localPorts'], isLimit),
  }),
);

/** Machine names go to terminals, pages and files unescaped. */
const nameOf = (text: string): string => text.replaceAll(/[^\w.:-]/g, '?').slice(0, 63);

export function readMember(text: string): Member | undefined {
  const member = readOwnMember(text);
  if (member === undefined) return undefined;
  const { host, node } = member;
  return { ...member, host: nameOf(host), ...(node !== undefined && { node: nameOf(node) }) };
}

export const readBeat = reader<Beat>(
  object({ epoch: isText, ...allOf(['facts', 'orders'], isCount), clockErrorUs: isAmount }),
);

export const readAlive = reader<Alive>(
  object({
    orders: optional(isCount),
    asks: optional(exactly(true)),
    taken: optional(list(isCount)),
  }),
);

const isRunOrder = object({
  text: isContent,
  ...allOf(['dialect', 'planHash'], isText),
  overrides: list(object({ path: isText, value: isContent })),
  files: record(() => true, isContent),
  ...allOf(['workersEach', 'runId', 'seed'], isCount),
  originUs: isAmount,
  ...allOf(['startedHub', 'clock'], optional(isText)),
});

/** Orders to workers are not checked: an agent trusts its coordinator. */
export const readOrder = reader<NumberedOrder>(
  object({
    number: isCount,
    order: (value) =>
      isObject(value) && isText(value['type']) && (value['type'] !== 'run' || isRunOrder(value)),
  }),
);

const numbered = (shape: Readonly<Record<string, Fits>>): Fits =>
  object({ number: isCount, ...shape });

export const readViewMessage = reader<ViewMessage>(
  oneOf({
    gathered: numbered({ agents: isCount, nodes: isNodes }),
    title: numbered({ text: isContent, ...allOf(['file', 'url'], isText), startedAt: isTime }),
    snapshot: numbered({ snapshot: isContent }),
    result: numbered({ text: isContent, ...allOf(['isFirst', 'isLast'], isFlag) }),
    failed: numbered({ text: isText }),
  }),
);

const isFact: Fits = (fact) => isCounted(fact, mostLevels) && isWorkerFact(fact);
const isReport: Fits = (value) => isObject(value) && isFact({ ...value, type: 'moved' });

const agentFacts: readonly (readonly [name: string, fits: Fits])[] = [
  ['fact', object({ worker: isCount, fact: isFact, moved: optional(isReport) })],
  ['failed', object({ failed: isText })],
  ['leaving', object({ leaving: isText })],
  ['final', object({ final: exactly(true) })],
];

const isAgentFact: Fits = (value) => {
  const found = isObject(value) ? agentFacts.find(([name]) => name in value) : undefined;
  return found?.[1](value) ?? false;
};

export const readFact = reader<NumberedFact>(
  object({
    epoch: isText,
    ...allOf(['number', 'open'], isCount),
    ...{ cpuUs: isAmount, said: isAgentFact },
  }),
);

const readOwner = reader<Pick<NumberedFact, 'epoch'>>(object({ epoch: isText }));

export const readEpoch = (text: string): string | undefined => readOwner(text)?.epoch;

/** Counts of calls of an entry in a step are nine deep. */
const mostLevels = 10;

/** Only numbers, short texts and flags, all the way down. Unpacks histograms; null bytes become NaN, for unknown. */
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
  // Counts are read-only: both may share them.
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

/** Equal hashes send, count and expect the same. */
export const planHash = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex');

const dialects: readonly Plan['dialect'][] = ['auto', 'recordLatency', 'measure'];

export const parseDialect = (text: string): Plan['dialect'] =>
  dialects.find((each) => each === text) ?? 'auto';

export const newRunId = (): string => randomBytes(4).toString('hex');
