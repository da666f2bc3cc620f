import type { Socket } from 'node:net';
import { WebSocket, type ClientOptions } from 'ws';
import { ConnectFailure, retryAfterMs } from '../../wire/connectFailure';
import { clientFrame, opcode } from '../../wire/socket/frame';
import { HubMessageError, hubMessageType } from '../../wire/message/hubMessage';
import { prefixBytes } from '../../wire/message/messagePack';
import {
  clientHead,
  clientIdAt,
  plainTail,
  ServiceFrames,
  ServiceOutput,
} from '../../wire/service/serviceStream';
import {
  dataType,
  encodeServiceMessage,
  flowConnectionType,
  flowOperation,
  readServiceMessage,
  serverConnectionType,
  serviceType,
  type Payloads,
  type ServiceMessage,
} from '../../wire/service/serviceMessage';
import { createConnectionWith, openSocket, type SocketSettings } from '../../wire/socket/socket';
import { receiveSafely, faultReason } from '../http/loopbackServer';
import type { HubTransport } from '../http/transports';
import type { HubConnection } from '../hub/hubConnection';
import { framePayload, payloadStart, type ServerProtocol } from '../hubProtocol/serverProtocol';

interface ServerConnectionHost {
  readonly clientCount: number;
  onOpened(connection: ServerConnection): void;
  onMessage(connection: ServerConnection, message: ServiceMessage): void;
  /** @param openMs undefined when it never opened */
  onEnd(connection: ServerConnection, end: ConnectionEnd, openMs?: number): void;
  report(text: string): void;
}

export interface ServerConnectionSettings extends Partial<SocketSettings> {
  /** Closes a silent connection; default 30 s. */
  readonly silenceMs?: number;
}

interface ServerConnectionOptions extends ServerConnectionSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isOnDemand: boolean;
}

const closeTimeoutMs = 2000;
const handshakeMs = 8000;
const pingMs = 5000;
const maxBodyBytes = 16 * 1024 * 1024;
const batchBytes = 64 * 1024;
/** Above this, reading stops; below half, it goes on. */
const maxUnsentBytes = 16 * 1024 * 1024;

export class ServerConnection {
  readonly clients = new Map<string, ServiceTransport>();
  private readonly socket: WebSocket;
  private raw: Socket | undefined;
  private readonly output = new ServiceOutput();
  private readonly frames = new ServiceFrames(maxBodyBytes, (bytes, start, end) =>
    this.body(bytes, start, end),
  );
  private state: 'handshake' | 'open' | 'over' = 'handshake';
  /** The service ignores everything but pings. */
  isMuted = false;
  /** Back-pressure of the service: no reading, and streams of clients wait. */
  isHeldUp = false;
  private hasReportedUnreadable = false;
  private flushing: NodeJS.Immediate | undefined;
  private openedMs = 0;
  private readonly handshakeTimer: NodeJS.Timeout;
  private lastSeenMs = performance.now();
  private nextPingMs = 0;

  constructor(
    private readonly host: ServerConnectionHost,
    private readonly options: ServerConnectionOptions,
  ) {
    const way = { ...options, insecureTls: options.insecureTls === true };
    const target = new URL(options.url.replace(/^ws/, 'http'));
    // The types of `ws` lack `closeTimeout`.
    const socketOptions: ClientOptions & { closeTimeout: number } = {
      closeTimeout: closeTimeoutMs,
      headers: options.headers,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      maxPayload: maxBodyBytes + batchBytes,
      createConnection: createConnectionWith((opened) => openSocket(target, way, opened)),
    };
    this.socket = new WebSocket(options.url, socketOptions);
    this.handshakeTimer = setTimeout(() => this.giveUp(target.host), handshakeMs);
    // Frames are written here: masking in `ws` takes a third of the CPU.
    this.socket.on('upgrade', ({ socket }) => {
      this.raw = socket;
      socket.on('timeout', () => {
        this.fail('it has taken nothing of what was sent to it for a long time');
        this.socket.terminate();
      });
    });
    this.socket.on('open', () => this.shakeHands());
    this.socket.on('message', (data: Buffer) => this.arrived(data));
    this.socket.on('unexpected-response', (request, response) => {
      const pauseMs = retryAfterMs(response.headers['retry-after'], Date.now());
      this.end({ status: response.statusCode ?? 0, retryAfterMs: pauseMs });
      request.destroy();
    });
    this.socket.on('error', (error) => {
      const isProxy = error instanceof ConnectFailure;
      this.end({ reason: error.message, ...(isProxy && { blocker: 'proxy' }) });
    });
    this.socket.on('close', (code) => this.end({ reason: `closed with code ${code}` }));
  }

  private get silenceMs(): number {
    return this.options.silenceMs ?? 30_000;
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  get isUsable(): boolean {
    return this.isOpen && !this.isMuted;
  }

  get isOnDemand(): boolean {
    return this.options.isOnDemand;
  }

  send(message: ServiceMessage): void {
    if (!this.isUsable) return;
    this.output.frame(encodeServiceMessage(message));
    this.flushSoon();
  }

  data(id: Buffer, type: number, payload: Buffer, start: number, end: number): void {
    if (!this.isUsable) return;
    this.output.connectionData(id, type, payload, start, end);
    this.flushSoon();
  }

  payloads(head: Buffer, payloads: Payloads, tail: Buffer): void {
    if (!this.isUsable) return;
    this.output.payloads(head, payloads, tail);
    this.flushSoon();
  }

  ping(...messages: readonly string[]): void {
    if (!this.isOpen) return;
    this.output.frame(encodeServiceMessage({ type: serviceType.ping, messages }));
    this.flushSoon();
  }

  tick(nowMs: number): void {
    if (!this.isOpen) return;
    // A service that is not read from is not silent; its socket's timeout watches it.
    if (this.isHeldUp) this.lastSeenMs = nowMs;
    if (nowMs - this.lastSeenMs > this.silenceMs) {
      this.fail('nothing came from the service for a long time');
    } else if (nowMs >= this.nextPingMs) {
      this.nextPingMs = nowMs + pingMs;
      const counts = [this.host.clientCount, this.clients.size].map(String);
      this.ping('#clientInHub', counts[0]!, '#client', counts[1]!);
    }
  }

  close(): void {
    this.flush();
    this.socket.close(1000);
    if (this.isHeldUp) this.socket.resume();
  }

  terminate(): void {
    this.socket.terminate();
  }

  private shakeHands(): void {
    const request = {
      type: serviceType.handshakeRequest,
      version: 1,
      connectionType: this.options.isOnDemand
        ? serverConnectionType.onDemand
        : serverConnectionType.default,
      // As in the SDK, only the URL has the target.
      target: '',
      migrationLevel: 0,
      allowStatefulReconnects: false,
    };
    this.raw?.write(clientFrame(opcode.binary, encodeServiceMessage(request)));
  }

  private arrived(data: Buffer): void {
    if (this.state === 'over') return;
    this.lastSeenMs = performance.now();
    try {
      this.frames.push(data);
    } catch (error) {
      this.fail(faultReason(error));
    }
  }

  private body(bytes: Buffer, start: number, end: number): void {
    let message: ServiceMessage | undefined;
    try {
      message = readServiceMessage(bytes, start, end);
    } catch (error) {
      if (!(error instanceof HubMessageError)) throw error;
      if (!this.hasReportedUnreadable)
        this.host.report(`A message of the service could not be read: ${error.message}.`);
      this.hasReportedUnreadable = true;
    }
    if (this.state === 'handshake') this.handshake(message);
    else if (message !== undefined && this.state === 'open') this.host.onMessage(this, message);
  }

  private handshake(answer: ServiceMessage | undefined): void {
    if (answer?.type !== serviceType.handshakeResponse) {
      this.fail('the first message of the service is not a handshake');
      return;
    }
    const { errorMessage = '' } = answer;
    if (errorMessage !== '') {
      this.end({ refusal: errorMessage });
      this.socket.close(1000);
      return;
    }
    clearTimeout(this.handshakeTimer);
    this.state = 'open';
    this.openedMs = performance.now();
    this.nextPingMs = this.openedMs + pingMs;
    this.host.onOpened(this);
  }

  private giveUp(host: string): void {
    this.end({
      reason: `${host} did not answer within ${handshakeMs / 1000} s`,
      blocker: 'silence',
    });
    this.socket.terminate();
  }

  private fail(reason: string): void {
    this.end({ reason });
    this.socket.close(1000);
  }

  private end(end: ConnectionEnd): void {
    if (this.state === 'over') return;
    const openMs = this.state === 'open' ? performance.now() - this.openedMs : undefined;
    this.state = 'over';
    clearTimeout(this.handshakeTimer);
    clearImmediate(this.flushing);
    this.host.onEnd(this, end, openMs);
  }

  private flushSoon(): void {
    if (this.output.length >= batchBytes) this.flush();
    else this.flushing ??= setImmediate(() => this.flush());
  }

  private flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    if (this.output.length === 0 || this.socket.readyState !== WebSocket.OPEN) return;
    this.raw?.write(clientFrame(opcode.binary, this.output.take()), this.sent);
    if (this.socket.bufferedAmount > maxUnsentBytes && !this.isHeldUp) {
      this.isHeldUp = true;
      this.socket.pause();
      // Restarts with each chunk that the service takes.
      this.raw?.setTimeout(this.silenceMs);
    }
  }

  private readonly sent = (): void => {
    if (!this.isHeldUp || this.socket.bufferedAmount > maxUnsentBytes / 2) return;
    this.isHeldUp = false;
    this.raw?.setTimeout(0);
    if (this.state === 'open') this.socket.resume();
  };
}

export interface ConnectionEnd {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly refusal?: string;
  readonly reason?: string;
  readonly blocker?: 'proxy' | 'silence';
}

export function describeEnd({ status, refusal, reason }: ConnectionEnd): string {
  if (status !== undefined) return `the service answered with HTTP status ${status}`;
  return refusal === undefined ? (reason ?? 'no reason is known') : `the service said "${refusal}"`;
}

const assignRole =
  'Assign the role SignalR App Server to the identity; that may take up to 30 minutes to have effect.';

export function adviseOnEnd({ status, blocker }: ConnectionEnd, signedIn: boolean): string {
  if (blocker === 'proxy')
    return 'Check the proxy that HTTPS_PROXY or HTTP_PROXY names, or list the host of the service in NO_PROXY.';
  if (blocker === 'silence')
    return 'A firewall or a proxy on the way may be dropping what goes there: let WebSockets to this host through, or name the proxy in HTTPS_PROXY, and check the endpoint.';
  switch (status) {
    case 401:
      return signedIn ? assignRole : 'Check the access key, and the clock of this machine.';
    case 403:
      return signedIn
        ? assignRole
        : 'Where the resource is in Serverless mode, set its service mode to Default; where its access keys are disabled, enable them or sign in with AuthType=azure; where its network access rules keep this machine out, allow server connections from here.';
    case 404:
      return 'Check the endpoint and the name of the hub.';
    case 429:
      return 'All connections that this size allows are in use; server connections count too.';
    default:
      return 'Check the endpoint, and that the service is in its default mode.';
  }
}

export class ServiceTransport implements HubTransport {
  readonly hasOwnKeepAlive = false;
  readonly carriesBinary = true;
  private readonly encodedId: Buffer;
  private readonly head: Buffer;
  private owner: HubConnection | undefined;
  /** Frames that wait while the service has paused this client. */
  private held: Buffer[] | undefined;
  private heldBytes = 0;
  private isPaused = false;
  private hasLeft = false;
  private isOver = false;

  constructor(
    readonly id: string,
    readonly connection: ServerConnection,
    readonly instanceId: string | undefined,
  ) {
    this.head = clientHead(id);
    this.encodedId = this.head.subarray(clientIdAt);
  }

  attach(owner: HubConnection): void {
    this.owner = owner;
  }

  get unreadBytes(): number {
    return this.heldBytes;
  }

  get isBlocked(): boolean {
    return this.connection.isHeldUp;
  }

  get isWritable(): boolean {
    return !this.isOver && this.connection.isOpen;
  }

  receive(payload: Buffer): void {
    if (this.isPaused) {
      // Other clients share the connection, so input of a paused client waits here, bounded.
      this.heldBytes += payload.length;
      if (this.owner?.hasRoom() !== true) return;
    }
    if (this.owner !== undefined) receiveSafely(this.owner, payload, true);
  }

  write(frame: Buffer): void {
    if (this.held !== undefined) {
      this.held.push(frame);
      this.heldBytes += frame.length;
      return;
    }
    const { length } = frame;
    const start = payloadStart(frame);
    this.connection.data(this.encodedId, hubDataType(frame, start, length), frame, start, length);
  }

  /** Sends a call from hub code, which travels in another message than answers. */
  call(protocol: ServerProtocol, frame: Buffer): void {
    this.connection.payloads(this.head, [[protocol.name, framePayload(frame)]], plainTail);
  }

  close(): void {
    if (this.isOver) return;
    if (this.held !== undefined) this.release();
    if (!this.hasLeft) {
      const { id: connectionId } = this;
      this.connection.send({ type: serviceType.closeConnection, connectionId, errorMessage: '' });
    }
    this.gone();
  }

  terminate(): void {
    this.close();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    if (this.held === undefined) this.heldBytes = 0;
  }

  setFlow(operation: number): void {
    if (operation === flowOperation.pause && this.held === undefined) {
      this.held = [];
      this.connection.send({
        type: serviceType.connectionFlowControl,
        connectionId: this.id,
        connectionType: flowConnectionType.client,
        operation: flowOperation.pauseAck,
      });
    } else if (operation === flowOperation.resume) {
      this.release();
    }
  }

  /** The service closed this client: nothing more is sent for it. */
  closeByService(): void {
    this.hasLeft = true;
    if (this.owner?.isOpen === true) this.owner.close(undefined, true);
    else this.gone();
  }

  private gone(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.connection.clients.delete(this.id);
    this.owner?.onClosed();
  }

  private release(): void {
    const { held } = this;
    this.held = undefined;
    this.heldBytes = 0;
    for (const frame of held ?? []) this.write(frame);
  }
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const digitZero = 0x30;
/** Our JSON messages begin with `{"type":`. */
const typeAt = 8;

function hubDataType(bytes: Buffer, start: number, end: number): number {
  const second = bytes[start + 1];
  if (bytes[start] === openBrace && (second === quote || second === closeBrace)) {
    const isMessage = second === quote && bytes[start + 2] === 0x74;
    return isMessage ? typeOf(bytes[start + typeAt]! - digitZero) : dataType.handshake;
  }
  const prefix = prefixBytes(bytes, start, end);
  return typeof prefix === 'string' ? dataType.unknown : typeOf(bytes[start + prefix + 1]!);
}

function typeOf(type: number): number {
  if (type === hubMessageType.ping) return dataType.other;
  return type === hubMessageType.close ? dataType.close : dataType.invocation;
}
