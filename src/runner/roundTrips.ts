import { defaultSlo } from '../base/slo';
import { populationOf } from '../plan/population';
import type { Plan } from '../plan/plan';
import type { Endpoint } from '../wire/endpoint';
import { HubConnection, type HubListener } from '../wire/hubConnection';
import { MessageTemplate } from '../wire/messageTemplate';
import { withQuery } from '../wire/negotiate';
import { emptyStamp } from '../wire/stamp';
import { machineClock } from './machineClock';
import { Receiver } from './receiver';
import { Recorder } from './recorder';

const limits = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 4 * 1024 * 1024 };

/**
 * The engine without its pacing: on each connection one echo is always on its way, and each that comes
 * back sends the next. It tells what a message costs the generator, with everything a run counts.
 */
export class RoundTrips implements HubListener {
  /** Latency of each round trip, for whoever wants it. */
  onRoundTrip: (us: number) => void = () => undefined;
  private readonly step;
  private readonly receiver: Receiver;
  private readonly template: MessageTemplate;
  private readonly stamp = emptyStamp();
  private readonly clock = machineClock();
  private readonly originUs = this.clock.nowUs();
  private readonly sentUs: Float64Array;
  private readonly sequences: Int32Array;
  private readonly connections: (HubConnection | undefined)[] = [];
  private counted = 0;

  /** @param blob payload text of every message */
  constructor(
    private readonly endpoint: Endpoint,
    connections: number,
    blob: string,
  ) {
    const plan = echoPlan(connections, blob.length);
    const recorder = new Recorder();
    this.step = recorder.beginStep(1);
    this.receiver = new Receiver(plan, populationOf(plan), recorder, {
      isMember: () => true,
      other: () => undefined,
    });
    this.template = new MessageTemplate({ method: 'Echo', blob }, 0);
    Object.assign(this.stamp, { runId: plan.runId, step: 1 });
    this.sentUs = new Float64Array(connections);
    this.sequences = new Int32Array(connections);
  }

  get count(): number {
    return this.step.received;
  }

  /** Opens one more connection, without negotiation. */
  async open(): Promise<HubConnection> {
    const index = this.connections.length;
    const where = {
      url: withQuery(this.endpoint.urls[0]!, this.endpoint.query),
      headers: this.endpoint.headers,
    };
    const opening = HubConnection.open(
      index,
      where,
      this.endpoint,
      this,
      limits,
      new AbortController().signal,
    );
    // The place is taken at once, so that openings may overlap.
    this.connections.length += 1;
    return (this.connections[index] = await opening);
  }

  start(): void {
    for (const connection of this.connections)
      if (connection?.isOpen === true) this.send(connection);
  }

  close(): void {
    for (const connection of this.connections) connection?.close();
  }

  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void {
    const nowUs = this.nowUs();
    this.receiver.received(connection, buffer, start, end, frameBytes, nowUs);
    if (this.step.received === this.counted) return;
    this.counted = this.step.received;
    this.onRoundTrip(nowUs - this.sentUs[connection.index]!);
    this.send(connection);
  }

  lost(_connection: HubConnection, errorClass: string, text: string): void {
    throw new Error(`a round-trip connection was lost: ${errorClass}: ${text}`);
  }

  private send(connection: HubConnection): void {
    const { stamp, template } = this;
    const { index } = connection;
    stamp.source = index;
    stamp.sequence = this.sequences[index]!++;
    stamp.intendedUs = stamp.sentUs = this.sentUs[index] = this.nowUs();
    if (!connection.send(template.fill(stamp, undefined, Date.now()))) template.detach();
  }

  private nowUs(): number {
    return this.clock.nowUs() - this.originUs;
  }
}

function echoPlan(connections: number, messageSize: number): Plan {
  return {
    runId: 1,
    seed: 1,
    connections,
    arrivingRate: connections,
    connectInFlight: connections,
    connectTimeoutMs: 10_000,
    pacing: 'closed',
    dialect: 'recordLatency',
    useCase: 'echo',
    parameters: { messageSize, sendingInterval: 1000 },
    steps: [],
    slo: defaultSlo,
    workers: [{ worker: 0, workers: 1, connectInFlight: connections }],
  };
}
