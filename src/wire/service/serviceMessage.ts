/**
 * Messages between an app server and Azure SignalR Service, as data. Source: the service protocol's
 * specification (`specs/ServiceProtocol.md` of Azure/azure-signalr) and frames recorded from its .NET SDK.
 *
 * Members that may be absent on the wire, or nil there, are optional here.
 */

/** The number that begins a message. */
export const serviceType = {
  handshakeRequest: 1,
  handshakeResponse: 2,
  ping: 3,
  openConnection: 4,
  closeConnection: 5,
  connectionData: 6,
  multiConnectionData: 7,
  userData: 8,
  multiUserData: 9,
  broadcastData: 10,
  joinGroup: 11,
  leaveGroup: 12,
  groupBroadcastData: 13,
  multiGroupBroadcastData: 14,
  serviceError: 15,
  userJoinGroup: 16,
  userLeaveGroup: 17,
  joinGroupWithAck: 18,
  leaveGroupWithAck: 19,
  ack: 20,
  checkUserInGroupWithAck: 21,
  serviceEvent: 22,
  checkGroupExistenceWithAck: 23,
  checkConnectionExistenceWithAck: 24,
  checkUserExistenceWithAck: 25,
  userJoinGroupWithAck: 26,
  userLeaveGroupWithAck: 27,
  accessKeyRequest: 28,
  accessKeyResponse: 29,
  closeConnectionWithAck: 30,
  closeConnectionsWithAck: 31,
  closeUserConnectionsWithAck: 32,
  closeGroupConnectionsWithAck: 33,
  clientInvocation: 34,
  clientCompletion: 35,
  errorCompletion: 36,
  serviceMapping: 37,
  connectionReconnect: 38,
  connectionFlowControl: 39,
  groupMemberQuery: 40,
  getConnectionClaims: 42,
  updateConnectionClaims: 43,
} as const;

/** `connectionType` of a handshake. */
export const serverConnectionType = { default: 0, onDemand: 1, weak: 2 } as const;
/** `dataType` of ConnectionData: what hub message the payload is. */
export const dataType = { unknown: 0, handshake: 1, invocation: 2, other: 3, close: 4 } as const;
/** `status` of an Ack. */
export const ackStatus = { ok: 1, notFound: 2, timeout: 3, internalServerError: 4 } as const;
/** `operation` of ConnectionFlowControl; its `connectionType` is 1 for clients, 2 for servers. */
export const flowOperation = { pause: 1, pauseAck: 2, resume: 3, offline: 4 } as const;
export const flowConnectionType = { client: 1, server: 2 } as const;

/** Whole hub frames by the name of their hub protocol, in wire order. */
export type Payloads = readonly (readonly [protocol: string, frame: Buffer])[];
/** A type may occur several times. */
export type Claims = readonly (readonly [type: string, value: string])[];
export type Headers = readonly (readonly [name: string, values: readonly string[]])[];

interface Traced {
  readonly tracingId?: bigint;
}
interface WithAck extends Traced {
  readonly ackId: number;
}
interface Sent extends Traced {
  readonly payloads?: Payloads;
  readonly filter?: string;
}
interface InvocationOfClient extends Traced {
  /** Not that of the hub message of a caller: ids are unique within the service. */
  readonly invocationId: string;
  readonly connectionId: string;
  readonly callerServerId: string;
}

/** What each type carries besides its number. */
interface ServiceFields {
  1: {
    readonly version: number;
    readonly connectionType: number;
    /** Only written for on-demand connections. */
    readonly target: string;
    readonly migrationLevel: number;
    /** SDKs before 1.26 leave it out. */
    readonly allowStatefulReconnects?: boolean;
  };
  2: { readonly errorMessage?: string; readonly connectionId?: string };
  /** Keys and values in turn; a value may be nil. */
  3: { readonly messages: readonly (string | null)[] };
  4: Traced & {
    readonly connectionId: string;
    readonly claims: Claims;
    readonly headers?: Headers;
    readonly queryString?: string;
    readonly protocol?: string;
  };
  5: Traced & {
    readonly connectionId: string;
    readonly errorMessage: string;
    readonly headers?: Headers;
  };
  6: Traced & {
    readonly connectionId: string;
    readonly payload: Buffer;
    readonly dataType?: number;
    /** The hub message goes on in the next ConnectionData. */
    readonly isPartial?: boolean;
  };
  7: Sent & { readonly connectionIds: readonly string[] };
  8: Sent & { readonly userId: string };
  9: Sent & { readonly userIds: readonly string[] };
  10: Sent & { readonly excludedConnectionIds?: readonly string[] };
  11: Traced & { readonly connectionId: string; readonly groupName: string };
  12: Traced & { readonly connectionId: string; readonly groupName: string };
  13: Sent & {
    readonly groupName: string;
    readonly excludedConnectionIds?: readonly string[];
    readonly excludedUserIds?: readonly string[];
    readonly callerUserId?: string;
  };
  14: Sent & { readonly groupNames: readonly string[] };
  15: { readonly errorMessage: string };
  16: Traced & { readonly userId: string; readonly groupName: string; readonly ttl?: number };
  /** Without a group the user leaves all. */
  17: Traced & { readonly userId: string; readonly groupName?: string };
  18: WithAck & { readonly connectionId: string; readonly groupName: string };
  19: WithAck & { readonly connectionId: string; readonly groupName: string };
  20: {
    readonly ackId: number;
    readonly status: number;
    readonly message: string;
    /** null is written as nil; SDKs before 1.26 leave it out. */
    readonly payload?: Buffer | null;
  };
  21: WithAck & { readonly userId: string; readonly groupName: string };
  22: {
    readonly objectType: number;
    readonly id: string;
    readonly kind: number;
    readonly message: string;
  };
  23: WithAck & { readonly groupName: string };
  24: WithAck & { readonly connectionId: string };
  25: WithAck & { readonly userId: string };
  26: WithAck & { readonly userId: string; readonly groupName: string; readonly ttl?: number };
  27: WithAck & { readonly userId: string; readonly groupName?: string };
  28: { readonly token: string; readonly kid?: string };
  29: {
    readonly kid?: string;
    readonly accessKey?: string;
    readonly errorType?: string;
    readonly errorMessage?: string;
  };
  30: WithAck & { readonly connectionId: string; readonly reason?: string };
  31: WithAck & { readonly reason?: string; readonly excludedConnectionIds?: readonly string[] };
  32: WithAck & {
    readonly userId: string;
    readonly reason?: string;
    readonly excludedConnectionIds?: readonly string[];
  };
  33: WithAck & {
    readonly groupName: string;
    readonly reason?: string;
    readonly excludedConnectionIds?: readonly string[];
  };
  34: InvocationOfClient & { readonly payloads?: Payloads };
  35: InvocationOfClient & { readonly protocol?: string; readonly payload: Buffer };
  36: InvocationOfClient & { readonly error: string };
  37: {
    readonly invocationId: string;
    readonly connectionId: string;
    readonly instanceId: string;
  };
  38: { readonly connectionId: string };
  39: {
    readonly connectionId: string;
    readonly connectionType: number;
    readonly operation: number;
  };
  40: WithAck & {
    readonly groupName: string;
    readonly top?: number;
    readonly continuationToken?: string;
  };
  42: { readonly connectionToken: string; readonly ackId: number };
  43: { readonly connectionId: string; readonly claims: Claims };
}

export type ServiceTypeNumber = keyof ServiceFields;
/** A message of one type. */
export type ServiceMessageOf<Type extends ServiceTypeNumber> = {
  readonly [Each in Type]: { readonly type: Each } & ServiceFields[Each];
}[Type];
export type ServiceMessage = ServiceMessageOf<ServiceTypeNumber>;
/** Names of what a type carries. */
export type FieldName<Type extends ServiceTypeNumber> = keyof ServiceFields[Type] & string;
