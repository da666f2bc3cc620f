/**
 * The bench hub as ASP.NET SignalR serves it. Source of its answers: `PersistentConnection`, `HubDispatcher` and
 * the transports of SignalR/SignalR.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  answerPreflight,
  loopbackHost,
  readBody,
  refuse,
  refuseUpgrade,
  reply,
  normalizedPathAndQuery,
  type UpgradeRequest,
} from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import type { BenchHubOptions } from '../hub/benchHubOptions';
import {
  type Audience,
  type BenchContext,
  type GroupChange,
  invokeBenchMethod,
} from '../hub/benchMethods';
import { BenchServer, defaultMaxBytes, type BenchHub } from '../hub/benchHub';
import type { FrameSource } from '../hubProtocol/protocols';
import {
  ClassicCaller,
  ClassicConnection,
  type ClassicHost,
  EventsTransport,
  jsonType,
  PollResponseTransport,
  SocketTransport,
  type ClassicTransport,
} from './classicConnection';
import {
  classicHubName,
  type ClassicMessage,
  classicProtocol,
  readClassicMessage,
  type ClassicClient,
  ClassicTokens,
  readClassicClient,
  createGroupsToken,
  readConnectionData,
  isRefusal,
  negotiateResponse,
  readGroupsToken,
} from './classicProtocol';

const mostConnections = 100_000;
const mostWaitingBytes = 128 * 1024 * 1024;
const mostHeld = 10_000;
const mostClosed = 10_000;
const endpoint = '/signalr/';
const notFound: Refusal = {
  status: 404,
  text: 'This hub speaks the protocol of ASP.NET SignalR, below /signalr. For a scenario that is connectionType: AspNet; a hub of ASP.NET Core is served without --classic.',
};
const full: Refusal = {
  status: 503,
  text: `There are ${mostConnections} connections already.`,
  headers: { 'Retry-After': '1' },
};

const wrongMethod: Refusal = {
  status: 405,
  text: 'This method is not served here.',
  headers: { Allow: 'GET, POST' },
};
const noSocket: Refusal = { status: 400, text: 'Not a valid web socket request.' };
/** Source: `aspnet:MaxHttpCollectionKeys`, its default. */
const mostFields = 1000;
const manyFields: Refusal = { status: 400, text: `A form has at most ${mostFields} fields.` };
const ended = 'This connection has ended.';
const badCall: Refusal = {
  status: 500,
  text: `A send has to be a call of the hub ${classicHubName}: {"H":…,"M":…,"A":[…],"I":…}.`,
};

class RunningClassicHub
  extends BenchServer<ClassicConnection>
  implements BenchContext, ClassicHost
{
  readonly keepAliveMs: number;
  readonly keepAliveTimeoutMs: number;
  // Source of the times: `DefaultConfigurationManager`.
  readonly pollTimeoutMs = 110_000;
  readonly disconnectTimeoutMs = 30_000;
  private readonly maxPostBytes: number;
  private readonly closed = new Map<string, string>();
  private readonly tokens = new ClassicTokens();
  private readonly cursorPrefix = `d-${randomBytes(4).toString('hex').toUpperCase()}-`;
  private news: ClassicConnection[] = [];
  private held: (() => void)[] = [];
  private openCount = 0;
  private waitingBytes = 0;

  constructor(options: BenchHubOptions) {
    super(options);
    // A form takes up to three times the JSON text.
    this.maxPostBytes = options.maxPostBytes ?? 3 * defaultMaxBytes;
    this.keepAliveMs = options.keepAliveMs ?? 10_000;
    // Source: `MissedTimeoutsBeforeClientReconnect` of `ConfigurationExtensions`.
    this.keepAliveTimeoutMs = 2 * this.keepAliveMs;
  }

  onRelease(): void {
    if (this.isHeld) return;
    for (const connection of this.all) connection.resumeReading();
    const { held } = this;
    this.held = [];
    for (const call of held) call();
  }

  override async listen(port?: number): Promise<void> {
    await super.listen(port);
    this.url = `http://${loopbackHost}:${this.port}/${classicHubName.toLowerCase()}`;
  }

  scheduleFlush(connection: ClassicConnection): void {
    if (this.news.push(connection) === 1) process.nextTick(() => this.flushNews());
  }

  addWaitingBytes({ waitingBytes }: ClassicConnection, addedBytes: number): boolean {
    this.waitingBytes += addedBytes;
    return this.waitingBytes > mostWaitingBytes && waitingBytes > mostWaitingBytes / this.all.size;
  }

  groupsToken(connection: ClassicConnection): string {
    const { id, version, groups = [] } = connection;
    return createGroupsToken(id, { version, names: [...groups] }, this.tokens);
  }

  send(_caller: ClassicCaller, frames: FrameSource, audience: Audience): boolean {
    const frame = frames.forProtocol(classicProtocol.name);
    if (frame === undefined) return false;
    for (const receiver of this.receiversOf(audience)) this.deliveries.deliver(receiver, frame);
    return true;
  }

  call({ connection }: ClassicCaller, frame: Buffer, isDelivery: boolean): void {
    if (isDelivery) this.deliveries.deliver(connection, frame);
    else connection.write(frame);
  }

  changeGroup({ connection }: ClassicCaller, group: string, change: GroupChange): boolean {
    const isIn = connection.groups?.has(group) ?? false;
    if (isIn === (change === 'join')) return true;
    if (change === 'leave') this.groups.leave(connection, group);
    else if (!this.groups.join(connection, group)) return false;
    connection.groupsChanged();
    return true;
  }

  errorOf({ hub, target }: ClassicMessage): string {
    return `There was an error invoking Hub method '${hub}.${target}'.`;
  }

  private *receiversOf(audience: Audience): Iterable<ClassicConnection> {
    if (audience.kind === 'group') {
      yield* this.groups.membersOf(audience.name);
    } else if (audience.kind === 'client') {
      const receiver = this.connections.get(audience.id);
      if (receiver?.isOnHub === true) yield receiver;
    } else {
      for (const receiver of this.connections.values()) if (receiver.isOnHub) yield receiver;
    }
  }

  private flushNews(): void {
    const { news } = this;
    this.news = [];
    for (const connection of news) connection.flush();
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    if (answerPreflight(request, response)) return;
    const { path, query } = normalizedPathAndQuery(request);
    const { method } = request;
    const command = commandOf(path);
    const refusal =
      command === undefined
        ? notFound
        : method === 'GET' || method === 'POST'
          ? this.tokenCheck?.refusal(request)
          : wrongMethod;
    if (refusal !== undefined) refuse(response, refusal);
    else if (command === 'negotiate') this.negotiate(request, response, query);
    else if (command === 'ping') answerText(response, '{ "Response": "pong" }');
    else this.answerClient(command!, query, request, response);
  }

  private negotiate(
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): void {
    const asked = readConnectionData(query);
    const refusal = isRefusal(asked) ? asked : this.gate.refusal(request);
    if (refusal === undefined)
      answerText(response, negotiateResponse(query, randomUUID(), this.tokens, this));
    else refuse(response, refusal);
  }

  private answerClient(
    command: Command,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const client = readClassicClient(query, this.tokens);
    if (isRefusal(client)) {
      refuse(response, client);
      return;
    }
    const connection = this.connections.get(client.connectionId);
    switch (command) {
      case 'start':
        if (connection !== undefined) this.started(connection);
        answerText(response, '{ "Response": "started" }');
        break;
      case 'abort':
        connection?.remove();
        reply(response, 200, '', { 'Content-Type': 'text/plain' });
        break;
      default:
        if (client.transport === 'webSockets') refuse(response, noSocket);
        else
          this.withForm(request, response, (form) => {
            if (command === 'send')
              this.sent(client, form.get('data') ?? query.get('data'), response);
            else this.receive(client, command, query, form, response);
          });
    }
  }

  private withForm(
    request: IncomingMessage,
    response: ServerResponse,
    take: (form: URLSearchParams) => void,
  ): void {
    if (request.method === 'GET') {
      take(new URLSearchParams());
      return;
    }
    readBody(request, response, this.maxPostBytes, (body) => {
      if (hasManyFields(body)) refuse(response, manyFields);
      else take(new URLSearchParams(body.toString('utf8')));
    });
  }

  private sent(client: ClassicClient, data: string | null, response: ServerResponse): void {
    const connection = this.connections.get(client.connectionId);
    if (connection === undefined) {
      refuse(response, { status: 400, text: this.closed.get(client.connectionId) ?? ended });
      return;
    }
    const caller = new ClassicCaller(connection, (answer) => answerText(response, answer));
    if (!this.received(caller, Buffer.from(data ?? '', 'utf8'))) refuse(response, badCall);
  }

  private receive(
    client: ClassicClient,
    command: Command,
    query: URLSearchParams,
    form: URLSearchParams,
    response: ServerResponse,
  ): void {
    const closed = this.closed.get(client.connectionId);
    if (closed !== undefined) {
      answerText(response, JSON.stringify({ E: closed }));
      return;
    }
    if (this.isFullFor(client)) {
      refuse(response, full);
      return;
    }
    const isStream = client.transport === 'serverSentEvents';
    const transport = isStream
      ? new EventsTransport(response)
      : new PollResponseTransport(response);
    const shown = new URLSearchParams([...query, ...form]);
    const connection = this.attach(client, command, shown, transport);
    response.on('drain', () => connection.onDrain());
    response.on('close', () => connection.onTransportClosed(transport));
  }

  protected upgrade({ request, socket, head }: UpgradeRequest): void {
    const { path, query } = normalizedPathAndQuery(request);
    const command = commandOf(path);
    const isConnect = command === 'connect' || command === 'reconnect';
    const client = readClassicClient(query, this.tokens);
    const refusal =
      (isConnect ? this.tokenCheck?.refusal(request) : notFound) ??
      (isRefusal(client) ? client : this.refusalOf(client));
    if (refusal !== undefined || isRefusal(client)) {
      refuseUpgrade(socket, refusal ?? notFound);
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      const transport = new SocketTransport(accepted, socket);
      const connection = this.attach(client, command!, query, transport);
      const caller = new ClassicCaller(connection, (answer) =>
        connection.answer(transport, answer),
      );
      transport.attach({
        // As the official server, ignores what is no call of this hub.
        onData: (data, isBinary) => !isBinary && this.received(caller, data),
        onFault: () => transport.terminate(),
        hasRoom: () => transport.unreadBytes <= this.maxUnreadBytes,
        onClosed: () => connection.onTransportClosed(transport),
      });
      transport.onDrain(() => connection.onDrain());
    });
  }

  private refusalOf(client: ClassicClient): Refusal | undefined {
    if (client.transport !== 'webSockets') return noSocket;
    const closed = this.closed.get(client.connectionId);
    if (closed !== undefined) return { status: 400, text: closed };
    return this.isFullFor(client) ? full : undefined;
  }

  private isFullFor({ connectionId }: ClassicClient): boolean {
    return this.connections.size >= mostConnections && !this.connections.has(connectionId);
  }

  private attach(
    { connectionId, isOnHub }: ClassicClient,
    command: Command,
    shown: URLSearchParams,
    transport: ClassicTransport,
  ): ClassicConnection {
    const connection = this.connections.get(connectionId) ?? this.open(connectionId, isOnHub);
    if (command === 'connect') {
      connection.connect(transport);
      return connection;
    }
    const messageId = shown.get('messageId') ?? undefined;
    const { version, names } = readGroupsToken(shown.get('groupsToken'), connectionId, this.tokens);
    if (!connection.acceptsGroupsToken(version, messageId)) {
      this.groups.leaveAll(connection);
      for (const name of names) this.groups.join(connection, name);
    }
    connection.reconnect(transport);
    return connection;
  }

  /** Tokens outlive what this server remembers. */
  private open(connectionId: string, isOnHub: boolean): ClassicConnection {
    const cursorHead = `${this.cursorPrefix}${lettersOf(this.openCount++)},`;
    const connection = new ClassicConnection(connectionId, isOnHub, cursorHead, this);
    this.connections.set(connectionId, connection);
    this.add(connection);
    return connection;
  }

  private started(connection: ClassicConnection): void {
    if (connection.isStarted) return;
    connection.isStarted = true;
    if (this.contracts !== 'measure')
      connection.write(classicProtocol.callbackFrame('OnConnected', connection.id));
  }

  private received(caller: ClassicCaller, data: Buffer): boolean {
    const message = readClassicMessage(data);
    if (message?.hub.toLowerCase() !== classicHubName.toLowerCase()) return false;
    if (!this.isHeld) this.invoked(caller, message);
    else if (this.held.length < mostHeld) this.held.push(() => this.invoked(caller, message));
    else return false;
    return true;
  }

  private invoked(caller: ClassicCaller, message: ClassicMessage): void {
    const { connection } = caller;
    connection.invocations++;
    const reason = this.countInvocation(connection, () => invokeBenchMethod(this, caller, message));
    if (reason !== undefined) this.close(connection, reason);
  }

  private close(connection: ClassicConnection, reason: string): void {
    this.closed.set(connection.id, reason);
    if (this.closed.size > mostClosed) this.closed.delete(this.closed.keys().next().value!);
    connection.remove(JSON.stringify({ E: reason }));
  }

  protected override sayGoodbye(): void {
    super.sayGoodbye();
    this.held = [];
    for (const connection of this.all) connection.sayGoodbye();
  }
}

const commands = [
  'negotiate',
  'ping',
  'connect',
  'start',
  'poll',
  'send',
  'reconnect',
  'abort',
] as const;
type Command = (typeof commands)[number];

const commandOf = (path: string): Command | undefined =>
  path.startsWith(endpoint)
    ? commands.find((command) => command === path.slice(endpoint.length))
    : undefined;

/** A, …, Z, AA, … */
const lettersOf = (number: number): string =>
  (number < 26 ? '' : lettersOf(Math.floor(number / 26) - 1)) +
  String.fromCharCode(65 + (number % 26));

/** Counted in bytes: many short fields take far more memory once parsed. */
function hasManyFields(form: Buffer): boolean {
  let at = -1;
  for (let fields = 0; fields < mostFields; fields++) {
    at = form.indexOf(0x26, at + 1);
    if (at < 0) return false;
  }
  return true;
}

const answerText = (response: ServerResponse, body: string | Buffer): void =>
  reply(response, 200, body, { 'Content-Type': jsonType, 'X-Content-Type-Options': 'nosniff' });

/**
 * Ignores `path`. Clients split `url` at its last `/`, which precedes the name of the
 * hub. Connections count until they abort, or for the disconnect timeout after their transport ended.
 * @throws ExpectedError `port-taken` or `port-refused`
 */
export async function startClassicHub(options: BenchHubOptions = {}): Promise<BenchHub> {
  const hub = new RunningClassicHub(options);
  await hub.listen(options.port);
  return hub;
}
