import { idMethods, type ContractMethods, type HubDialect } from '../base/message';
import {
  broadcast,
  connectOnly,
  echo,
  frequentJoinLeaveGroup,
  sendToClient,
  sendToGroup,
  streamingEcho,
} from './cases/hubSends';
import { invoke } from './cases/invoke';
import {
  restBroadcast,
  restPersistBroadcast,
  restPersistSendToGroup,
  restPersistSendToUser,
  restSendToGroup,
  restSendToUser,
} from './cases/restSends';
import { replay, session } from './cases/session';
import type { Parameters } from './parameters';
import type { StreamShape } from './streams';
import { hubRunOf, type UseCase, type HubMethod } from './useCase';

/** In the order people are shown them. */
export const useCases: readonly UseCase[] = [
  echo,
  broadcast,
  sendToClient,
  sendToGroup,
  streamingEcho,
  frequentJoinLeaveGroup,
  invoke,
  session,
  replay,
  connectOnly,
  restBroadcast,
  restSendToUser,
  restSendToGroup,
  restPersistBroadcast,
  restPersistSendToUser,
  restPersistSendToGroup,
];

/** By name or alias, in any letter case. */
export function findUseCase(name: string): UseCase | undefined {
  const wanted = name.toLowerCase();
  return useCases.find((useCase) =>
    [useCase.name, ...useCase.aliases].some((known) => known.toLowerCase() === wanted),
  );
}

export function streamsOf({ name, parameters }: Entry): StreamShape | undefined {
  const useCase = findUseCase(name);
  return useCase && hubRunOf(useCase, parameters).streams;
}

interface Entry {
  readonly name: string;
  readonly parameters: Parameters;
}

/** Methods of all use cases, and those that return ids. */
export function hubMethods(): HubMethod[] {
  const ids = (['callback', 'result'] as const).map((by): HubMethod => ({
    name: idMethods[by],
    action: { kind: 'id', by },
  }));
  const all = [...useCases.flatMap((useCase) => useCase.hubMethods ?? []), ...ids];
  return [...new Map(all.map((method) => [method.name, method])).values()];
}

/** Names of the use cases whose hub methods are all present. */
export function useCasesWith(present: ReadonlySet<string>, dialect: HubDialect): string[] {
  const isThere = ({ name, measureName }: HubMethod): boolean =>
    present.has(dialect === 'measure' ? (measureName ?? '') : name);
  return useCases.flatMap(({ name, hubMethods: needed }) =>
    needed?.every(isThere) === true ? [name] : [],
  );
}

export function contractMethods(): ContractMethods {
  const all = hubMethods();
  return {
    recordLatency: all.map(({ name }) => name),
    measure: all.flatMap(({ measureName }) => measureName ?? []),
    streams: all.filter(({ action }) => action.kind === 'stream').map(({ name }) => name),
  };
}
