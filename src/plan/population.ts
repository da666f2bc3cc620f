import { derangement, shuffled, type Random } from '../base/random';
import {
  audienceOfStep,
  callsOf,
  sparesCaller,
  stepsIn,
  type SessionRun,
} from '../usecases/sessionSteps';
import { mostOpenStreams, sourcesOfStreams, type StreamShape } from '../usecases/streams';
import type { Audience } from '../usecases/useCase';
import { agentsOf, connectionsOfAgent } from './agents';
import type { Plan, PlanEntry, PlanStep } from './plan';
import { randomFor } from './draws';

/**
 * Who sends to whom in one entry of a plan. A *source* is a sender's stream to one audience: sequence
 * numbers rise within it. A sender has one source, or one for each group it sends to. Sources and
 * groups are counted from 0 within the entry; in stamps and in shared memory those of all entries
 * follow one another.
 */
export interface Population {
  readonly audience: Audience;
  /** Added to a source in a stamp; the entry has `sources` of them. */
  readonly firstSource: number;
  readonly sources: number;
  /** Added to a group where the members of all entries' groups are counted; the same where entries share them. */
  readonly firstGroup: number;
  readonly groupCount: number;
  readonly sourcesPerSender: number;
  /** In the order in which they become senders, step by step; no connection is in those of two entries. */
  readonly senderOrder: Uint32Array;
  /** Those that do not send move in and out of the groups; in sessions those that do, by calls of theirs. */
  readonly othersMove: boolean;
  /** Where messages go to groups: those of its first slots. */
  readonly groupsPerConnection: number;
  /** 0 ≤ slot < sourcesPerSender. */
  groupOf(connection: number, slot: number): number;
  /** Name of a group of this run; the run's id keeps concurrent runs apart. */
  groupName(group: number): string;
  /** The other connection a sender writes to for the whole run; undefined when it changes with each message. */
  readonly fixedTargets?: Uint32Array;
  /** Whether a message of the source is meant for the receiver. */
  isReceiver(source: number, receiver: number): boolean;
}

type Meant = Pick<Population, 'isReceiver' | 'fixedTargets'> &
  Partial<Pick<Population, 'groupCount' | 'groupsPerConnection' | 'sourcesPerSender' | 'groupOf'>>;

/** Whether its messages have several receivers, of which one is the last. */
export const reachesMany = ({ audience }: Pick<Population, 'audience'>): boolean =>
  audience === 'everyone' || audience === 'group';

/** One for each entry; every worker gets the same. */
export function populationsOf(plan: Plan): Population[] {
  const random = randomFor(plan, 'population');
  // Those that are open in a small step of a search for connections must be able to send in it.
  const isListed = plan.inOrder === true || plan.search?.of === 'connections';
  let left = isListed ? inOrder(plan.connections) : shuffled(plan.connections, random);
  let [firstSource, groups] = [0, 0];
  const shared = new Map<string, Pick<Population, 'firstGroup' | 'groupName'>>();
  return plan.entries.map((entry, position) => {
    const { audience, othersMove = false, session } = entry.run;
    const { groupCount = 1, sourcesPerSender = 1, ...meant } = meantBy(plan, position, random);
    if (entry.groups?.dealsSenders === true) left = dealtOverGroups(left, groupCount);
    // The last one's order goes on with those that never send.
    const last = position === plan.entries.length - 1;
    const mine = last ? left.length : sendersUpTo(plan, position, plan.steps.length);
    const prefix = plan.entries.length > 1 ? `${position + 1}_` : '';
    const { sharedAs } = entry.groups ?? {};
    const known = sharedAs === undefined ? undefined : shared.get(sharedAs);
    const named = known ?? {
      firstGroup: groups,
      groupName: (group) =>
        `${entry.useCase}_${plan.runId.toString(16).padStart(8, '0')}_${prefix}${group}`,
    };
    if (sharedAs !== undefined) shared.set(sharedAs, named);
    const population: Population = {
      groupOf: () => 0,
      groupsPerConnection: 1,
      ...meant,
      audience,
      othersMove: othersMove || session?.joins === true,
      firstSource,
      sources: plan.connections * sourcesPerSender,
      ...named,
      groupCount,
      sourcesPerSender,
      senderOrder: left.subarray(0, mine),
    };
    left = left.subarray(mine);
    firstSource += population.sources;
    if (known === undefined) groups += groupCount;
    return population;
  });
}

/** Of all entries together. */
export const groupsIn = (populations: readonly Population[]): number =>
  Math.max(...populations.map(({ firstGroup, groupCount }) => firstGroup + groupCount));

const inOrder = (count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, index) => index);

function meantBy(plan: Plan, position: number, random: Random): Meant {
  const entry = plan.entries[position]!;
  const { audience, streams, session } = entry.run;
  if (session !== undefined) return meantBySession(plan, entry, session, random);
  switch (audience) {
    case 'nobody':
      return { isReceiver: () => false };
    case 'self':
      if (streams !== undefined) return meantByStreams(streams);
      return { isReceiver: (source, receiver) => source === receiver };
    case 'everyone':
      return { isReceiver: () => true };
    case 'client': {
      if (entry.targets === 'random') return { isReceiver: () => true };
      const fixedTargets = fixedTargetsOf(plan, random);
      return {
        fixedTargets,
        isReceiver: (source, receiver) => fixedTargets[source] === receiver,
      };
    }
    case 'group': {
      const { count: groupCount, perConnection } = entry.groups!;
      const sourcesPerSender = entry.targets === 'random' ? groupCount : perConnection;
      const groupOf = (connection: number, slot: number): number =>
        (connection + slot) % groupCount;
      return {
        groupCount,
        groupsPerConnection: perConnection,
        sourcesPerSender,
        groupOf,
        isReceiver: (source, receiver) => {
          const sender = Math.floor(source / sourcesPerSender);
          const group = groupOf(sender, source % sourcesPerSender);
          return (group - (receiver % groupCount) + groupCount) % groupCount < perConnection;
        },
      };
    }
  }
}

/** Each call of a session is a source of its own. */
function meantBySession(
  plan: Plan,
  { groups }: PlanEntry,
  session: SessionRun,
  random: Random,
): Meant {
  const calls = callsOf(stepsIn(session)).map(({ step }) => step);
  const audiences = calls.map(audienceOfStep);
  const spared = calls.map(sparesCaller);
  const count = audiences.length;
  const groupCount = groups?.count ?? 1;
  const groupOf = (connection: number): number => connection % groupCount;
  const fixedTargets = audiences.includes('client') ? fixedTargetsOf(plan, random) : undefined;
  return {
    ...{ groupCount, sourcesPerSender: count, groupOf },
    ...(fixedTargets && { fixedTargets }),
    isReceiver: (source, receiver) => {
      const sender = Math.floor(source / count);
      if (spared[source % count]! && sender === receiver) return false;
      switch (audiences[source % count]!) {
        case 'nobody':
          return false;
        case 'self':
          return sender === receiver;
        case 'everyone':
          return true;
        case 'client':
          return fixedTargets![sender] === receiver;
        case 'group':
          return groupOf(sender) === groupOf(receiver);
      }
    },
  };
}

/** Of each connection another one, which is of the same agent: only its own knows who is there. */
function fixedTargetsOf(plan: Plan, random: Random): Uint32Array {
  const agents = agentsOf(plan);
  if (agents === 1) return derangement(plan.connections, random);
  const targets = new Uint32Array(plan.connections);
  for (let agent = 0; agent < agents; agent++) {
    const own = connectionsOfAgent(plan, agent);
    const order = derangement(own.length, random);
    own.forEach((connection, at) => (targets[connection] = own[order[at]!]!));
  }
  return targets;
}

function meantByStreams({ direction, own }: StreamShape): Meant {
  // What comes of one's own streams has no stamp.
  const comesBack = direction !== 'upload' && own === undefined;
  return {
    sourcesPerSender: sourcesOfStreams,
    isReceiver: (source, receiver) =>
      comesBack &&
      Math.floor(source / sourcesOfStreams) === receiver &&
      source % sourcesOfStreams < mostOpenStreams,
  };
}

export function sendersOf({ senders, perEntry }: PlanStep, position: number): number {
  return perEntry === undefined ? senders : perEntry[position]!;
}

/** Most senders of an entry in any step up to that one (from 1). */
function sendersUpTo({ steps }: Plan, position: number, step: number): number {
  return Math.max(0, ...steps.slice(0, step).map((one) => sendersOf(one, position)));
}

/** Connections that send for no entry in any step up to that one (from 1). */
export function silentUpTo(plan: Plan, all: readonly Population[], step: number): Uint32Array {
  return Uint32Array.from(
    all.flatMap(({ senderOrder }, position) => [
      ...senderOrder.subarray(sendersUpTo(plan, position, step)),
    ]),
  );
}

/** −1 when the source belongs to none. */
export function entryOfSource(populations: readonly Population[], source: number): number {
  for (let position = 0; position < populations.length; position++) {
    const { firstSource, sources } = populations[position]!;
    if (source < firstSource + sources) return position;
  }
  return -1;
}

/** Who does not take part is left out of `targets`, in place: senders write to the next in the cycle instead. */
export function leaveOut(targets: Uint32Array, takesPart: (connection: number) => boolean): void {
  const original = targets.slice();
  original.forEach((first, sender) => {
    if (!takesPart(sender)) return;
    let target = first;
    while (!takesPart(target)) target = original[target]!;
    targets[sender] = target;
  });
}

function dealtOverGroups(order: Uint32Array, groupCount: number): Uint32Array {
  const taken = new Map<number, number>();
  const rounds = Array.from(order, (connection) => {
    const group = connection % groupCount;
    const round = taken.get(group) ?? 0;
    taken.set(group, round + 1);
    return { connection, group, round };
  });
  rounds.sort((a, b) => a.round - b.round || a.group - b.group);
  return Uint32Array.from(rounds, (entry) => entry.connection);
}

/** Positions in the sender order that belong to a worker, rising; see {@link import('./pace').Pace}. */
export function ranksOf(
  senderOrder: Uint32Array,
  senders: number,
  worker: number,
  workers: number,
): Uint32Array {
  const ranks: number[] = [];
  for (let rank = 0; rank < senders; rank++)
    if (senderOrder[rank]! % workers === worker) ranks.push(rank);
  return Uint32Array.from(ranks);
}
