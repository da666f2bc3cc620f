import type { HubMessage } from '../../wire/message/hubMessage';
import { MessagePackExtension } from '../../wire/message/messagePack';
import type {
  Payload,
  ProtobufClientMessage,
  ProtobufServerMessage,
  WireId,
} from '../../wire/webpubsub/pubSubMessage';
import type { RecordedPubSub } from '../recording';

/** A value of MessagePack in JSON, with the forms that a recording has for what JSON cannot say. */
export function recordedValue(value: unknown): unknown {
  if (typeof value === 'bigint') return { $integer: String(value) };
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $float: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return { $bytes: base64(value) };
  if (value instanceof MessagePackExtension)
    return { $extension: [value.type, base64(value.data)] };
  if (Array.isArray(value)) return value.map(recordedValue);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, recordedValue(member)]),
  );
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

export function recordedHubMessage(message: HubMessage): HubMessage {
  if ('arguments' in message)
    return { ...message, arguments: message.arguments.map(recordedValue) };
  if ('item' in message) return { ...message, item: recordedValue(message.item) };
  if ('result' in message) return { ...message, result: recordedValue(message.result) };
  return message;
}

/** A message of the protobuf subprotocols in the members of the JSON ones. */
export function recordedProtobuf(
  message: ProtobufClientMessage | ProtobufServerMessage,
): RecordedPubSub {
  const { type } = message;
  switch (type) {
    case 'connected': {
      const { userId } = message;
      return { type: 'system', event: type, ...(userId !== undefined && { userId }) };
    }
    case 'disconnected':
      return { type: 'system', event: type, message: message.message };
    default: {
      const { payload, ...members } = { payload: undefined, ...message };
      return { ...withIds(members), ...(payload !== undefined && recordedPayload(payload)) };
    }
  }
}

function withIds(members: Readonly<Record<string, unknown>> & { type: string }): RecordedPubSub {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  ) as unknown as RecordedPubSub & Record<'ackId', WireId>;
}

export function recordedPayload({
  dataType,
  bytes,
}: Payload): Pick<RecordedPubSub, 'dataType' | 'data'> {
  switch (dataType) {
    case 'json':
      return { dataType, data: JSON.parse(bytes.toString('utf8')) as unknown };
    case 'text':
      return { dataType, data: bytes.toString('utf8') };
    default:
      return { dataType, data: bytes.toString('base64') };
  }
}
