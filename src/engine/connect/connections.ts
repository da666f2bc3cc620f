/** Connections of one worker: opened at the rate of the ramp, lost, ended and opened again. */
import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { services } from '../../base/serviceTraits';
import { LifeCounts, type ConnectionSample } from '../../measure/sample';
import { targetOf } from '../../plan/draws';
import type { WorkerStart } from '../../messages/worker';
import type { ClientTokens } from '../../wire/connect/accessTokens';
import type { ConnectFailure } from '../../wire/connectFailure';
import {
  connectHub,
  type ConnectContext,
  type OpenConnection,
} from '../../wire/connect/connectHub';
import { ConnectStopwatch, SocketAgents } from '../../wire/socket/socket';
import { UnfinishedBudget } from '../../wire/socket/unfinished';
import type { HubConnection, HubListener } from '../../wire/hub/clientConnection';
import { codecOf } from '../../wire/connect/codecOf';
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
  /** How messages are read and written; absent: by the protocol of the plan, where that is not loaded. */
  readonly codec?: HubCodec;
  /** Another client than ours. */
  readonly open?: OpenConnection;
}

/** Pings leave a few at a time: many at once would hold up messages. */
export const pingTurnUs = 50_000;
/** Client and server ping each other every 15 s, as the official clients do. */
const pingTurns = 15_000_000 / pingTurnUs;
/** A worker that missed more of them has stood still. */
const mostMissedTurns = 5_000_000 / pingTurnUs;
/** A server that says nothing for so long is gone; twice its ping interval, as in the official clients. */
const serverTimeoutUs = 30_000_000;
/** Time a server gets to answer when we close one connection. */
const goodbyeMs = 5000;
const maximumUnsentBytes = 4 * 1024 * 1024;
/** Of all connections together, of what has no end yet. */
const unfinishedBytes = 256 * 1024 * 1024;

const ping = { type: hubMessageType.ping } as const;

export class Connections implements HubListener {
  /** The open ones. */
  private readonly byIndex = new Map<number, HubConnection>();
  private readonly lifespans = new Lifespans();
  private readonly everDropped = new Set<number>();
  private readonly neverOpened = new Set<number>();
  /** Those that we closed and that a try has failed to open again. */
  private readonly notBack = new Set<number>();
  /** Those that a smaller step of a search has no place for. */
  private readonly putAway = new Set<number>();
  /** Those that have lost their socket and may get another one. */
  private readonly interruptedOnes = new Set<number>();
  private lastTurn: number | undefined;
  /** It had not stood still before the last turn: what came meanwhile is read. */
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
    const { codec = codecOf(plan.protocol) } = sockets;
    const sizes = plan.entries.flatMap((entry) => entry.payload.sizes);
    const payload = Math.max(0, ...sizes.map(({ bytes }) => bytes));
    this.agents = new SocketAgents(endpoint, plan.workers[worker]!.connectInFlight);
    this.context = {
      endpoint,
      agents: this.agents,
      listener: this,
      targetOf: (index) => targetOf(plan, endpoint.urls.length, index),
      personal,
      tokens,
      open: sockets.open,
      options: {
        codec,
        // Room for the envelope and for a server that escapes every character of the payload.
        maximumMessageBytes: Math.max(1024 * 1024, 8 * payload),
        maximumUnsentBytes: Math.max(maximumUnsentBytes, 4 * payload),
        // Each may be in the middle of what it is sent.
        unfinished: new UnfinishedBudget(
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
        if (this.putAway.delete(index)) this.recorder.reopened(tookUs);
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

  /** Settles when each of them has succeeded or failed. */
  async openAll(atUs: number, from: number, to: number): Promise<void> {
    if (this.start.endpoint.driver === 'sdk' && this.context.open === undefined)
      this.context = { ...this.context, open: await loadSdk(this.start.endpoint) };
    await this.ramp.run(atUs + this.start.originUs, from, to);
    this.agents.destroy();
  }

  /** One that is down again, or was never open. @throws ConnectFailure */
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

  /** Not back until a later try succeeds, unless it counts as failed or dropped. */
  failedAgain(index: number, { errorClass, message }: ConnectFailure): void {
    if (!this.neverOpened.has(index) && !this.everDropped.has(index)) this.notBack.add(index);
    this.recorder.soFar.notBack = this.notBack.size;
    this.recorder.error(errorClass, message);
  }

  /** Closes it until a larger step of a search opens it again. */
  put(connection: HubConnection): void {
    this.putAway.add(connection.index);
    this.closeOne(connection);
  }

  closeOne(connection: HubConnection): void {
    this.recorder.soFar.closed += 1;
    this.lifespans.closed(connection.index, this.nowUs());
    this.byIndex.delete(connection.index);
    connection.close();
    // A server that does not answer must not keep descriptors while new connections are opened.
    setTimeout(() => connection.destroy(), goodbyeMs).unref();
  }

  private async openOne(index: number, signal: AbortSignal, stopwatch: ConnectStopwatch) {
    const connection = await connectHub(index, this.context, signal, stopwatch);
    connection.lastReceivedUs = this.nowUs();
    // It may have been lost again before this thread came to it.
    if (connection.isOpen) {
      this.lifespans.opened(index, this.nowUs());
      this.byIndex.set(index, connection);
    }
    return connection;
  }

  /**
   * Pings the connections whose turn it is, or was while this worker stood still, and gives up those whose server has
   * fallen silent.
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
      // Of each worker its own connections, in turn.
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

  /** Lets connections that have a way back look how long their servers have been silent. */
  noteSilence(): void {
    if (!this.isAwake) return;
    const nowUs = this.nowUs();
    for (const connection of this.byIndex.values())
      connection.silentFor?.((nowUs - connection.lastReceivedUs) / 1000);
  }

  /** To be sampled once. */
  sumUpLives(): void {
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
    // Already counted when its socket was lost; this is why no other could be had.
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

/** When the connections of one worker were up and down. Times are run time in microseconds. */
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

  /** How long the connection that is or was open last has been so. */
  openUs(index: number, nowUs: number): number {
    return nowUs - (this.spans.get(index)?.upUs ?? nowUs);
  }

  /** Sums over all connections that were ever open, as of now. */
  take(nowUs: number): NonNullable<ConnectionSample['life']> {
    const counts = new LifeCounts();
    for (const { firstUs, downUs, downSinceUs = nowUs } of this.spans.values())
      counts.record(nowUs - firstUs, downUs + (nowUs - downSinceUs));
    return counts.take();
  }
}
