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
import { sendToClient } from './sendToClient';
import { sendToGroup } from './sendToGroup';
import { streamingEcho } from './streamingEcho';
import type { UseCase } from './useCase';

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
