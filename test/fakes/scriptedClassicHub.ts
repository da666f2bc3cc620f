/** A server of ASP.NET SignalR that says what a test wants it to, written from the sources of SignalR/SignalR. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

export interface ClassicCall {
  readonly H: string;
  readonly M: string;
  readonly A: readonly unknown[];
  readonly I: string;
}

interface Script {
  /** Put over the usual answer to negotiate, or in its place where it is a text. */
  negotiation?: object | string;
  /** Answered instead of what a command usually is. */
  statuses?: Readonly<Record<string, number>>;
  start?: string;
  /** Said before the answer to start. */
  greeting?: string;
  /** Said in place of that answer. */
  flood?: readonly string[];
  init?: string;
}

const usual = {
  ConnectionToken: 'token+/=',
  ConnectionId: 'id-1',
  KeepAliveTimeout: 20,
  DisconnectTimeout: 30,
  ConnectionTimeout: 110,
  TryWebSockets: true,
  ProtocolVersion: '2.1',
  TransportConnectTimeout: 5,
  LongPollDelay: 0,
};

export class ScriptedClassicHub {
  /** Of each request: command, transport, message id, groups token. */
  readonly requests: string[] = [];
  readonly queries: URLSearchParams[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  readonly sockets: WebSocket[] = [];
  readonly calls: ClassicCall[] = [];
  /** What each call is answered with, and what is said besides. */
  answers: (call: ClassicCall) => string = ({ I }) => JSON.stringify({ I });
  private stream: ServerResponse | undefined;
  private poll: ServerResponse | undefined;
  private readonly unpolled: string[] = [];
  private readonly server: Server;

  constructor(readonly script: Script = {}) {
    this.server = createServer((request, response) => void this.serve(request, response));
    const upgrades = new WebSocketServer({ noServer: true });
    this.server.on('upgrade', (request, socket, head) => {
      const command = this.note(request);
      const status = this.script.statuses?.[command];
      if (status !== undefined) {
        socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      upgrades.handleUpgrade(request, socket, head, (webSocket) => {
        this.sockets.push(webSocket);
        webSocket.on('message', (data: Buffer) => {
          webSocket.send(this.answer(data.toString('utf8')));
        });
        if (command === 'connect') webSocket.send(this.init);
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/signalrbench`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Says something to the client, whatever its transport. */
  say(frame: string): void {
    if (this.stream !== undefined) this.stream.write(`data: ${frame}\n\n`);
    else if (this.poll !== undefined) {
      this.poll.end(frame);
      this.poll = undefined;
    } else if (this.sockets.length > 0) this.sockets.at(-1)!.send(frame);
    else this.unpolled.push(frame);
  }

  /** Ends what brings messages. */
  cut(): void {
    this.sockets.at(-1)?.terminate();
    this.stream?.destroy();
    this.poll?.destroy();
    this.stream = this.poll = undefined;
  }

  get isPolled(): boolean {
    return this.poll !== undefined;
  }

  private get init(): string {
    return this.script.init ?? '{"C":"d-1","S":1,"M":[]}';
  }

  private note(request: IncomingMessage): string {
    const { pathname, searchParams } = new URL(request.url!, 'http://host');
    const command = pathname.replace(/^\/signalr\//, '');
    const said = ['transport', 'messageId', 'groupsToken'].map((name) => searchParams.get(name));
    this.requests.push([command, ...said.filter((text) => text !== null)].join(' '));
    this.queries.push(searchParams);
    this.headers.push(request.headers);
    return command;
  }

  private answer(text: string): string {
    const call = JSON.parse(text) as ClassicCall;
    this.calls.push(call);
    return this.answers(call);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const command = this.note(request);
    if (command.startsWith('/')) {
      response.writeHead(404).end();
      return;
    }
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString('utf8');
    const status = this.script.statuses?.[command];
    if (status !== undefined) {
      response.writeHead(status, { 'Content-Type': 'text/plain' }).end('refused');
      return;
    }
    const transport = this.queries.at(-1)!.get('transport');
    switch (command) {
      case 'negotiate': {
        const { negotiation } = this.script;
        const said =
          typeof negotiation === 'string'
            ? negotiation
            : JSON.stringify({ ...usual, ...negotiation });
        response.setHeader('Set-Cookie', 'node=a; path=/');
        response.end(said);
        return;
      }
      case 'start':
        if (this.script.greeting !== undefined) this.say(this.script.greeting);
        this.script.flood?.forEach((frame) => this.say(frame));
        if (this.script.flood !== undefined) return;
        response.end(this.script.start ?? '{ "Response": "started" }');
        return;
      case 'send':
        response.end(this.answer(new URLSearchParams(body).get('data') ?? ''));
        return;
      case 'abort':
        response.end();
        return;
    }
    if (transport === 'serverSentEvents') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: initialized\n\n');
      this.stream = response;
      if (command === 'connect') this.say(this.init);
    } else if (command === 'connect') response.end(this.init);
    else {
      const waiting = this.unpolled.shift();
      // Keep-alives of a poll are blanks.
      if (waiting !== undefined) response.end(`  ${waiting}`);
      else {
        response.flushHeaders();
        this.poll = response;
      }
    }
  }
}
