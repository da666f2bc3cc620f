import { inBackground } from '../../base/async';
import type { HubConnection, Opening } from '../hub/clientConnection';
import { RecoverableConnection, recoveryAttemptMs } from '../hub/recoverableConnection';
import { ConnectFailure, shownText } from '../connectFailure';
import { EventStreamInput, PollInput, type InputOwner } from '../http/httpInput';
import { maximumBatchBytes } from '../http/httpConnection';
import { sendWholeRequest } from '../http/negotiationRequest';
import { Outbox, type OutboxOwner } from '../http/httpChannel';
import type { HubMessage } from '../message/hubMessage';
import { parseObject, skipSpace } from '../message/jsonScan';
import { Cookies } from '../socket/cookies';
import { clientFrame } from '../socket/frame';
import type { SocketAgents } from '../socket/socket';
import type { ClassicTerms } from './classicNegotiation';
import {
  ClassicRequests,
  type ClassicPlace,
  ClassicState,
  type FrameControl,
} from './classicState';

/** As in the official clients. */
const retryMs = 2000;
/** A poll that waits this long after a loss has reached the server, as in the official clients. */
const pollIsThereMs = 5000;
const abortMs = 2000;
/** What keeping a frame takes besides its bytes: many short ones are limited, too. */
const keptFrameBytes = 256;

/**
 * A frame holds several messages over each transport: servers put ten into one, and 5,000 into a response to a poll.
 */
const ofBatches = (options: Opening['options']): Opening['options'] => ({
  ...options,
  maximumMessageBytes: Math.max(maximumBatchBytes, options.maximumMessageBytes),
});

const initialized = Buffer.from('initialized', 'latin1');

interface Early {
  readonly bytes: Buffer;
  readonly wireBytes: number;
}

/**
 * A client of a hub of ASP.NET SignalR. It sends `start` after the server's first message, and after a loss continues
 * from the last message it read. Source: the clients of SignalR/SignalR, `TransportInitializationHandler`,
 * `ClientTransportBase` and those of the three transports.
 */
export class ClassicConnection extends RecoverableConnection implements InputOwner, OutboxOwner {
  readonly connectionId: string | undefined;
  /** Servers send keep-alives, clients of this protocol none. */
  readonly hasOwnKeepAlive = true;
  private readonly terms: ClassicTerms;
  private readonly memory = new ClassicState();
  private readonly requests: ClassicRequests;
  private readonly agents: SocketAgents;
  private readonly signal: AbortSignal;
  private input: EventStreamInput | PollInput | undefined;
  private readonly outbox: Outbox | undefined;
  private early: Early[] = [];
  private earlyBytes = 0;

  private constructor(place: ClassicPlace & { readonly agents: SocketAgents }, opening: Opening) {
    const { disconnectMs } = place.terms;
    super({ ...opening, options: ofBatches(opening.options) }, retryMs, disconnectMs);
    const { endpoint, signal } = opening;
    this.terms = place.terms;
    this.agents = place.agents;
    this.signal = signal;
    this.connectionId = place.where.connectionId;
    this.requests = new ClassicRequests(place, this.codec, this.memory, endpoint.transport);
    if (endpoint.transport !== undefined)
      this.outbox = new Outbox(this.requests, endpoint, this, this.options.maximumMessageBytes);
  }

  static open(
    place: ClassicPlace & { readonly agents: SocketAgents },
    opening: Opening,
  ): Promise<ClassicConnection> {
    const connection = new ClassicConnection(place, opening);
    const { transportConnectMs: withinMs } = place.terms;
    return connection.opens(place.where.url.href, opening, () => {
      connection.begin(opening);
      if (withinMs > 0) connection.failsUnlessInitialized(withinMs);
    });
  }

  override send(frame: Buffer): boolean {
    if (this.outbox === undefined) return super.send(frame);
    this.limitUnsent(this.outbox.send(frame));
    return true;
  }

  sendMessage(message: HubMessage): number {
    if (!this.isOpen) return 0;
    const bytes = this.codec.encode(message);
    const frame = this.outbox === undefined ? clientFrame(this.codec.opcode, bytes) : bytes;
    this.send(frame);
    return frame.length;
  }

  silentFor(ms: number): void {
    const { silenceMs = Infinity } = this.terms;
    // A poll ends by itself, and another one begins.
    if (ms < silenceMs || this.state !== 'open' || this.input instanceof PollInput) return;
    const failure = new ConnectFailure(
      'timeout',
      `the server sent nothing for ${silenceMs / 1000} s, not even a keep-alive`,
    );
    this.letGo();
    this.pipeLost(failure);
  }

  close(): void {
    const wasOpen = this.isOpen;
    const { socket, input, outbox } = this;
    this.stop();
    input?.destroy();
    if (!wasOpen) {
      socket?.destroy();
      outbox?.destroy();
      return;
    }
    socket?.close();
    if (outbox === undefined) inBackground(this.abort());
    else {
      outbox.end();
      setTimeout(() => outbox.destroy(), abortMs).unref();
    }
  }

  override destroy(): void {
    this.stop();
    this.letGo();
    this.outbox?.destroy();
  }

  received(socket: HubConnection, buffer: Buffer, start: number, end: number, bytes: number): void {
    // A WebSocket pong is empty.
    if (start === end) this.deliver(buffer, start, end, bytes);
    else this.take(buffer, start, end, bytes);
    socket.closeReason = this.closeReason;
  }

  onReady(): void {
    if (this.state === 'recovering') this.resume();
    else if (this.state === 'connecting') this.stopwatch?.done('upgrade');
  }

  beforePoll(buffer: Buffer, start: number, end: number): number {
    let delayMs = 0;
    this.guarded(() => {
      this.requests.nextCommand = 'poll';
      delayMs = this.note(buffer, skipSpace(buffer, start), end)?.pollDelayMs ?? 0;
    });
    return this.stopped ? -1 : delayMs;
  }

  onMessages(buffer: Buffer, start: number, end: number, wireBytes: number): void {
    this.guarded(() => {
      if (this.input instanceof PollInput)
        this.deliver(buffer, Math.min(end, skipSpace(buffer, start)), end, wireBytes);
      else if (!isGreeting(buffer, start, end)) this.take(buffer, start, end, wireBytes);
    });
  }

  onServerEnd(): void {
    this.onFailure(new ConnectFailure('closed', 'the server ended the connection'));
  }

  onFailure(failure: ConnectFailure): void {
    this.letGo();
    this.pipeLost(failure);
  }

  onAnswer(answer: Buffer): void {
    this.guarded(() => this.take(answer, 0, answer.length, answer.length));
  }

  onSendFailed(failure: ConnectFailure): void {
    this.fail(failure);
  }

  private begin({ signal, stopwatch }: Pick<Opening, 'signal' | 'stopwatch'>): void {
    const { endpoint, requests } = this;
    const { transport } = endpoint;
    if (transport === undefined) {
      const where = { ...requests.where, url: requests.url(requests.nextCommand) };
      this.openSocket(where, { signal, stopwatch });
      return;
    }
    const most = this.options.maximumMessageBytes;
    this.input =
      transport === 'LongPolling'
        ? new PollInput(requests, endpoint, this, most, this.terms.pollMs + recoveryAttemptMs)
        : new EventStreamInput(requests, endpoint, this, most);
    this.input.open(stopwatch);
  }

  private guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.unreadable(error);
    }
  }

  private take(buffer: Buffer, start: number, end: number, wireBytes: number): void {
    const from = Math.min(end, skipSpace(buffer, start));
    this.note(buffer, from, end);
    this.deliver(buffer, from, end, wireBytes);
  }

  private note(buffer: Buffer, start: number, end: number): FrameControl | undefined {
    const news = start < end ? this.memory.note(buffer, start, end) : undefined;
    if (news === undefined) return undefined;
    if (news.error !== undefined)
      this.drop('closed', `the server reports an error: ${shownText(news.error)}`);
    else if (news.disconnects)
      this.drop('closed', 'the server ordered the connection to end (D: 1)');
    else if (news.reconnects) {
      this.closeReason = 'the server ordered the connection to come back (T: 1)';
      this.requests.nextCommand = 'reconnect';
    }
    if (news.initialized && this.state === 'connecting') inBackground(this.start());
    return news;
  }

  private deliver(buffer: Buffer, start: number, end: number, wireBytes: number): void {
    if (this.isOpen) this.listener.received(this, buffer, start, end, wireBytes);
    else if (!this.stopped && start < end) {
      this.earlyBytes += end - start + keptFrameBytes;
      const { maximumMessageBytes } = this.options;
      if (this.earlyBytes > maximumMessageBytes)
        this.drop('protocol', `more came before the start than ${maximumMessageBytes} bytes hold`);
      else this.early.push({ bytes: Buffer.from(buffer.subarray(start, end)), wireBytes });
    }
  }

  /** Only then the hub's OnConnected runs. */
  private async start(): Promise<void> {
    clearTimeout(this.timer);
    this.state = 'handshaking';
    try {
      const fields = parseObject(await this.sendCommand('start', 'GET', this.signal));
      if (this.stopped) return;
      if (fields?.['Response'] !== 'started')
        throw new ConnectFailure('handshake', 'the server did not answer start with "started"');
      this.becomeOpen();
      const { early } = this;
      this.early = [];
      for (const { bytes, wireBytes } of early)
        if (this.isOpen)
          this.guarded(() => this.listener.received(this, bytes, 0, bytes.length, wireBytes));
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      this.fail(error);
    }
  }

  private async sendCommand(
    command: 'start' | 'abort',
    method: 'GET' | 'POST',
    signal: AbortSignal,
  ): Promise<string> {
    const { headers, accessToken, cookies = new Cookies() } = this.requests.where;
    const question = { method, url: this.requests.url(command), what: command };
    return (
      await sendWholeRequest(question, { headers, accessToken, cookies }, this.agents, signal)
    ).body;
  }

  /** Otherwise the server would wait for the client to come back. Errors do not matter. */
  private async abort(): Promise<void> {
    try {
      await this.sendCommand('abort', 'POST', AbortSignal.timeout(abortMs));
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
    }
  }

  private failsUnlessInitialized(withinMs: number): void {
    this.timer = setTimeout(() => {
      const text = `the server sent no first message within ${withinMs / 1000} s, its TransportConnectTimeout`;
      this.drop('timeout', text);
    }, withinMs);
  }

  protected override pipeLost(failure: ConnectFailure): void {
    if (this.state === 'open') this.requests.nextCommand = 'reconnect';
    super.pipeLost(failure);
  }

  protected recover(): void {
    if (this.stopped) return;
    this.begin({ signal: AbortSignal.timeout(recoveryAttemptMs) });
    if (this.endpoint.transport === undefined) return;
    const isPoll = this.input instanceof PollInput;
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => {
        if (this.state !== 'recovering') return;
        if (isPoll) this.resume();
        else this.onFailure(new ConnectFailure('timeout', 'no answer to reconnect in time'));
      },
      isPoll ? pollIsThereMs : recoveryAttemptMs,
    );
  }

  private letGo(): void {
    this.socket?.destroy();
    this.input?.destroy();
    this.socket = this.input = undefined;
  }

  protected override stop(): void {
    super.stop();
    this.early = [];
  }
}

const isGreeting = (buffer: Buffer, start: number, end: number): boolean =>
  end - start === initialized.length && initialized.compare(buffer, start, end) === 0;
