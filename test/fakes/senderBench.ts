import assert from 'node:assert/strict';
import type { Plan } from '../../src/plan/plan';
import { populationsOf, type Population } from '../../src/plan/population';
import type { SenderDependencies } from '../../src/engine/send/entrySender';
import { MessageSender } from '../../src/engine/send/messageSender';
import { Recorder, StepRecorder } from '../../src/engine/recorder';
import { emptyStamp, readStamp, stampKey, type Stamp } from '../../src/wire/message/stamp';
import { FakeConnection } from './connection';
import { onlyClientFrame } from './frames';
import { shortStep } from './plan';

/** A message as it was sent. */
export interface Sent extends Stamp {
  readonly target: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function sentIn(frame: Buffer): Sent {
  const text = onlyClientFrame(frame).payload.toString('utf8').slice(0, -1);
  const { target, arguments: args } = JSON.parse(text) as {
    target: string;
    arguments: [Record<string, unknown>];
  };
  const stamp = emptyStamp();
  assert.ok(readStamp(Buffer.from(String(args[0][stampKey])), 0, stamp));
  return { ...stamp, target, fields: args[0] };
}

/** One worker's sender on fake connections, with a clock that is moved by hand. */
export class SenderBench {
  nowUs = 0;
  readonly population: Population;
  readonly connections: FakeConnection[];
  readonly recorder = new StepRecorder(1);
  readonly ids: (Buffer | undefined)[];
  readonly sender: MessageSender;
  /** What comes next; 0 when there is nothing left. */
  readonly versions: number[] = [];

  constructor(plan: Plan, worker = 0, more: Partial<SenderDependencies> = {}) {
    [this.population] = populationsOf(plan) as [Population];
    this.connections = Array.from({ length: plan.connections }, (_, at) => new FakeConnection(at));
    this.ids = this.connections.map(({ index }) => Buffer.from(`id-${index}`));
    const isOpen = (index: number): boolean => this.connections[index]!.isOpen;
    const workers = plan.workers.length;
    this.sender = new MessageSender(plan, 0, worker, this.population, {
      connection: (index) => {
        assert.equal(index % workers, worker, 'not a connection of this worker');
        return isOpen(index) ? this.connections[index]!.asHub : undefined;
      },
      members: {
        version: () => this.versions.shift() ?? 0,
        isOpen,
        count: (group) =>
          this.connections.filter(({ index }) => {
            const slots = Array.from({ length: this.population.groupsPerConnection }, (_, slot) =>
              this.population.groupOf(index, slot),
            );
            return isOpen(index) && slots.includes(group);
          }).length,
        idOf: (index) => this.ids[index],
      },
      recorder: new Recorder(),
      framed: true,
      nowUs: () => this.nowUs,
      ...more,
    });
  }

  /** Runs a step that starts at 5 s, looking at the sender after each of the pauses, again and again. */
  run(step = shortStep, pausesUs: readonly number[] = [1000]): this {
    this.nowUs = 5_000_000;
    this.sender.begin(step, this.nowUs, this.recorder);
    for (let turn = 0; turn < 1_000_000; turn++) {
      const state = this.sender.pump();
      if (state === 'done') return this;
      if (state === 'idle') this.nowUs += pausesUs[turn % pausesUs.length]!;
    }
    throw new Error('the step does not end');
  }

  get sent(): Sent[] {
    return this.connections.flatMap(({ frames }) => frames.map(sentIn));
  }

  get measured(): Sent[] {
    return this.sent.filter(({ warmup }) => !warmup);
  }
}
