/** An emulator of Azure Web PubSub: clients of each subprotocol, REST calls and event handlers. */
import { inBackground } from '../../base/async';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ExpectedError } from '../../base/expectedError';
import {
  type ClientMessage,
  type Payload,
  findSubprotocol,
} from '../../wire/webpubsub/pubSubMessage';
import {
  loopbackHost,
  refuseUpgrade,
  type Terminable,
  type UpgradeRequest,
  guardAsync,
} from '../http/loopbackServer';
import { newConnectionId } from '../http/signalrClients';
import { WebSocketTransport } from '../http/transports';
import { HubClients } from '../hub/hubGroups';
import { Emulator } from '../service/emulator';
import { answerRest } from '../service/rest';
import type { WebPubSubEmulatorOptions } from '../service/emulatorOptions';
import {
  authorizeConnect,
  parseConnectRequest,
  type ConnectRequest,
  handleClientMessage,
  sendMessageEvent,
  eventSource,
} from './clientRequests';
import { PubSubClient, type Admission, type PubSubHost, type PubSubHub } from './client';
import { eventHandlerProblem, createSystemEvent, PubSubUpstream } from './pubSubUpstream';
import { webPubSubRest } from './pubSubRest';

export type WebPubSubEmulator = Pick<
  RunningEmulator,
  'accessKeys' | 'accessTokens' | 'connectionCount' | 'connectionString' | 'counts' | 'dispose'
>;

const maxMessageBytes = 1024 * 1024;

class RunningEmulator extends Emulator<Terminable> implements PubSubHost {
  readonly upstream: PubSubUpstream;
  readonly allowAnonymous: boolean;
  connectionCount = 0;
  private readonly hubs = new Map<string, PubSubHub>();
  private readonly chosen = new WeakMap<IncomingMessage, string>();
  readonly counts = { received: 0, delivered: 0 };

  constructor(options: WebPubSubEmulatorOptions) {
    super(options, maxMessageBytes);
    const { upstream: url, upstreamTimeoutMs = 10_000, allowAnonymous = false } = options;
    this.allowAnonymous = allowAnonymous;
    const handlers = url === undefined ? [] : [{ url }];
    this.upstream = new PubSubUpstream(handlers, upstreamTimeoutMs, () => this.accessKeys);
    this.sockets.options.handleProtocols = (_, request) => this.chosen.get(request) ?? false;
  }

  get connectionString(): string {
    return `Endpoint=http://${this.upstream.origin};AccessKey=${this.accessKey};Version=1.0;`;
  }

  override async listen(port?: number): Promise<void> {
    await super.listen(port);
    this.upstream.origin = `${loopbackHost}:${this.port}`;
  }

  hub(name: string): PubSubHub {
    return this.hubs.get(name) ?? new HubClients<PubSubClient>(name);
  }

  countDelivered(count: number): void {
    this.counts.delivered += count;
  }

  onMessage(client: PubSubClient, message: ClientMessage): void {
    this.counts.received++;
    handleClientMessage(this, client, message);
  }

  onRawFrame(client: PubSubClient, payload: Payload): void {
    this.counts.received++;
    sendMessageEvent(this, client, payload);
  }

  onEnd(client: PubSubClient, reason: string): void {
    const { hub } = client;
    this.connectionCount--;
    this.quota.release();
    if (hub.clients.size === 0) this.hubs.delete(hub.name);
    if (!this.isDisposed && this.upstream.wants(hub.name, 'sys', 'disconnected')) {
      inBackground(
        this.upstream.send(createSystemEvent('disconnected', { reason }), eventSource(client)),
      );
    }
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    answerRest(webPubSubRest, this, request, response);
  }

  protected upgrade(upgrade: UpgradeRequest): void {
    const connect = parseConnectRequest(upgrade.request);
    if ('status' in connect) {
      refuseUpgrade(upgrade.socket, connect);
      return;
    }
    const id = connect.query.get('awps_connection_id');
    const refusal = id === null ? this.quota.refusal() : undefined;
    if (id !== null) this.recover(id, connect, upgrade);
    else if (refusal === undefined) guardAsync(upgrade.socket, this.admit(connect, upgrade));
    else refuseUpgrade(upgrade.socket, refusal);
  }

  protected tick(): void {
    for (const hub of this.hubs.values()) {
      for (const client of hub.clients.values()) client.tick(this.tickMs);
    }
  }

  protected sayGoodbye(): void {
    for (const hub of [...this.hubs.values()]) {
      for (const client of [...hub.clients.values()]) client.end('The server stops.', 1001);
    }
  }

  private async admit(connect: ConnectRequest, upgrade: UpgradeRequest): Promise<void> {
    const { request, socket } = upgrade;
    const id = newConnectionId();
    this.quota.take();
    const admission = await authorizeConnect(this, request, connect, id);
    const before = this.connectionCount;
    if (this.isDisposed) socket.destroy();
    else if ('status' in admission) refuseUpgrade(socket, admission);
    else {
      if (admission.protocolName !== undefined) this.chosen.set(request, admission.protocolName);
      this.accept(upgrade, (accepted) => this.connected(connect.hub, id, admission, accepted));
    }
    if (this.connectionCount === before) this.quota.release();
  }

  private connected(
    hubName: string,
    id: string,
    admission: Admission,
    socket: WebSocketTransport,
  ): void {
    const hub = this.hub(hubName);
    const client = new PubSubClient(hub, id, admission, this);
    this.hubs.set(hubName, hub);
    hub.add(client);
    for (const group of admission.groups) hub.groups.join(client, group);
    this.connectionCount++;
    client.attach(socket);
    if (this.upstream.wants(hubName, 'sys', 'connected')) {
      inBackground(this.upstream.send(createSystemEvent('connected', {}), eventSource(client)));
    }
  }

  private recover(
    id: string,
    { hub, query, offered }: ConnectRequest,
    upgrade: UpgradeRequest,
  ): void {
    const client = this.hub(hub).clients.get(id);
    const token = query.get('awps_reconnection_token') ?? '';
    const [name = ''] = offered;
    const subprotocol = findSubprotocol(name);
    const mayRecover = client?.canRecover(token, subprotocol) === true;
    if (subprotocol !== undefined) this.chosen.set(upgrade.request, name);
    this.accept(upgrade, (accepted) => {
      if (mayRecover) client.attach(accepted);
      else accepted.close(1008, 'This connection cannot be recovered.');
    });
  }

  private accept(
    { request, socket, head }: UpgradeRequest,
    use: (accepted: WebSocketTransport) => void,
  ): void {
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      accepted.on('error', () => undefined);
      accepted.on('close', () => this.remove(accepted));
      this.add(accepted);
      use(new WebSocketTransport(accepted, socket));
    });
  }
}

/** @throws ExpectedError `port-taken` or `port-refused`; `bad-upstream` when the handler has no usable URL */
export async function startWebPubSubEmulator(
  options: WebPubSubEmulatorOptions = {},
): Promise<WebPubSubEmulator> {
  const problem =
    options.upstream === undefined ? undefined : eventHandlerProblem(options.upstream);
  if (problem !== undefined) throw new ExpectedError('bad-upstream', problem);
  const emulator = new RunningEmulator(options);
  await emulator.listen(options.port);
  return emulator;
}
