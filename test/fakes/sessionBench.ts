import assert from 'node:assert/strict';
import type { Plan } from '../../src/plan/plan';
import { populationsOf, type Population } from '../../src/plan/population';
import { createMemberMemory, SharedMembers } from '../../src/engine/prepare/sharedMembers';
import { Receiver } from '../../src/engine/receive/receiver';
import { Recorder } from '../../src/engine/recorder';
import type { EntrySender } from '../../src/engine/send/entrySender';
import { ReplaySender } from '../../src/engine/send/replaySender';
import type { MessageRows } from '../../src/engine/send/messageShape';
import { SessionSender } from '../../src/engine/send/sessionSender';
import { listCalls, stepsIn } from '../../src/usecases/sessionSteps';
import type { HubMessage, Invocation } from '../../src/wire/message/hubMessage';
import type { StepSample } from '../../src/measure/sample';
import { parseScenario } from '../../src/scenario/parseScenario';
import { FakeConnection } from './connection';
import { onlyClientFrame } from './frames';
import { PacedTime } from './pacedTime';
import { planOf } from './plan';

/** A call as the hub gets it. */
export interface HubCall {
  readonly index: number;
  readonly target: string;
  readonly args: readonly unknown[];
  readonly id: string | undefined;
  readonly atUs: number;
}

/** What a hub sends so long after a call. */
export interface HubReply {
  readonly afterUs: number;
  /** Absent: to the caller. */
  readonly to?: number;
  readonly message: object;
}

export type FakeHub = (call: HubCall) => readonly HubReply[];

export const completion = (id: string | undefined, result: unknown = null): object => ({
  ...{ type: 3, invocationId: id, result },
});

/** Answers every call that asks for it, with the same. */
export const answering =
  (afterUs: number, result: unknown = null): FakeHub =>
  ({ id }) =>
    id === undefined ? [] : [{ afterUs, message: completion(id, result) }];

/** Its parameters as a scenario has them, which must be without problems. */
export function sessionPlan(
  parameters: string,
  changes: Parameters<typeof planOf>[0] = {},
  workers = 1,
): Plan {
  const { connections = 10 } = changes;
  const text = `config: { connections: ${connections}, data: { file: rows.csv, take: shared } }\nscenario:\n  name: session\n  parameters:\n${parameters.replace(/^/gm, '    ')}\n`;
  const { scenario, problems } = parseScenario(text);
  assert.deepEqual(
    problems.filter(({ severity }) => severity !== 'info').map(({ message }) => message),
    [],
  );
  const [entry] = scenario!.entries;
  return planOf({ useCase: 'session', parameters: entry!.parameters, ...changes }, workers);
}

/** The same of one connection. */
export const sessionOf = (parameters: string): Plan => sessionPlan(parameters, { connections: 1 });

const generator = { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 };

/** One worker's sessions against a made-up hub, driven by its pacing loop on virtual time. */
export class SessionBench {
  private readonly time = new PacedTime();
  readonly connections: FakeConnection[];
  readonly recorder: Recorder;
  readonly sender: EntrySender;
  readonly members: SharedMembers;
  readonly calls: HubCall[] = [];
  private readonly receiver: Receiver;
  private readonly seen: number[];
  readonly population: Population;

  constructor(
    plan: Plan,
    private readonly hub: FakeHub,
    worker = 0,
    rows?: MessageRows,
  ) {
    const populations = populationsOf(plan);
    [this.population] = populations as [Population];
    const { session } = plan.entries[0]!.run;
    const { connections, workers } = plan;
    this.connections = Array.from({ length: connections }, (_, at) => new FakeConnection(at));
    this.seen = this.connections.map(() => 0);
    const counts = [listCalls(stepsIn(session!)).length];
    const recorder = (this.recorder = new Recorder(0, undefined, 1, false, counts));
    const nowUs = (): number => this.nowUs;
    // Joining and leaving waits for the next microsecond.
    const passingUs = (): number => {
      this.time.pass(0.001);
      return this.nowUs;
    };
    const memory = createMemberMemory(connections, this.population.groupCount, { counts: true });
    const members = (this.members = new SharedMembers(memory, populations, passingUs));
    for (const { index } of this.connections)
      if (session!.joins) members.joinOutside(index);
      else members.join(index);
    const Sender = session!.replays ? ReplaySender : SessionSender;
    this.sender = new Sender(plan, 0, worker, this.population, {
      connection: (index) => {
        assert.equal(index % workers.length, worker, 'not a connection of this worker');
        const connection = this.connections[index]!;
        return connection.isOpen ? connection.asHub : undefined;
      },
      ...{ members, recorder, framed: true, nowUs, rows },
    });
    const { sender } = this;
    this.receiver = new Receiver(plan, populations, recorder, {
      ...{ nowUs, members, handled: this.time.inputHandled },
      other: (at, message) => {
        if (message.type === 3) sender.completed!(at.connection, message, this.nowUs);
        if (message.type === 1) sender.called?.(at, message);
        if (message.type === 2) sender.streamed!(at, message);
      },
      streams: {
        arrived: () => undefined,
        answered: (_entry, ...answer) => sender.answered?.(...answer),
        itemCame: (...item) => sender.itemCame?.(...item) ?? false,
      },
    });
  }

  get nowUs(): number {
    return this.time.nowUs();
  }

  /** The thread stands still for so long. */
  standStill(ms: number): void {
    this.time.pass(ms);
  }

  /** Runs a step that begins at 5 s and is measured for so long, and goes on for a second after the drain. */
  run(
    measureMs: number,
    { warmupMs = 0, drainMs = 0, senders = this.connections.length, index = 1 } = {},
  ): this {
    const startUs = Math.max(5_000_000, this.nowUs);
    const recorder = this.recorder.beginStep(index);
    recorder.measuredFromUs = startUs + warmupMs * 1000;
    recorder.measuredToUs = recorder.measuredFromUs + measureMs * 1000;
    const step = { index, senders, warmupMs, measureMs, drainMs };
    this.sender.begin(step, startUs, recorder);
    const endUs = startUs + (warmupMs + measureMs + drainMs) * 1000;
    this.time.drive(this.sender, endUs + 1_000_000, () => this.takeFrames());
    this.sender.halt();
    return this;
  }

  /** @param message what the hub does then, where it is a function */
  reply(atUs: number, to: number, message: object | (() => void)): void {
    this.time.at(atUs, () => this.deliver(to, message));
  }

  private takeFrames(): void {
    for (const { index, frames } of this.connections)
      for (; this.seen[index]! < frames.length; this.seen[index]! += 1) {
        const text = onlyClientFrame(frames[this.seen[index]!]!).payload.toString('utf8');
        const message = JSON.parse(text.replace('\x1e', '')) as HubMessage & { target: string };
        const { target, arguments: args, invocationId: id } = message as Invocation;
        const call = { index, target, args, id, atUs: this.nowUs };
        this.calls.push(call);
        for (const { afterUs, to = index, message: sent } of this.hub(call))
          this.reply(this.nowUs + afterUs, to, sent);
      }
  }

  private deliver(to: number, message: object | (() => void)): void {
    if (typeof message === 'function') {
      message();
      return;
    }
    const connection = this.connections[to]!;
    if (!connection.isOpen) return;
    const bytes = Buffer.from(`${JSON.stringify(message)}\x1e`);
    this.receiver.received(connection.asHub, bytes, 0, bytes.length, bytes.length + 4);
  }

  /** Of the step, once. */
  sample(): StepSample {
    const { steps, errorExamples } = this.recorder.take(0, 1, generator);
    this.errors = errorExamples.map(({ errorClass, text }) => `${errorClass}: ${text}`);
    return steps[0]!;
  }

  /** Texts of the errors, once a sample is taken. */
  errors: string[] = [];
}
