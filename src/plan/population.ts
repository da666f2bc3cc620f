import { derangement, shuffled, type Random } from '../base/random';
import {
  audienceOfStep,
  listCalls,
  excludesCaller,
  stepsIn,
  type SessionRun,
} from '../usecases/sessionSteps';
import { mostOpenStreams, sourcesOfStreams, type StreamShape } from '../usecases/streams';
import type { Audience } from '../usecases/useCase';
import { agentCount, connectionsOfAgent, type Plan, type PlanEntry, type PlanStep } from './plan';
import { randomFor } from './draws';

/**
 * Who sends to whom in one entry. A *source* is a sender's sequence of messages to one audience: one per sender, or
 * one per group it sends to. Sources and groups count from 0 within the entry; stamps and shared memory number those
 * of all entries consecutively.
 */
export interface Population {
  readonly audience: Audience;
  /** Offset of the entry's sources in stamps. */
  readonly firstSource: number;
  readonly sources: number;
  /** Offset of its groups in shared memory; equal for entries that share groups. */
  readonly firstGroup: number;
  readonly groupCount: number;
  readonly sourcesPerSender: number;
  /** In the order in which they become senders; a connection sends for one entry only. */
  readonly senderOrder: Uint32Array;
  /** Connections that do not send move between groups; in sessions the senders do, by calls. */
  readonly othersMove: boolean;
  /** Groups each connection joins: its first slots. */
  readonly groupsPerConnection: number;
  groupOf(connection: number, slot: number): number;
  /** Contains the run id, so that concurrent runs do not mix. */
  groupName(group: number): string;
  /** By sender: its one receiver; undefined when each message has another. */
  readonly fixedTargets?: Uint32Array;
  /** Whether messages of the source go to the receiver. */
  isReceiver(source: number, receiver: number): boolean;
}

type Meant = Pick<Population, 'isReceiver' | 'fixedTargets'> &
  Partial<Pick<Population, 'groupCount' | 'groupsPerConnection' | 'sourcesPerSender' | 'groupOf'>>;

export const hasManyReceivers = ({ audience }: Pick<Population, 'audience'>): boolean =>
  audience === 'everyone' || audience === 'group';

/** One per entry; the same in every worker. */
export function populationsOf(plan: Plan): Population[] {
  const random = randomFor(plan, 'population');
  // A search for connections needs senders among the first ones.
  const isListed = plan.inOrder === true || plan.search?.of === 'connections';
  let left = isListed ? inOrder(plan.connections) : shuffled(plan.connections, random);
  let [firstSource, groups] = [0, 0];
  const shared = new Map<string, Pick<Population, 'firstGroup' | 'groupName'>>();
  return plan.entries.map((entry, position) => {
    const { audience, othersMove = false, session } = entry.run;
    const { groupCount = 1, sourcesPerSender = 1, ...meant } = meantBy(plan, position, random);
    if (entry.groups?.dealsSenders === true) left = dealtOverGroups(left, groupCount);
    // The last entry's order includes those that never send.
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

export const countGroups = (populations: readonly Population[]): number =>
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

/** Each call of a session is a source. */
function meantBySession(
  plan: Plan,
  { groups }: PlanEntry,
  session: SessionRun,
  random: Random,
): Meant {
  const calls = listCalls(stepsIn(session)).map(({ step }) => step);
  const audiences = calls.map(audienceOfStep);
  const spared = calls.map(excludesCaller);
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

/** Another connection of the same agent, which alone knows whether it is open. */
function fixedTargetsOf(plan: Plan, random: Random): Uint32Array {
  const agents = agentCount(plan);
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
  // Items of the user's own streams have no stamp.
  const comesBack = direction !== 'upload' && own === undefined;
  return {
    sourcesPerSender: sourcesOfStreams,
    isReceiver: (source, receiver) =>
      comesBack &&
      Math.floor(source / sourcesOfStreams) === receiver &&
      source % sourcesOfStreams < mostOpenStreams,
  };
}

export function senderCount({ senders, perEntry }: PlanStep, position: number): number {
  return perEntry === undefined ? senders : perEntry[position]!;
}

function sendersUpTo({ steps }: Plan, position: number, step: number): number {
  return Math.max(0, ...steps.slice(0, step).map((one) => senderCount(one, position)));
}

/** Connections that send for no entry up to that step (from 1). */
export function nonSendersUpTo(plan: Plan, all: readonly Population[], step: number): Uint32Array {
  return Uint32Array.from(
    all.flatMap(({ senderOrder }, position) => [
      ...senderOrder.subarray(sendersUpTo(plan, position, step)),
    ]),
  );
}

export function entryIndexOfSource(populations: readonly Population[], source: number): number {
  for (let position = 0; position < populations.length; position++) {
    const { firstSource, sources } = populations[position]!;
    if (source < firstSource + sources) return position;
  }
  return -1;
}

/** Removes absent connections from `targets` in place: their senders write to the next in the cycle. */
export function skipAbsentTargets(
  targets: Uint32Array,
  takesPart: (connection: number) => boolean,
): void {
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

/** Ranks in `senderOrder` of the senders that belong to a worker, rising. */
export function senderRanksOfWorker(
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
