import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { callbacks } from '../../base/message';
import { withoutEnd } from '../../base/text';
import { hubMethods } from '../../usecases/registry';
import type { HubDeed } from '../../usecases/useCase';
import { codecOf } from '../../wire/webpubsub/webPubSubCodec';
import type { HubCodec } from '../../wire/message/hubCodec';
import { hubMessageType, HubMessageError, type Invocation } from '../../wire/message/hubMessage';
import type { RestCalls, RestReceiver, ServiceFailure } from '../../wire/rest/restCalls';

/** What a bench method does: an answer to the caller, or a call of the REST API. */
type Deed =
  | { readonly result: string }
  | ((calls: RestCalls) => Promise<ServiceFailure | undefined>);

/**
 * Answers an event of Azure SignalR Service in serverless mode: the bench methods, by REST calls where a hub
 * would call its clients. Source: "Upstream endpoints", heading "Request header" and below.
 */
export async function answerHubEvent(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  application: Application,
): Promise<void> {
  const { status, completion } = await outcomeOf(request.headers, body, application);
  response.writeHead(status, {
    'Content-Type': headerIn(request.headers, 'content-type'),
    'Content-Length': completion?.length ?? 0,
  });
  response.end(completion);
}

export interface Application {
  /** Undefined after a sign-in. */
  readonly accessKey: string | undefined;
  readonly calls: RestCalls;
  readonly onProblem: (text: string) => void;
}

function headerIn(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

async function outcomeOf(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { accessKey, calls, onProblem }: Application,
): Promise<{ readonly status: number; readonly completion?: Uint8Array }> {
  const connectionId = headerIn(headers, 'x-asrs-connection-id');
  const signature = headerIn(headers, 'x-asrs-signature');
  if (!isSigned(signature, connectionId, accessKey)) {
    onProblem(wrongSignature);
    return { status: 401 };
  }
  if (headerIn(headers, 'x-asrs-category') !== 'messages') return { status: 200 };
  const inMessagePack = headerIn(headers, 'content-type').includes('msgpack');
  const codec = codecOf(inMessagePack ? 'messagepack' : 'json');
  const invocation = invocationIn(codec, body);
  if (invocation === undefined) return { status: 400 };
  const deed = deedOf(invocation, connectionId);
  if (deed === undefined) return { status: 404 };
  const { invocationId } = invocation;
  const failure = typeof deed === 'function' ? await deed(calls) : undefined;
  if (failure !== undefined) {
    const reason = withoutEnd(failure.text, '. \t\r\n');
    onProblem(`The upstream handler could not send a message: ${reason}.`);
    return { status: 502 };
  }
  if (invocationId === undefined) return { status: 200 };
  const result = 'result' in deed ? { result: deed.result } : {};
  return {
    status: 200,
    completion: codec.encode({ type: hubMessageType.completion, invocationId, ...result }),
  };
}

function invocationIn(codec: HubCodec, body: Buffer): Invocation | undefined {
  try {
    const span = { start: 0, end: body.length, next: body.length };
    // In JSON the separator may be missing at the end.
    if (codec.protocol !== 'json' || body.at(-1) === 0x1e) codec.find(body, 0, body.length, span);
    const message = codec.read(body, span.start, span.end);
    return message?.type === hubMessageType.invocation ? message : undefined;
  } catch (error) {
    if (error instanceof HubMessageError) return undefined;
    throw error;
  }
}

/** What the bench methods do, by their names in lower case. */
const methods = new Map(hubMethods().map((method) => [method.name.toLowerCase(), method.does]));

function deedOf({ target, arguments: args }: Invocation, connectionId: string): Deed | undefined {
  const does = methods.get(target.toLowerCase());
  const [first] = args;
  switch (does?.kind) {
    case 'deliver': {
      const receiver = receiverOf(does, first, connectionId);
      const message = { target: callbacks.recordLatency, arguments: args };
      return receiver && ((calls) => calls.sent(receiver, Buffer.from(JSON.stringify(message))));
    }
    case 'id':
      return does.by === 'result' ? { result: connectionId } : undefined;
    case 'membership': {
      const change = does.change === 'join' ? 'PUT' : 'DELETE';
      if (typeof first !== 'string') return undefined;
      return (calls) => calls.changeGroup(change, connectionId, first);
    }
    default:
      return undefined;
  }
}

function receiverOf(
  does: Extract<HubDeed, { kind: 'deliver' }>,
  dictionary: unknown,
  connectionId: string,
): RestReceiver | undefined {
  if (!('receiverKey' in does))
    return does.to === 'caller' ? { kind: 'connection', id: connectionId } : { kind: 'all' };
  const members = dictionary as Readonly<Record<string, unknown>> | null | undefined;
  const text = members?.[does.receiverKey];
  if (typeof text !== 'string') return undefined;
  return does.to === 'group' ? { kind: 'group', group: text } : { kind: 'connection', id: text };
}

export const wrongSignature =
  'The upstream handler refused an event with 401: it is not signed with the access key of the connection string.';

/**
 * Whether a service has signed an event: `sha256=<hex>` for each of its keys, separated by commas, over
 * the id of the connection. The services differ in the case of the digits.
 * @param accessKey undefined where somebody has signed in instead: nothing can be checked then
 */
export function isSigned(
  header: string | undefined,
  connectionId: string | undefined,
  accessKey: string | undefined,
): boolean {
  if (accessKey === undefined) return true;
  if (header === undefined || connectionId === undefined) return false;
  const wanted = createHmac('sha256', accessKey).update(connectionId).digest();
  return header.split(',', 4).some((part) => {
    const [, digits] = /^\s*sha256=([0-9a-f]{64})\s*$/i.exec(part) ?? [];
    return digits !== undefined && timingSafeEqual(Buffer.from(digits, 'hex'), wanted);
  });
}
