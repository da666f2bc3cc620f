import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { services } from '../../base/serviceTraits';
import { LifeCounts, type ConnectionSample } from '../../measure/sample';
import { urlIndexOf } from '../../plan/draws';
import type { WorkerStart } from '../../messages/worker';
import type { ClientTokens } from '../../wire/connect/accessTokens';
import type { ConnectFailure } from '../../wire/connectFailure';
import {
  codecForProtocol,
  connectHub,
  type ConnectContext,
  type OpenConnection,
} from '../../wire/connect/connectHub';
import { ConnectStopwatch, SocketAgents } from '../../wire/socket/socket';
import { IncompleteBytesBudget } from '../../wire/socket/frameReader';
import type { HubConnection, HubListener } from '../../wire/hub/clientConnection';
import type { HubCodec } from '../../wire/message/hubCodec';
import { hubMessageType, HubMessageError } from '../../wire/message/hubMessage';
import type { Clock } from '../machineClock';
import type { Recorder } from '../recorder';
import { Ramp } from './ramp';

interface ConnectionsListener extends Required<Pick<HubListener, 'received' | 'message'>> {
  lost(connection: HubConnection): void;
  failed(index: number): void;
}

export interface WorkerSockets {
  readonly clock: Clock;
  /** Absent: the codec of the plan's protocol. */
  readonly codec?: HubCodec;
  readonly open?: OpenConnection;
}

/** Pings are spread over turns: many at once would delay messages. */
export const pingTurnUs = 50_000;
/** One ping per connection every 15 s, as the official clients do. */
const pingTurns = 15_000_000 / pingTurnUs;
/** A worker that missed more turns was suspended. */
const mostMissedTurns = 5_000_000 / pingTurnUs;
/** Twice the ping interval, as in the official clients. */
const serverTimeoutUs = 30_000_000;
const goodbyeMs = 5000;
const maximumUnsentBytes = 4 * 1024 * 1024;
/** Budget of all connections for incomplete messages. */
const unfinishedBytes = 256 * 1024 * 1024;

const ping = { type: hubMessageType.ping } as const;

export class Connections implements HubListener {
  private readonly byIndex = new Map<number, HubConnection>();
  private readonly lifespans = new Lifespans();
  private readonly everDropped = new Set<number>();
  private readonly neverOpened = new Set<number>();
  private readonly notBack = new Set<number>();
  private readonly closedForNow = new Set<number>();
  /** Lost their socket, but may recover it. */
  private readonly interruptedOnes = new Set<number>();
  private lastTurn: number | undefined;
  /** Not suspended before the last turn, so input has been read. */
  private isAwake = true;
  readonly message: ConnectionsListener['message'];
  private context: ConnectContext;
  private readonly agents: SocketAgents;
  private readonly ramp: Ramp;

  constructor(
    private readonly start: WorkerStart,
    private readonly sockets: WorkerSockets,
    private readonly recorder: Recorder,
    {
      personal,
      tokens,
    }: Pick<ConnectContext, 'personal'> & { readonly tokens?: ClientTokens | undefined },
    private readonly listener: ConnectionsListener,
  ) {
    const { plan, worker, endpoint } = start;
    this.message = listener.message;
    const { codec = codecForProtocol(plan.protocol) } = sockets;
    const sizes = plan.entries.flatMap((entry) => entry.payload.sizes);
    const payload = Math.max(0, ...sizes.map(({ bytes }) => bytes));
    this.agents = new SocketAgents(endpoint, plan.workers[worker]!.connectInFlight);
    this.context = {
      endpoint,
      agents: this.agents,
      listener: this,
      targetOf: (index) => urlIndexOf(plan, endpoint.urls.length, index),
      personal,
      tokens,
      open: sockets.open,
      options: {
        codec,
        // Envelope, and a server that escapes every character of the payload.
        maximumMessageBytes: Math.max(1024 * 1024, 8 * payload),
        maximumUnsentBytes: Math.max(maximumUnsentBytes, 4 * payload),
        // Every connection may be receiving a large message.
        unfinished: new IncompleteBytesBudget(
          unfinishedBytes + (2 * payload * plan.connections) / plan.workers.length,
        ),
      },
    };
    this.ramp = new Ramp(plan, worker, {
      clock: sockets.clock,
      open: async (index, signal) => {
        const stopwatch = new ConnectStopwatch();
        await this.openOne(index, signal, stopwatch);
        return stopwatch.us;
      },
      opened: (index, tookUs, phases) => {
        if (this.closedForNow.delete(index)) this.recorder.reopened(tookUs);
        else this.recorder.opened(index, tookUs, phases);
      },
      retried: ({ errorClass, message }) => this.recorder.error(errorClass, message),
      failed: (index, failure) => {
        this.neverOpened.add(index);
        this.recorder.neverOpened(index, failure);
        this.listener.failed(index);
      },
    });
  }

  at(index: number): HubConnection | undefined {
    const connection = this.byIndex.get(index);
    return connection?.isOpen === true ? connection : undefined;
  }

  all(): HubConnection[] {
    return [...this.byIndex.values()].filter((connection) => connection.isOpen);
  }

  async openRange(atUs: number, from: number, to: number): Promise<void> {
    if (this.start.endpoint.driver === 'sdk' && this.context.open === undefined)
      this.context = { ...this.context, open: await loadSdk(this.start.endpoint) };
    await this.ramp.run(atUs + this.start.originUs, from, to);
    this.agents.destroy();
  }

  /** @throws ConnectFailure */
  async reopen(index: number, signal: AbortSignal): Promise<HubConnection> {
    const startedUs = this.sockets.clock.nowUs();
    const stopwatch = new ConnectStopwatch();
    const connection = await this.openOne(index, signal, stopwatch);
    const tookUs = this.sockets.clock.nowUs() - startedUs;
    if (this.neverOpened.delete(index)) this.recorder.openedAfterAll(index, tookUs, stopwatch.us);
    else this.recorder.reopened(tookUs);
    this.notBack.delete(index);
    this.recorder.soFar.notBack = this.notBack.size;
    return connection;
  }

  /** Counts as not back until a later try succeeds, unless it already counts as failed or dropped. */
  reopenFailed(index: number, { errorClass, message }: ConnectFailure): void {
    if (!this.neverOpened.has(index) && !this.everDropped.has(index)) this.notBack.add(index);
    this.recorder.soFar.notBack = this.notBack.size;
    this.recorder.error(errorClass, message);
  }

  closeForNow(connection: HubConnection): void {
    this.closedForNow.add(connection.index);
    this.closeOne(connection);
  }

  closeOne(connection: HubConnection): void {
    this.recorder.soFar.closed += 1;
    this.lifespans.closed(connection.index, this.nowUs());
    this.byIndex.delete(connection.index);
    connection.close();
    // A server that does not answer must not keep descriptors while new connections open.
    setTimeout(() => connection.destroy(), goodbyeMs).unref();
  }

  private async openOne(index: number, signal: AbortSignal, stopwatch: ConnectStopwatch) {
    const connection = await connectHub(index, this.context, signal, stopwatch);
    connection.lastReceivedUs = this.nowUs();
    if (connection.isOpen) {
      this.lifespans.opened(index, this.nowUs());
      this.byIndex.set(index, connection);
    }
    return connection;
  }

  /**
   * Pings the connections whose turn it is, or was while this worker was suspended, and drops those with a silent
   * server.
   */
  keepAlive(turn: number): void {
    const { plan, worker } = this.start;
    const silentSinceUs = this.nowUs() - serverTimeoutUs;
    const turns = Math.max(1, turn - (this.lastTurn ?? turn));
    this.lastTurn = turn;
    this.isAwake = turns <= mostMissedTurns;
    const workers = plan.workers.length;
    const each = pingTurns * workers;
    for (let missed = Math.min(turns, pingTurns) - 1; missed >= 0; missed--) {
      const first = ((turn - missed) % pingTurns) * workers + worker;
      for (let index = first; index < plan.connections; index += each) {
        const connection = this.at(index);
        if (connection === undefined || connection.hasOwnKeepAlive) continue;
        if (this.isAwake && connection.lastReceivedUs < silentSinceUs)
          connection.drop('timeout', 'the server sent nothing for 30 s, not even a ping');
        else {
          connection.sendMessage(ping);
          this.recorder.soFar.pingsSent += 1;
        }
      }
    }
  }

  reportSilence(): void {
    if (!this.isAwake) return;
    const nowUs = this.nowUs();
    for (const connection of this.byIndex.values())
      connection.silentFor?.((nowUs - connection.lastReceivedUs) / 1000);
  }

  recordLifespans(): void {
    this.recorder.life = this.lifespans.take(this.nowUs());
  }

  close(): void {
    this.ramp.stop();
    this.agents.destroy();
    for (const connection of this.byIndex.values()) connection.close();
  }

  readonly received: HubListener['received'] = (connection, buffer, start, end, frameBytes) => {
    try {
      this.listener.received(connection, buffer, start, end, frameBytes);
    } catch (error) {
      if (!(error instanceof HubMessageError)) throw error;
      connection.drop('protocol', error.message);
    }
  };

  pinged(): void {
    this.recorder.soFar.pingsSent += 1;
  }

  lost(connection: HubConnection, errorClass: ErrorClass, text: string): void {
    if (this.interruptedOnes.delete(connection.index)) this.recorder.error(errorClass, text);
    else this.countLoss(connection, errorClass, text);
    this.byIndex.delete(connection.index);
    this.listener.lost(connection);
  }

  interrupted(connection: HubConnection, errorClass: ErrorClass, text: string): void {
    this.interruptedOnes.add(connection.index);
    this.countLoss(connection, errorClass, text);
  }

  recovered(connection: HubConnection, tookMs: number): void {
    this.interruptedOnes.delete(connection.index);
    connection.lastReceivedUs = this.nowUs();
    this.lifespans.opened(connection.index, this.nowUs());
    this.recorder.reopened(tookMs * 1000);
  }

  private countLoss({ index }: HubConnection, errorClass: ErrorClass, text: string): void {
    const nowUs = this.nowUs();
    const openUs = this.lifespans.openUs(index, nowUs);
    this.lifespans.closed(index, nowUs);
    const first = !this.everDropped.has(index);
    this.everDropped.add(index);
    const times = { atS: nowUs / 1_000_000, openS: openUs / 1_000_000 };
    this.recorder.lost({ connection: index, ...times, errorClass, text }, first);
  }

  private nowUs(): number {
    return this.sockets.clock.nowUs() - this.start.originUs;
  }
}

async function loadSdk(endpoint: Endpoint): Promise<OpenConnection> {
  if (endpoint.service !== undefined && !services[endpoint.service.kind].speaksHub) {
    const { pubSubSdkOpener } = await import(
      /* webpackChunkName: "sdk" */ '../../wire/sdk/pubSubSdkConnection.js'
    );
    return pubSubSdkOpener();
  }
  const { sdkOpener } = await import(
    /* webpackChunkName: "sdk" */ '../../wire/sdk/sdkConnection.js'
  );
  return sdkOpener(endpoint);
}

/** When connections were open and closed. Times are run time in microseconds. */
export class Lifespans {
  private readonly spans = new Map<
    number,
    { readonly firstUs: number; upUs: number; downSinceUs: number | undefined; downUs: number }
  >();

  opened(index: number, nowUs: number): void {
    const span = this.spans.get(index);
    if (span === undefined) {
      this.spans.set(index, { firstUs: nowUs, upUs: nowUs, downSinceUs: undefined, downUs: 0 });
      return;
    }
    span.upUs = nowUs;
    if (span.downSinceUs !== undefined) span.downUs += nowUs - span.downSinceUs;
    span.downSinceUs = undefined;
  }

  closed(index: number, nowUs: number): void {
    const span = this.spans.get(index);
    if (span !== undefined) span.downSinceUs ??= nowUs;
  }

  openUs(index: number, nowUs: number): number {
    return nowUs - (this.spans.get(index)?.upUs ?? nowUs);
  }

  take(nowUs: number): NonNullable<ConnectionSample['life']> {
    const counts = new LifeCounts();
    for (const { firstUs, downUs, downSinceUs = nowUs } of this.spans.values())
      counts.record(nowUs - firstUs, downUs + (nowUs - downSinceUs));
    return counts.take();
  }
}
