/** Event handler of an application: answers events that the services send over HTTP. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Endpoint, ServiceAccess, ServicePass } from '../../base/endpoint';
import { callbacks } from '../../base/message';
import { trimEndCharacters } from '../../base/text';
import { hubMethods } from '../../usecases/registry';
import type { DeliverAction } from '../../usecases/useCase';
import { AccessTokens } from '../../wire/connect/accessTokens';
import { hubMessageType, HubMessageError, type Invocation } from '../../wire/message/hubMessage';
import type { HubCodec } from '../../wire/message/hubCodec';
import { RestCalls, type RestReceiver, type ServiceFailure } from '../../wire/rest/restCalls';
import { codecForProtocol } from '../../wire/connect/connectHub';
import {
  listenOnLoopback,
  loopbackHost,
  loopbackServer,
  reply,
  stopServer,
  readBody,
  guardAsync,
} from '../http/loopbackServer';

/** The services carry 1 MB; JSON of Web PubSub a third more, for base64. */
const maximumBodyBytes = 2 * 1024 * 1024;

export interface UpstreamHandlerOptions {
  readonly endpoint: Endpoint;
  readonly service: ServiceAccess;
  readonly publicHost?: string | undefined;
}

interface UpstreamHandler {
  readonly url: string;
  renew(pass: ServicePass): void;
  dispose(): Promise<void>;
}

/**
 * Answers events as the bench methods of a hub would.
 * @param port 0 takes any free one
 * @param onProblem gets why an event was not answered as it should be
 * @throws ExpectedError `port-taken` or `port-refused`
 */
export async function upstreamHandler(
  { endpoint, service, publicHost }: UpstreamHandlerOptions,
  port: number,
  onProblem: (text: string) => void,
): Promise<UpstreamHandler> {
  const accessKey = 'accessKey' in service ? service.accessKey : undefined;
  const tokens = new AccessTokens(service);
  const calls = new RestCalls(endpoint, service, tokens);
  const handle = async (event: Event): Promise<Answer> => {
    const isCloudEvent = event.header('ce-type') !== '';
    const signature = event.header(isCloudEvent ? 'ce-signature' : 'x-asrs-signature');
    const signed = event.header(isCloudEvent ? 'ce-connectionid' : 'x-asrs-connection-id');
    if (!isSigned(signature, signed, accessKey)) {
      onProblem(
        'The upstream handler refused an event with 401: it is not signed with the access key of the connection string.',
      );
      return { status: 401 };
    }
    return isCloudEvent ? answerCloudEvent(event) : answerHubEvent(event, calls, onProblem);
  };
  const server = loopbackServer({
    publicHost,
    answer: (request, response) => {
      const { method, headers } = request;
      const header = (name: string): string => String(headers[name] ?? '');
      // Abuse protection of CloudEvents: events are authenticated by signature.
      if (method === 'OPTIONS') {
        reply(response, 200, '', { 'WebHook-Allowed-Origin': '*' });
        return;
      }
      const take = (body: Buffer): void =>
        guardAsync(
          response,
          handle({ header, body }).then(({ status, headers, body: answer }) =>
            reply(response, status, answer, headers),
          ),
        );
      readBody(request, response, maximumBodyBytes, take);
    },
  });
  const taken = await listenOnLoopback(server, port);
  return {
    url: `http://${loopbackHost}:${taken}/`,
    renew: (pass) => tokens.renew(pass),
    dispose: () => {
      calls.close();
      return stopServer(server);
    },
  };
}

interface Event {
  readonly header: (name: string) => string;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/**
 * Azure SignalR Service in serverless mode: bench methods, by REST calls. Source: "Upstream endpoints", heading
 * "Request header" and below.
 */
async function answerHubEvent(
  { header, body }: Event,
  calls: RestCalls,
  onProblem: (text: string) => void,
): Promise<Answer> {
  if (header('x-asrs-category') !== 'messages') return { status: 200 };
  const contentType = header('content-type');
  const codec = codecForProtocol(contentType.includes('msgpack') ? 'messagepack' : 'json');
  const invocation = invocationIn(codec, body);
  if (invocation === undefined) return { status: 400 };
  const deed = actionFor(invocation, header('x-asrs-connection-id'));
  if (deed === undefined) return { status: 404 };
  const { invocationId } = invocation;
  const failure = typeof deed === 'function' ? await deed(calls) : undefined;
  if (failure !== undefined) {
    const reason = trimEndCharacters(failure.text, '. \t\r\n');
    onProblem(`The upstream handler could not send a message: ${reason}.`);
    return { status: 502 };
  }
  if (invocationId === undefined) return { status: 200 };
  const result = 'result' in deed ? { result: deed.result } : {};
  const completion = { type: hubMessageType.completion, invocationId, ...result };
  return {
    status: 200,
    headers: { 'Content-Type': contentType },
    body: codec.encode(completion),
  };
}

function invocationIn(codec: HubCodec, body: Buffer): Invocation | undefined {
  try {
    const span = { start: 0, end: body.length, next: body.length };
    if (codec.protocol !== 'json' || body.at(-1) === 0x1e) codec.find(body, 0, body.length, span);
    const message = codec.read(body, span.start, span.end);
    return message?.type === hubMessageType.invocation ? message : undefined;
  } catch (error) {
    if (error instanceof HubMessageError) return undefined;
    throw error;
  }
}

type Action =
  | { readonly result: string }
  | ((calls: RestCalls) => Promise<ServiceFailure | undefined>);

const methods = new Map(hubMethods().map(({ name, action }) => [name.toLowerCase(), action]));

function actionFor(
  { target, arguments: args }: Invocation,
  connectionId: string,
): Action | undefined {
  const action = methods.get(target.toLowerCase());
  const [first] = args;
  switch (action?.kind) {
    case 'deliver': {
      const receiver = receiverOf(action, first, connectionId);
      const message = { target: callbacks.recordLatency, arguments: args };
      return (
        receiver && ((calls) => calls.sendAndWait(receiver, Buffer.from(JSON.stringify(message))))
      );
    }
    case 'id':
      return action.by === 'result' ? { result: connectionId } : undefined;
    case 'membership': {
      const change = action.change === 'join' ? 'PUT' : 'DELETE';
      if (typeof first !== 'string') return undefined;
      return (calls) => calls.changeGroup(change, connectionId, first);
    }
    default:
      return undefined;
  }
}

function receiverOf(
  action: DeliverAction,
  dictionary: unknown,
  connectionId: string,
): RestReceiver | undefined {
  if (!('receiverKey' in action))
    return action.to === 'caller' ? { kind: 'connection', id: connectionId } : { kind: 'all' };
  const members = dictionary as Readonly<Record<string, unknown>> | null | undefined;
  const text = members?.[action.receiverKey];
  if (typeof text !== 'string') return undefined;
  return action.to === 'group' ? { kind: 'group', group: text } : { kind: 'connection', id: text };
}

/**
 * Azure Web PubSub: echoes messages of clients. Source: "CloudEvents extension for Azure Web PubSub", heading
 * "Events".
 */
function answerCloudEvent({ header, body }: Event): Answer {
  const isMessage = header('ce-type').startsWith('azure.webpubsub.user.') && body.length > 0;
  if (!isMessage) return { status: 204 };
  const contentType = header('content-type') || 'application/octet-stream';
  return { status: 200, headers: { 'Content-Type': contentType }, body };
}

/**
 * Checks `sha256=<hex>`, for each key and comma-separated, over the connection id.
 * @param accessKey undefined where an identity signs in: no check is possible
 */
function isSigned(header: string, connectionId: string, accessKey: string | undefined): boolean {
  if (accessKey === undefined) return true;
  const wanted = createHmac('sha256', accessKey).update(connectionId).digest();
  return header.split(',', 4).some((part) => {
    const [, digits] = /^\s*sha256=([0-9a-f]{64})\s*$/i.exec(part) ?? [];
    return digits !== undefined && timingSafeEqual(Buffer.from(digits, 'hex'), wanted);
  });
}
