import assert from 'node:assert/strict';
import type { Plan } from '../../src/plan/plan';
import { populationsOf } from '../../src/plan/population';
import { Receiver } from '../../src/engine/receive/receiver';
import { Recorder, type StepRecorder } from '../../src/engine/recorder';
import { StreamSender } from '../../src/engine/send/streamSender';
import { jsonCodec } from '../../src/wire/message/hubCodec';
import type { HubMessage, StreamInvocation, StreamItem } from '../../src/wire/message/hubMessage';
import type { Parameters } from '../../src/usecases/parameters';
import { FakeConnection } from './connection';
import { onlyClientFrame } from './frames';
import { PacedTime } from './pacedTime';
import { planOf, shortStep } from './plan';

export const step = { ...shortStep, senders: 2, warmupMs: 0 };
export const startUs = 5_000_000.4;
const ms = 1000;

export function streamPlan(parameters: Parameters = {}): Plan {
  return planOf({
    connections: 2,
    useCase: 'streamingEcho',
    parameters: {
      ...{ messageSize: 20, sendingInterval: 500, streamingItemCount: 3 },
      ...{ streamingItemSendDelay: 100, streamDirection: 'both', ...parameters },
    },
  });
}

/** One worker's stream sender and receiver on fake connections, driven by its pacing loop on virtual time. */
export class StreamBench {
  private readonly time = new PacedTime();
  readonly errors: string[] = [];
  /** Connections that are open, but take part no more. */
  readonly leaving = new Set<number>();
  readonly connections = [new FakeConnection(0), new FakeConnection(1)];
  readonly recorder = new Recorder();
  readonly counts: StepRecorder;
  readonly sender: StreamSender;
  private readonly receiver: Receiver;

  constructor(parameters?: Parameters, plan = streamPlan(parameters), warmupMs = 0) {
    const populations = populationsOf(plan);
    this.counts = this.recorder.beginStep(1);
    this.sender = new StreamSender(plan, 0, 0, populations[0]!, {
      connection: (index) => this.openAt(index)?.asHub,
      members: { version: () => 0, isOpen: () => true, count: () => 1, idOf: () => undefined },
      framed: true,
      nowUs: () => this.nowUs,
      recorder: {
        delivered: (...delivery) => this.recorder.delivered(...delivery),
        error: (errorClass, text) => this.errors.push(`${errorClass}: ${text}`),
      },
    });
    this.receiver = new Receiver(plan, populations, this.recorder, {
      nowUs: () => this.nowUs,
      members: { wasMember: () => true, changedNear: () => false },
      streams: {
        arrived: (_entry, index, source, sequence) => this.sender.arrived(index, source, sequence),
        itemCame: (...item) => this.sender.itemCame(...item),
      },
      other: ({ connection }, message) => {
        assert.equal(message.type, 3);
        assert.ok(this.sender.completed(connection, message, this.nowUs));
      },
    });
    this.nowUs = startUs - 10 * ms;
    this.sender.begin({ ...step, warmupMs }, startUs, this.counts);
  }

  get nowUs(): number {
    return this.time.nowUs();
  }

  set nowUs(us: number) {
    this.time.pass((us - this.nowUs) / 1000);
  }

  private openAt(index: number): FakeConnection | undefined {
    const connection = this.connections[index]!;
    return connection.isOpen && !this.leaving.has(index) ? connection : undefined;
  }

  /** Goes on to `atMs` after the start, doing what is due. */
  to(atMs: number): string[] {
    const states: string[] = [];
    this.time.drive(this.sender, startUs + atMs * ms, (state) => {
      if (state !== 'idle') states.push(state);
    });
    return states;
  }

  sent(index: number): HubMessage[] {
    return this.connections[index]!.frames.map((frame) => {
      const { payload } = onlyClientFrame(frame);
      return jsonCodec.read(payload, 0, payload.length - 1)!;
    });
  }

  hubSends(index: number, ...messages: readonly HubMessage[]): void {
    this.hubSendsText(index, Buffer.concat(messages.map(jsonCodec.encode)).toString());
  }

  /** The same in words of its own. */
  hubSendsText(index: number, text: string): void {
    const bytes = Buffer.from(text);
    const connection = this.connections[index]!.asHub;
    this.receiver.received(connection, bytes, 0, bytes.length, bytes.length);
  }

  /** What the hub would give back of the items that a connection has sent. */
  echoes(index: number): StreamItem[] {
    let id = '';
    return this.sent(index).flatMap((message) => {
      if (message.type === 4) id = message.invocationId;
      return message.type === 2 ? [{ ...message, invocationId: id }] : [];
    });
  }

  call(index: number, number = 0): StreamInvocation {
    const calls = this.sent(index).filter(({ type }) => type === 4 || type === 1);
    return calls[number] as StreamInvocation;
  }

  get reported(): Record<string, number> {
    const { offered, sent, expected, received, extra, duplicated } = this.counts;
    return { offered, sent, expected, received, extra, duplicated };
  }
}
