import { seededRandom, type Random } from '../base/random';
import { PairTable } from '../measure/pairTable';
import { ClosedPace } from '../plan/closedPace';
import { Pace, type Pacing } from '../plan/pace';
import type { Plan, PlanStep } from '../plan/plan';
import { ranksOf, type Population } from '../plan/population';
import { numberOf } from '../usecases/parameterSpec';
import { findUseCase } from '../usecases/registry';
import type { HubMessage } from '../usecases/useCase';
import type { HubConnection } from '../wire/hubConnection';
import { MessageTemplate } from '../wire/messageTemplate';
import { emptyStamp } from '../wire/stamp';
import type { StepRecorder } from './recorder';

/** What the sender needs to know about the connections of the whole run. */
export interface SenderDependencies {
  /** The worker's own connection of that index; undefined when it is not open. */
  readonly connection: (index: number) => HubConnection | undefined;
  /** Receivers of a message that is due now: 1 or 0 for one connection, members for a group. */
  readonly isOpen: (index: number) => boolean;
  readonly members: (group: number) => number;
  /** Connection id of any connection of the run, escaped for JSON. */
  readonly idOf: (index: number) => Buffer | undefined;
  /** Run time in microseconds. */
  readonly nowUs: () => number;
}

/** Sends in one go at most, so that receiving is not starved while a backlog is worked off. */
const burst = 256;
/** Backlog is worked off this long after the last message was due; the rest counts as offered, not sent. */
const graceUs = 1_000_000;

interface ActiveStep {
  readonly recorder: StepRecorder;
  readonly pace: Pacing;
  /** Connection index of each of the worker's senders. */
  readonly senders: Uint32Array;
  readonly startUs: number;
  readonly warmupUs: number;
  readonly endUs: number;
}

/** Sends what is due. Owns the encoded messages; allocates nothing per message. */
export class MessageSender {
  private step: ActiveStep | undefined;
  private readonly templates = new Map<number, MessageTemplate>();
  private readonly message: HubMessage;
  private readonly blob: string;
  private readonly stamp = emptyStamp();
  private readonly sequences = new PairTable();
  private readonly groupNames: (Buffer | undefined)[] = [];
  private readonly random: Random;
  /** The receiver chosen for the message at hand. */
  private receiver: Buffer | undefined;
  private receivers = 0;
  private source = 0;
  /** Second half of the sequence's key: the receiver, where it changes with each message. */
  private stream = 0;

  constructor(
    private readonly plan: Plan,
    private readonly worker: number,
    private readonly population: Population,
    private readonly dependencies: SenderDependencies,
  ) {
    const run = findUseCase(plan.useCase)?.run;
    if (run === undefined) throw new Error(`use case ${plan.useCase} cannot be run`);
    this.message = run.message;
    this.random = seededRandom(plan.seed ^ 0x5bd1e995 ^ worker);
    this.blob = randomText(numberOf(plan.parameters, 'messageSize'), this.random);
    this.stamp.runId = plan.runId;
  }

  /** Begins a step whose warm-up starts at `startUs` (run time). */
  begin(step: PlanStep, startUs: number, recorder: StepRecorder): void {
    const { plan, population } = this;
    const intervalUs = numberOf(plan.parameters, 'sendingInterval') * 1000;
    const ranks = ranksOf(population.senderOrder, step.senders, this.worker, plan.workers.length);
    this.step = {
      recorder,
      pace:
        plan.pacing === 'open'
          ? new Pace(ranks, step.senders, intervalUs)
          : new ClosedPace(ranks.length, intervalUs, this.random),
      senders: ranks.map((rank) => population.senderOrder[rank]!),
      startUs,
      warmupUs: step.warmupMs * 1000,
      endUs: (step.warmupMs + step.measureMs) * 1000,
    };
    this.stamp.step = step.index;
  }

  halt(): void {
    this.step = undefined;
  }

  /** Run time at which {@link pump} has something to do again; Infinity when no step is being sent. */
  get nextUs(): number {
    const { step } = this;
    return step === undefined ? Infinity : step.startUs + Math.min(step.pace.nextDueUs, step.endUs);
  }

  /**
   * Sends what is due, up to a bound.
   *
   * @returns `done` once the step's last message was due, `more` when the bound was reached
   */
  pump(): 'idle' | 'more' | 'done' {
    const { step } = this;
    if (step === undefined) return 'idle';
    const { pace, startUs, endUs } = step;
    let nowUs = this.dependencies.nowUs();
    const unixMs = Date.now();
    for (let count = 0; count < burst; count++) {
      const dueUs = pace.nextDueUs;
      const elapsedUs = nowUs - startUs;
      if (dueUs >= endUs) {
        if (elapsedUs < endUs) return 'idle';
        this.step = undefined;
        return 'done';
      }
      if (dueUs > elapsedUs) return 'idle';
      if (elapsedUs > endUs + graceUs) {
        this.giveUp(step);
        return 'done';
      }
      this.sendOne(step, pace.take(elapsedUs), dueUs, nowUs, unixMs);
      nowUs = this.dependencies.nowUs();
    }
    return 'more';
  }

  private sendOne(
    step: ActiveStep,
    position: number,
    dueUs: number,
    nowUs: number,
    unixMs: number,
  ): void {
    const sender = step.senders[position]!;
    const connection = this.dependencies.connection(sender);
    if (connection === undefined || !this.chooseReceiver(sender)) return;
    const { stamp } = this;
    const open = this.plan.pacing === 'open';
    stamp.source = this.source;
    stamp.warmup = dueUs < step.warmupUs;
    stamp.intendedUs = open ? step.startUs + dueUs : nowUs;
    stamp.sentUs = nowUs;
    const slot = this.sequences.slot(this.source, this.stream);
    stamp.sequence = this.sequences.values[slot]!++;
    const template = this.templateFor(this.receiver?.length ?? 0);
    const frame = template.fill(stamp, this.receiver, unixMs);
    if (!connection.send(frame)) template.detach();
    if (stamp.warmup) return;
    const { recorder } = step;
    recorder.offered += 1;
    recorder.sent += 1;
    recorder.expected += this.receivers;
    recorder.wireBytesIn += template.wireBytes;
    recorder.slip.record(nowUs - stamp.intendedUs);
  }

  /** Sets source, receiver and expected deliveries; false when there is nobody to send to. */
  private chooseReceiver(sender: number): boolean {
    const { population, dependencies } = this;
    this.source = sender;
    this.stream = 0;
    this.receiver = undefined;
    switch (population.audience) {
      case 'self':
        this.receivers = 1;
        return true;
      case 'everyone':
        this.receivers = dependencies.members(0);
        return true;
      case 'group': {
        const slot =
          population.sourcesPerSender === 1 ? 0 : this.random.below(population.sourcesPerSender);
        const group = population.groupOf(sender, slot);
        this.source = sender * population.sourcesPerSender + slot;
        this.receiver = this.groupNames[group] ??= Buffer.from(
          groupName(this.plan, group),
          'latin1',
        );
        this.receivers = dependencies.members(group);
        return true;
      }
      case 'client': {
        const target = population.fixedTargets?.[sender] ?? this.randomTarget(sender);
        this.receiver = dependencies.idOf(target);
        this.receivers = dependencies.isOpen(target) ? 1 : 0;
        if (population.fixedTargets === undefined) this.stream = target;
        return target !== sender && this.receiver !== undefined;
      }
    }
  }

  /** Another connection that has an id, if a few tries find one. */
  private randomTarget(sender: number): number {
    let target = sender;
    for (let tries = 0; tries < 20; tries++) {
      target = this.random.below(this.plan.connections);
      if (target !== sender && this.dependencies.isOpen(target)) return target;
    }
    return target;
  }

  private templateFor(receiverLength: number): MessageTemplate {
    let template = this.templates.get(receiverLength);
    if (template === undefined) {
      template = new MessageTemplate({ ...this.message, blob: this.blob }, receiverLength);
      this.templates.set(receiverLength, template);
    }
    return template;
  }

  /** Counts what was due and could not be sent in time, and ends the step. */
  private giveUp({ senders, pace, recorder, warmupUs, endUs }: ActiveStep): void {
    senders.forEach((sender, position) => {
      if (this.dependencies.connection(sender) === undefined) return;
      recorder.offered += pace.left(position, warmupUs, endUs);
    });
    this.step = undefined;
  }
}

/** Name of a group of this run; the run's id keeps concurrent runs apart. */
export function groupName(plan: Plan, group: number): string {
  return `${plan.useCase}_${plan.runId.toString(16)}_${group}`;
}

/** Letters and digits that do not compress well and need no escaping. */
function randomText(length: number, random: Random): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length }, () => alphabet[random.below(alphabet.length)]).join('');
}
