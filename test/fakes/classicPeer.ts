/** A client of ASP.NET SignalR over a web socket, bare of any logic: what it gets is what was sent. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export const hubData = '[{"name":"signalrbench"}]';

export interface Negotiated {
  readonly ConnectionToken: string;
  readonly ConnectionId: string;
}

export interface Envelope {
  readonly C?: string;
  readonly S?: number;
  readonly T?: number;
  readonly G?: string;
  readonly E?: string;
  readonly M?: readonly { readonly H: string; readonly M: string; readonly A: unknown[] }[];
  readonly I?: string;
  readonly R?: unknown;
}

/** The endpoint of a hub URL, as the official clients find it. */
export const endpointOf = (hubUrl: string): string =>
  `${hubUrl.slice(0, hubUrl.lastIndexOf('/'))}/signalr`;

type Query = Readonly<Record<string, string>>;

export function classicUrl(hubUrl: string, command: string, query: Query = {}): string {
  const all = new URLSearchParams({ clientProtocol: '2.1', connectionData: hubData, ...query });
  return `${endpointOf(hubUrl)}/${command}?${all.toString()}`;
}

export async function negotiate(hubUrl: string, query: Query = {}): Promise<Negotiated> {
  const response = await fetch(classicUrl(hubUrl, 'negotiate', query));
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Negotiated;
}

export class ClassicPeer {
  readonly got: Envelope[] = [];
  /** The same as it came. */
  readonly texts: string[] = [];
  closed = false;
  private readonly waiting: (() => void)[] = [];

  private constructor(
    private readonly hubUrl: string,
    readonly negotiated: Negotiated,
    readonly socket: WebSocket,
  ) {
    socket.on('message', (data: Buffer) => {
      this.texts.push(data.toString('utf8'));
      this.got.push(JSON.parse(this.texts.at(-1)!) as Envelope);
      for (const wake of this.waiting.splice(0)) wake();
    });
    socket.on('close', () => {
      this.closed = true;
      for (const wake of this.waiting.splice(0)) wake();
    });
  }

  /** @param goesOn a connection that was lost, whose place this one takes */
  static async open(hubUrl: string, goesOn?: ClassicPeer, shown: Query = {}): Promise<ClassicPeer> {
    const negotiated = goesOn?.negotiated ?? (await negotiate(hubUrl));
    const query = {
      transport: 'webSockets',
      connectionToken: negotiated.ConnectionToken,
      ...(goesOn && { messageId: goesOn.messageId, groupsToken: goesOn.groupsToken }),
      ...shown,
    };
    const command = goesOn === undefined ? 'connect' : 'reconnect';
    const url = classicUrl(hubUrl, command, query).replace(/^http/, 'ws');
    const peer = new ClassicPeer(hubUrl, negotiated, new WebSocket(url));
    await once(peer.socket, 'open');
    return peer;
  }

  /** Connected, initialised and started. */
  static async start(hubUrl: string): Promise<ClassicPeer> {
    const peer = await ClassicPeer.open(hubUrl);
    await peer.until(({ S }) => S === 1);
    await peer.command('start');
    await peer.until(({ M }) => M?.some(({ M: name }) => name === 'OnConnected') ?? false);
    return peer;
  }

  get messageId(): string {
    return this.got.flatMap(({ C = [] }) => C).at(-1) ?? '';
  }

  get groupsToken(): string {
    return this.got.flatMap(({ G = [] }) => G).at(-1) ?? '';
  }

  /** Arguments of all calls of a client method, in their order. */
  calls(method: string): unknown[][] {
    return this.got
      .flatMap(({ M = [] }) => M)
      .filter(({ M }) => M === method)
      .map(({ A }) => A);
  }

  async command(name: string): Promise<string> {
    const { ConnectionToken: connectionToken } = this.negotiated;
    const query = { transport: 'webSockets', connectionToken };
    return (await fetch(classicUrl(this.hubUrl, name, query), { method: 'POST' })).text();
  }

  send(call: object): void {
    this.socket.send(JSON.stringify(call));
  }

  private lastId = 0;

  async invoke(method: string, ...args: unknown[]): Promise<Envelope> {
    const id = String(this.lastId++);
    this.send({ H: 'signalrbench', M: method, A: args, I: id });
    return this.until(({ I }) => I === id);
  }

  until(wanted: (envelope: Envelope) => boolean): Promise<Envelope> {
    return this.untilTexts(() => this.got.find(wanted));
  }

  /** Until something comes of what was got so far. */
  async untilTexts<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.closed) throw new Error('the connection is closed');
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  async gone(): Promise<void> {
    while (!this.closed) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Until the server has heard of what others did before. */
  async untilHeard(): Promise<void> {
    for (let call = 0; call < 3; call++) await this.invoke('GetConnectionId');
  }

  async lose(): Promise<void> {
    this.socket.terminate();
    if (!this.closed) await once(this.socket, 'close');
  }
}

/** The data of each event of a response. */
export async function* eventsOf(response: Response): AsyncGenerator<string, undefined> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  let rest = '';
  for await (const chunk of response.body!) {
    const events = `${rest}${Buffer.from(chunk as Uint8Array).toString('utf8')}`.split(
      /\r?\n\r?\n/,
    );
    rest = events.pop() ?? '';
    for (const event of events) yield event.replace(/^data: /, '');
  }
  return undefined;
}
