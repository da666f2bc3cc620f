import { broadcast } from './broadcast';
import { connectOnly } from './connectOnly';
import { echo } from './echo';
import { frequentJoinLeaveGroup } from './frequentJoinLeaveGroup';
import { invoke } from './invoke';
import {
  restBroadcast,
  restPersistBroadcast,
  restPersistSendToGroup,
  restPersistSendToUser,
  restSendToGroup,
  restSendToUser,
} from './restSends';
import type { Parameters } from './parameterSpec';
import { sendToClient } from './sendToClient';
import { sendToGroup } from './sendToGroup';
import { streamingEcho } from './streamingEcho';
import type { StreamShape } from './streams';
import { hubRunOf, type UseCase } from './useCase';

/** All use cases, in the order people are shown them. */
export const useCases: readonly UseCase[] = [
  echo,
  broadcast,
  sendToClient,
  sendToGroup,
  streamingEcho,
  frequentJoinLeaveGroup,
  invoke,
  connectOnly,
  restBroadcast,
  restSendToUser,
  restSendToGroup,
  restPersistBroadcast,
  restPersistSendToUser,
  restPersistSendToGroup,
];

/** The use case of that name or alias, in any letter case; undefined when there is none. */
export function findUseCase(name: string): UseCase | undefined {
  const wanted = name.toLowerCase();
  return useCases.find((useCase) =>
    [useCase.name, ...useCase.aliases].some((known) => known.toLowerCase() === wanted),
  );
}

/** What the streams of an entry are like; undefined when it sends none. */
export function streamsOf({ name, parameters }: Entry): StreamShape | undefined {
  const useCase = findUseCase(name);
  return useCase && hubRunOf(useCase, parameters).streams;
}

interface Entry {
  readonly name: string;
  readonly parameters: Parameters;
}
