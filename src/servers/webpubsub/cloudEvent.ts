import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { isJson } from '../../wire/hub/jsonScan';
import type { DataType, Payload } from '../../wire/webpubsub/pubSubMessage';

export const systemEvents = ['connect', 'connected', 'disconnected'] as const;

/** What happens to clients by itself. */
export type SystemEvent = (typeof systemEvents)[number];

/** One event on its way to a handler. */
export interface CloudEvent {
  readonly kind: 'sys' | 'user';
  /** Such as `connect`, or what the client has called it. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** The client an event is about. */
export interface EventSource {
  readonly hub: string;
  readonly connectionId: string;
  readonly userId: string | undefined;
  readonly subprotocol: string | undefined;
  /** What the handler has asked to get back with every event. */
  readonly connectionState: string | undefined;
}

const jsonType = 'application/json; charset=utf-8';

/** Content types of payloads on their way to handlers. */
const contentTypes: Readonly<Record<DataType, string>> = {
  json: jsonType,
  text: 'text/plain; charset=utf-8',
  binary: 'application/octet-stream',
  protobuf: 'application/x-protobuf',
};

/** The payload of an HTTP body by its content type; undefined for a type that stands for none. */
export function payloadOfBody(contentType: string | undefined, bytes: Buffer): Payload | undefined {
  const type = (contentType ?? 'application/octet-stream').split(';', 1)[0]!.trim().toLowerCase();
  for (const dataType of ['json', 'text', 'binary', 'protobuf'] as const) {
    if (contentTypes[dataType].split(';', 1)[0] === type) return { dataType, bytes };
  }
  return undefined;
}

/**
 * Why a payload of an HTTP body cannot go to clients: text goes into text frames as it is, and JSON into
 * JSON. Behind "is"; undefined when it can.
 */
export function payloadProblem({ dataType, bytes }: Payload): string | undefined {
  if (dataType === 'json') {
    if (!isUtf8(bytes)) return 'no UTF-8 text';
    return isJson(bytes) ? undefined : 'no JSON, or nested too deeply';
  }
  return dataType === 'text' && !isUtf8(bytes) ? 'no UTF-8 text' : undefined;
}

export const systemEvent = (name: SystemEvent, body: object): CloudEvent => ({
  kind: 'sys',
  name,
  contentType: jsonType,
  body: Buffer.from(JSON.stringify(body)),
});

export const userEvent = (name: string, { dataType, bytes }: Payload): CloudEvent => ({
  kind: 'user',
  name,
  contentType: contentTypes[dataType],
  body: bytes,
});

/** HMACs of the connection id with each access key, by which a handler knows who calls. */
export function signature(accessKeys: readonly string[], connectionId: string): string {
  return accessKeys
    .map((key) => `sha256=${createHmac('sha256', key).update(connectionId).digest('hex')}`)
    .join(',');
}

/** HTTP headers hold printable ASCII; the rest is percent-encoded. How the service writes it is not documented. */
const headerText = (text: string): string =>
  text.replace(/[^\x20-\x7e]+/g, (part) =>
    Buffer.from(part, 'utf8').toString('hex').toUpperCase().replace(/../g, '%$&'),
  );

/** The attributes of an event as headers of its POST. */
export function eventHeaders(
  event: CloudEvent,
  source: EventSource,
  more: { readonly id: number; readonly signature: string; readonly origin: string },
): Record<string, string> {
  const { hub, connectionId, userId, subprotocol, connectionState } = source;
  return {
    'Content-Type': event.contentType,
    'Content-Length': String(event.body.length),
    'WebHook-Request-Origin': more.origin,
    'ce-specversion': '1.0',
    'ce-type': headerText(`azure.webpubsub.${event.kind}.${event.name}`),
    'ce-source': `/hubs/${hub}/client/${connectionId}`,
    'ce-id': String(more.id),
    'ce-time': new Date().toISOString(),
    'ce-signature': more.signature,
    'ce-hub': hub,
    'ce-connectionId': connectionId,
    'ce-eventName': headerText(event.name),
    'ce-awpsversion': '1.0',
    ...(userId !== undefined && { 'ce-userId': headerText(userId) }),
    ...(subprotocol !== undefined && { 'ce-subprotocol': headerText(subprotocol) }),
    ...(connectionState !== undefined && { 'ce-connectionState': connectionState }),
  };
}
