/** Cost of the engine itself: echoes in a closed loop, without pacing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint } from '../../base/endpoint';
import type { WireProtocol } from '../../base/message';
import { defaultSlo } from '../../base/slo';
import { createPlanEntry } from '../../plan/buildPlan';
import type { Plan } from '../../plan/plan';
import { populationsOf } from '../../plan/population';
import { startLocalServer } from '../../targets/serverProcess';
import type { Parameters } from '../../usecases/parameters';
import { codecForProtocol, connectHub } from '../../wire/connect/connectHub';
import { SocketAgents } from '../../wire/socket/socket';
import type { HubConnection, HubListener } from '../../wire/hub/clientConnection';
import { recordLatencyShape } from '../../wire/message/messageLayout';
import { holeLengths, MessageTemplate } from '../../wire/message/messageTemplate';
import { emptyStamp } from '../../wire/message/stamp';
import { machineClock, CpuMeter } from '../machineClock';
import { Receiver } from '../receive/receiver';
import { Recorder } from '../recorder';

export function closedPlan(
  connections: number,
  protocol: WireProtocol,
  useCase: string,
  parameters: Parameters,
): Plan {
  const all = { sendingInterval: 1000, ...parameters };
  return {
    runId: 1,
    seed: 1,
    connections,
    arrivingRate: connections,
    connectInFlight: connections,
    connectTimeoutMs: 10_000,
    pacing: 'closed',
    protocol,
    dialect: 'recordLatency',
    entries: [createPlanEntry({ name: useCase, parameters: all })],
    steps: [],
    slo: defaultSlo,
    workers: [{ worker: 0, workers: 1, connectInFlight: connections }],
  };
}

const limits = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 4 * 1024 * 1024 };

/** Each echo that comes back sends the next one on its connection; everything is counted as in a run. */
export class RoundTrips implements HubListener {
  onRoundTrip: (us: number) => void = () => undefined;
  private readonly step;
  private readonly agents;
  readonly received: HubListener['received'];
  private readonly template: MessageTemplate;
  private readonly stamp = emptyStamp();
  private readonly clock = machineClock();
  private readonly originUs = this.clock.nowUs();
  private readonly sentUs: Float64Array;
  private readonly sequences: Int32Array;
  private readonly connections: (HubConnection | undefined)[] = [];
  private counted = 0;

  constructor(
    private readonly endpoint: Endpoint,
    connections: number,
    blob: string,
    protocol: WireProtocol = 'json',
    private readonly codec = codecForProtocol(protocol),
  ) {
    const plan = closedPlan(connections, protocol, 'echo', { messageSize: blob.length });
    const recorder = new Recorder();
    this.step = recorder.beginStep(1);
    const receiver = new Receiver(plan, populationsOf(plan), recorder, {
      nowUs: () => this.nowUs(),
      codec,
      members: { wasMember: () => true, changedNear: () => false },
      other: () => undefined,
      handled: (nowUs, connection) => this.handled(nowUs, connection),
    });
    this.received = receiver.received;
    this.agents = new SocketAgents(endpoint, connections);
    const framed = endpoint.transport === undefined;
    this.template = MessageTemplate.of(
      recordLatencyShape({ method: plan.entries[0]!.run.message!.method, blob }),
      holeLengths(undefined),
      this.codec,
      framed,
    );
    Object.assign(this.stamp, { runId: plan.runId, step: 1 });
    this.sentUs = new Float64Array(connections);
    this.sequences = new Int32Array(connections);
  }

  get count(): number {
    return this.step.received;
  }

  async open(): Promise<HubConnection> {
    const index = this.connections.length;
    const { endpoint, agents } = this;
    const opening = connectHub(
      index,
      { endpoint, agents, listener: this, options: { ...limits, codec: this.codec } },
      new AbortController().signal,
    );
    // Reserves the index, so that connections can open at the same time.
    this.connections.length += 1;
    return (this.connections[index] = await opening);
  }

  start(): void {
    for (const connection of this.connections)
      if (connection?.isOpen === true) this.send(connection);
  }

  close(): void {
    for (const connection of this.connections) connection?.close();
    this.agents.destroy();
  }

  private handled(nowUs: number, connection: HubConnection): void {
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

interface Calibration {
  readonly messagesPerSecond: number;
  readonly cpuUsPerMessage: number;
}

const connections = 50;
const warmupMs = 400;
const measureMs = 1200;

/** Sends echoes of 2 KB to a hub in another process, so that the CPU time measured is ours alone. */
export async function calibrate(serverScript: string): Promise<Calibration> {
  const hub = await startLocalServer('hub', serverScript);
  const endpoint = {
    urls: [hub.value],
    headers: {},
    query: {},
    insecureTls: false,
    skipNegotiation: true,
  };
  const trips = new RoundTrips(endpoint, connections, 'x'.repeat(2048));
  try {
    await Promise.all(Array.from({ length: connections }, () => trips.open()));
    trips.start();
    await sleep(warmupMs);
    const cpu = new CpuMeter();
    const before = trips.count;
    await sleep(measureMs);
    const cpuUsPerMessage = cpu.usedUs() / Math.max(1, trips.count - before);
    return { messagesPerSecond: Math.round(1_000_000 / cpuUsPerMessage), cpuUsPerMessage };
  } finally {
    trips.close();
    await hub.dispose();
  }
}
