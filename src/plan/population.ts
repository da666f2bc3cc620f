import { derangement, seededRandom, shuffled } from '../base/random';
import { numberOf } from '../usecases/parameterSpec';
import { findUseCase } from '../usecases/registry';
import type { Audience } from '../usecases/useCase';
import type { Plan } from './plan';

/** Largest number of sources a stamp can tell apart. */
export const maximumSources = 2 ** 26;

/**
 * Who sends to whom. A *source* is a sender's stream to one audience: sequence numbers rise within it.
 * A sender has one source, or one for each group it belongs to.
 */
export interface Population {
  readonly audience: Audience;
  readonly groupCount: number;
  /** Sources of each sender. */
  readonly sourcesPerSender: number;
  /** Connections in the order in which they become senders, step by step. */
  readonly senderOrder: Uint32Array;
  /** Group of a connection's slot, 0 ≤ slot < sourcesPerSender. */
  groupOf(connection: number, slot: number): number;
  /** The other connection a sender writes to for the whole run; undefined when it changes with each message. */
  readonly fixedTargets?: Uint32Array;
  /** Whether a message of the source is meant for the receiver. */
  isReceiver(source: number, receiver: number): boolean;
}

/** Derives the population from the plan; every worker gets the same. */
export function populationOf(plan: Plan): Population {
  const useCase = findUseCase(plan.useCase);
  if (useCase?.run === undefined) throw new Error(`use case ${plan.useCase} cannot be run`);
  const { audience } = useCase.run;
  const random = seededRandom(plan.seed);
  const { connections } = plan;
  const order = shuffled(connections, random);
  const everyoneOrSelf = {
    groupCount: 1,
    sourcesPerSender: 1,
    senderOrder: order,
    groupOf: () => 0,
  };
  switch (audience) {
    case 'self':
      return { audience, ...everyoneOrSelf, isReceiver: (source, receiver) => source === receiver };
    case 'everyone':
      return { audience, ...everyoneOrSelf, isReceiver: () => true };
    case 'client': {
      if (plan.parameters['targets'] === 'random') {
        return { audience, ...everyoneOrSelf, isReceiver: () => true };
      }
      const fixedTargets = derangement(connections, random);
      const isReceiver = (source: number, receiver: number): boolean =>
        fixedTargets[source] === receiver;
      return { audience, ...everyoneOrSelf, fixedTargets, isReceiver };
    }
    case 'group': {
      const groupCount = numberOf(plan.parameters, 'groupCount');
      const perConnection = Math.min(numberOf(plan.parameters, 'groupsPerConnection'), groupCount);
      const groupOf = (connection: number, slot: number): number =>
        (connection + slot) % groupCount;
      return {
        audience,
        groupCount,
        sourcesPerSender: perConnection,
        senderOrder:
          plan.parameters['sendersPer'] === 'group' ? dealtOverGroups(order, groupCount) : order,
        groupOf,
        isReceiver: (source, receiver) => {
          const group = groupOf(Math.floor(source / perConnection), source % perConnection);
          return (group - (receiver % groupCount) + groupCount) % groupCount < perConnection;
        },
      };
    }
  }
}

/**
 * Leaves those out that do not take part: their sender writes to the next one in the cycle instead, so
 * that again everybody writes to one other connection and is written to by one. Changes `targets`.
 */
export function leaveOut(targets: Uint32Array, takesPart: (connection: number) => boolean): void {
  const original = targets.slice();
  original.forEach((first, sender) => {
    if (!takesPart(sender)) return;
    let target = first;
    while (!takesPart(target)) target = original[target]!;
    targets[sender] = target;
  });
}

/** The same connections, so that each group in turn gets its next sender. */
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
