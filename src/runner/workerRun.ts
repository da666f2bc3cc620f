import type { Clock } from '../base/clock';
import { leaveOut, populationOf, type Population } from '../plan/population';
import type { FromWorker, ToWorker, WorkerStart } from '../protocol/worker';
import type { HubConnection } from '../wire/hubConnection';
import type { HubMessage } from '../wire/hubMessage';
import { shownText } from '../wire/connectFailure';
import { Connections } from './connections';
import { MessageSender } from './messageSender';
import { PacingLoop } from './pacingLoop';
import { Preparation } from './preparation';
import { Receiver } from './receiver';
import { Recorder } from './recorder';
import { SelfCheck } from './selfCheck';
import { SharedMembers } from './sharedMembers';

const tickUs = 1_000_000;

/** Borders of the step that is going on, run time. */
interface StepWindow {
  readonly index: number;
  readonly measureUs: number;
  readonly endUs: number;
}

/**
 * One worker's part of a run, callable without a thread: takes orders, posts facts. It owns its
 * connections, sends what is due on them and counts what comes back.
 */
export class WorkerRun {
  private readonly population: Population;
  private readonly recorder = new Recorder();
  private readonly selfCheck = new SelfCheck();
  private readonly members: SharedMembers;
  private readonly connections: Connections;
  private readonly preparation: Preparation;
  private readonly receiver: Receiver;
  private readonly sender: MessageSender;
  private readonly loop: PacingLoop;
  private readonly ids: (Buffer | undefined)[] = [];
  private nextTick: number;
  private window: StepWindow | undefined;
  /** Step whose measured time is going on; 0 outside. */
  private measuring = 0;
  /** Run time of the window's next border. */
  private borderUs = Infinity;

  constructor(
    private readonly start: WorkerStart,
    private readonly clock: Clock,
    private readonly post: (fact: FromWorker) => void,
  ) {
    const { plan } = start;
    this.population = populationOf(plan);
    this.members = new SharedMembers(start.population, this.population);
    this.preparation = new Preparation(plan, this.population, this.members);
    this.connections = new Connections(start, clock, this.recorder, {
      received: (connection, buffer, from, to, frameBytes) => {
        const nowUs = this.nowUs();
        this.receiver.received(connection, buffer, from, to, frameBytes, nowUs);
        this.loop.inputHandled(nowUs);
      },
      lost: (connection) => {
        this.members.leave(connection.index);
        this.preparation.lost(connection);
      },
    });
    this.receiver = new Receiver(plan, this.population, this.recorder, {
      isMember: (index) => this.members.isOpen(index),
      other: (connection, message) => {
        this.handleOther(connection, message);
      },
    });
    this.sender = new MessageSender(plan, start.worker, this.population, {
      connection: (index) => this.connections.openAt(index),
      isOpen: (index) => this.members.isOpen(index),
      members: (group) => this.members.count(group),
      idOf: (index) => this.ids[index],
      nowUs: () => this.nowUs(),
    });
    this.nextTick = Math.floor(this.nowUs() / tickUs) + 1;
    this.loop = new PacingLoop({
      nowUs: () => this.nowUs(),
      nextUs: () => Math.min(this.sender.nextUs, this.borderUs, this.nextTick * tickUs),
      work: () => this.work(),
      delayed: (us) => {
        this.selfCheck.delayed(us);
      },
      napped: (us) => {
        this.selfCheck.napped(us);
      },
    });
  }

  /** Carries out an order. */
  async handle(order: ToWorker): Promise<void> {
    switch (order.type) {
      case 'connect':
        this.loop.begin();
        await this.connections.open(order.atUs);
        this.post({ type: 'connected' });
        break;
      case 'prepare':
        this.post({ type: 'prepared', ids: await this.preparation.run(this.connections.opened) });
        break;
      case 'identify':
        for (const [index, id] of order.ids)
          this.ids[index] = Buffer.from(JSON.stringify(id).slice(1, -1), 'utf8');
        if (this.population.fixedTargets !== undefined) {
          leaveOut(this.population.fixedTargets, (index) => this.ids[index] !== undefined);
        }
        break;
      case 'step':
        this.beginStep(order.index, order.atUs);
        break;
      case 'drained':
        this.recorder.steps[order.index]!.drained = true;
        break;
      case 'halt':
        this.sender.halt();
        this.sample(false);
        this.borderUs = Infinity;
        this.measuring = 0;
        break;
      case 'flush':
        this.sample(false, order.flush);
        break;
      case 'close':
        this.close();
        break;
    }
  }

  private nowUs(): number {
    return this.clock.nowUs() - this.start.originUs;
  }

  private handleOther(connection: HubConnection, message: HubMessage): void {
    if (message.type === 7) connection.closeReason = shownText(message.error ?? '');
    else if (message.type === 3 && typeof message.error === 'string')
      this.recorder.error('invocation', shownText(message.error));
    this.preparation.handle(connection, message);
  }

  private beginStep(index: number, atUs: number): void {
    const step = this.start.plan.steps[index - 1]!;
    const measureUs = atUs + step.warmupMs * 1000;
    this.window = { index, measureUs, endUs: measureUs + step.measureMs * 1000 };
    this.borderUs = measureUs;
    this.sender.begin(step, atUs, this.recorder.beginStep(index));
    this.loop.wake();
  }

  /** Everything that is due now; see {@link PacingLoop}. */
  private work(): boolean {
    const nowUs = this.nowUs();
    if (nowUs >= this.borderUs) this.crossBorder();
    const state = this.sender.pump();
    if (state === 'done') this.post({ type: 'stepSent', index: this.recorder.current!.step });
    if (nowUs >= this.nextTick * tickUs) {
      this.sample(true);
      this.connections.keepAlive(this.nextTick);
      this.nextTick = Math.floor(nowUs / tickUs) + 1;
    }
    return state === 'more';
  }

  /** Into the measured time of the step, or out of it: no sample spans the border. */
  private crossBorder(): void {
    const { index, measureUs, endUs } = this.window!;
    this.sample(false);
    const entering = this.borderUs === measureUs && this.measuring !== index;
    this.measuring = entering ? index : 0;
    this.borderUs = entering ? endUs : Infinity;
  }

  private sample(due: boolean, flush?: number): void {
    const generator = this.selfCheck.take(this.measuring);
    const sample = this.recorder.take(this.start.worker, this.nextTick, generator);
    this.post({ type: 'sampled', sample, due, ...(flush === undefined ? {} : { flush }) });
  }

  private close(): void {
    this.connections.close();
    this.sample(false);
    this.loop.end();
    this.selfCheck.dispose();
    this.post({ type: 'closed' });
  }
}
