import type { Clock } from '../base/clock';
import type { ErrorClass } from '../base/errorClass';
import { numberOf } from '../usecases/parameterSpec';
import type { WorkerStart } from '../protocol/worker';
import { connectHub, type ConnectContext } from '../wire/connectHub';
import type { HubConnection, HubListener } from '../wire/hubConnection';
import { HubMessageError, encodeHubMessage } from '../wire/hubMessage';
import { negotiateAgents, type NegotiateAgents } from '../wire/negotiate';
import { Ramp } from './ramp';
import type { Recorder } from './recorder';

/** What the owner of the connections does with them. */
export interface ConnectionsListener {
  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void;
  lost(connection: HubConnection): void;
}

/** Client and server ping each other this often, as the official clients do. */
const pingSeconds = 15;
/** A server that says nothing for so long is gone; twice its ping interval, as in the official clients. */
const serverTimeoutUs = 30_000_000;
const maximumUnsentBytes = 4 * 1024 * 1024;

/** The connections of one worker: opening, keeping alive, losing, closing. */
export class Connections implements HubListener {
  private readonly all = new Map<number, HubConnection>();
  private readonly agents: NegotiateAgents;
  private readonly ramp: Ramp;
  private readonly ping = encodeHubMessage({ type: 6 });

  constructor(
    private readonly start: WorkerStart,
    private readonly clock: Clock,
    private readonly recorder: Recorder,
    private readonly listener: ConnectionsListener,
  ) {
    const { plan, worker, endpoint } = start;
    this.agents = negotiateAgents(endpoint, plan.workers[worker]!.connectInFlight);
    const context: ConnectContext = {
      endpoint,
      agents: this.agents,
      listener: this,
      options: {
        // Room for the envelope and for a server that escapes every character of the payload.
        maximumMessageBytes: Math.max(1024 * 1024, 8 * numberOf(plan.parameters, 'messageSize')),
        maximumUnsentBytes: Math.max(
          maximumUnsentBytes,
          4 * numberOf(plan.parameters, 'messageSize'),
        ),
      },
    };
    this.ramp = new Ramp(plan, worker, {
      clock,
      open: async (index, signal) => {
        const connection = await connectHub(index, context, signal);
        connection.lastReceivedUs = this.nowUs();
        this.all.set(index, connection);
      },
      opened: (_index, tookUs) => {
        this.recorder.connected += 1;
        this.recorder.connectTimes.record(tookUs);
      },
      retried: (_index, failure) => {
        this.recorder.error(failure.errorClass, failure.message);
      },
      failed: (_index, failure) => {
        this.recorder.failed += 1;
        this.recorder.error(failure.errorClass, failure.message);
      },
    });
  }

  /** Opens all connections at the plan's rate; settles when each has succeeded or failed. */
  async open(atUs: number): Promise<void> {
    await this.ramp.run(atUs + this.start.originUs);
    this.agents.http.destroy();
    this.agents.https.destroy();
  }

  /** The open connection of that index. */
  openAt(index: number): HubConnection | undefined {
    const connection = this.all.get(index);
    return connection?.isOpen === true ? connection : undefined;
  }

  get opened(): HubConnection[] {
    return [...this.all.values()].filter((connection) => connection.isOpen);
  }

  /** Pings the connections whose turn it is and gives up those whose server has fallen silent. */
  keepAlive(second: number): void {
    const silentSinceUs = this.nowUs() - serverTimeoutUs;
    for (const connection of this.all.values()) {
      if (!connection.isOpen || connection.index % pingSeconds !== second % pingSeconds) continue;
      if (connection.lastReceivedUs < silentSinceUs)
        connection.drop('timeout', 'the server sent nothing for 30 s, not even a ping');
      else connection.sendMessage(this.ping);
    }
  }

  close(): void {
    this.ramp.stop();
    for (const connection of this.all.values()) connection.close();
  }

  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void {
    try {
      this.listener.received(connection, buffer, start, end, frameBytes);
    } catch (error) {
      if (!(error instanceof HubMessageError)) throw error;
      connection.drop('protocol', error.message);
    }
  }

  lost(connection: HubConnection, errorClass: ErrorClass, text: string): void {
    this.recorder.dropped += 1;
    this.recorder.error(errorClass, text);
    this.all.delete(connection.index);
    this.listener.lost(connection);
  }

  private nowUs(): number {
    return this.clock.nowUs() - this.start.originUs;
  }
}
