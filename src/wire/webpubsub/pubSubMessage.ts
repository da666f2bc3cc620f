/**
 * Messages between Azure Web PubSub and its PubSub clients. The types and the readers of both formats follow one
 * table.
 */

export interface Subprotocol {
  readonly name: string;
  readonly format: 'json' | 'protobuf';
  /** Messages are numbered and acknowledged, and a lost socket can be replaced. */
  readonly isReliable: boolean;
}

export const subprotocols: readonly Subprotocol[] = [
  { name: 'json.webpubsub.azure.v1', format: 'json', isReliable: false },
  { name: 'json.reliable.webpubsub.azure.v1', format: 'json', isReliable: true },
  { name: 'protobuf.webpubsub.azure.v1', format: 'protobuf', isReliable: false },
  { name: 'protobuf.reliable.webpubsub.azure.v1', format: 'protobuf', isReliable: true },
];

export const findSubprotocol = (name: string): Subprotocol | undefined =>
  subprotocols.find((subprotocol) => subprotocol.name === name);

/** An unsigned 64-bit id: a bigint only beyond the safe integers. */
export type WireId = number | bigint;

export const maxWireId = 2n ** 64n - 1n;

export const wireId = (value: bigint): WireId =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

/** Undefined where `read` throws a SyntaxError, because the frame is malformed. */
export function readOrUndefined<Message>(read: () => Message): Message | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const dataTypes = ['json', 'text', 'binary', 'protobuf'] as const;

/** `protobuf` is an encoded `google.protobuf.Any`. */
export type DataType = (typeof dataTypes)[number];

export interface Payload {
  readonly dataType: DataType;
  /** UTF-8 of text and JSON, raw bytes of the others. */
  readonly bytes: Buffer;
}

export const noData: Payload = { dataType: 'json', bytes: Buffer.from('null') };

export const isDataType = (text: unknown): text is DataType =>
  dataTypes.some((dataType) => dataType === text);

export interface MessageError {
  readonly name: string;
  readonly message: string;
}

export interface MemberKinds {
  readonly text: string;
  readonly 'text?': string | undefined;
  readonly sender: 'group' | 'server';
  readonly id: WireId;
  readonly 'id?': WireId | undefined;
  readonly flag: boolean;
  readonly payload: Payload;
  readonly 'error?': MessageError | undefined;
}
/** Each member with its protobuf field; 0 where only JSON has it. */
export type Members = Readonly<Record<string, readonly [keyof MemberKinds, number]>>;
/** Messages by type, with the protobuf fields that lead to them. */
export type Messages = Readonly<
  Record<string, { readonly path: readonly number[]; readonly members: Members }>
>;
export type MessageIn<Of extends Messages> = {
  readonly [Type in keyof Of]: { readonly type: Type } & {
    readonly [Name in keyof Of[Type]['members']]: MemberKinds[Of[Type]['members'][Name][0]];
  };
}[keyof Of];

const membership = { group: ['text', 1], ackId: ['id?', 2] } as const;

export const clientMessages = {
  sendToGroup: {
    path: [1],
    members: { ...membership, payload: ['payload', 3], noEcho: ['flag', 4] },
  },
  event: { path: [5], members: { event: ['text', 1], payload: ['payload', 2], ackId: ['id?', 3] } },
  joinGroup: { path: [6], members: membership },
  leaveGroup: { path: [7], members: membership },
  sequenceAck: { path: [8], members: { sequenceId: ['id', 1] } },
} as const satisfies Messages;

export const jsonClientMessages = {
  ...clientMessages,
  ping: { path: [], members: {} },
  invoke: {
    path: [],
    members: { invocationId: ['text', 0], event: ['text', 0], payload: ['payload', 0] },
  },
  cancelInvocation: { path: [], members: { invocationId: ['text', 0] } },
} as const satisfies Messages;

export const serverMessages = {
  ack: { path: [1], members: { ackId: ['id', 1], success: ['flag', 2], error: ['error?', 3] } },
  message: {
    path: [2],
    members: {
      /** Only in reliable subprotocols: above 0, and growing. */
      sequenceId: ['id?', 4],
      from: ['sender', 1],
      group: ['text?', 2],
      fromUserId: ['text?', 0],
      payload: ['payload', 3],
    },
  },
  /** Repeated after a recovery, with a new token; only reliable subprotocols have one. */
  connected: {
    path: [3, 1],
    members: {
      connectionId: ['text', 1],
      userId: ['text?', 2],
      reconnectionToken: ['text?', 3],
    },
  },
  disconnected: { path: [3, 2], members: { message: ['text', 2] } },
} as const satisfies Messages;

export type ProtobufClientMessage = MessageIn<typeof clientMessages>;
export type ProtobufServerMessage = MessageIn<typeof serverMessages>;

export type ClientMessage =
  | MessageIn<typeof jsonClientMessages>
  | { readonly type: 'stream'; readonly streamId: string };

export type SendToGroup = Extract<ClientMessage, { type: 'sendToGroup' }>;
export type DataMessage = Extract<ProtobufServerMessage, { type: 'message' }>;

export type ServerMessage =
  | ProtobufServerMessage
  | { readonly type: 'pong' }
  | {
      readonly type: 'invokeResponse';
      readonly invocationId: string;
      readonly success: boolean;
      readonly payload: Payload | undefined;
      readonly error: MessageError | undefined;
    }
  | { readonly type: 'streamClosed'; readonly streamId: string; readonly error: MessageError };
