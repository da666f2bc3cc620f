/**
 * Names that the bench contracts fix whatever is sent: the callback of each contract, how a connection joins
 * and leaves a group, and how it learns its id. Methods of single use cases are theirs, see
 * `src/usecases/hubMethods.ts`.
 */
export const callbacks = { recordLatency: 'RecordLatency', measure: 'Measure' } as const;
export const membershipMethods = { join: 'JoinGroup', leave: 'LeaveGroup' } as const;
/** The id as the result, and as a call of the client method of the same name. */
export const idMethods = { result: 'GetConnectionId', callback: 'ConnectionId' } as const;

/** Dialects of the bench contract. */
export type HubDialect = 'recordLatency' | 'measure';

/** Names of the methods of each contract. */
export type ContractMethods = Readonly<Record<HubDialect, readonly string[]>>;
