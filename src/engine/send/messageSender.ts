import { decimalDigits, createMessageMaker, type MessageMaker, RowTemplates } from './messageShape';
import { PairTable } from '../../measure/sequence';
import { agentOfWorker, agentCount, connectionsOfAgent, type PlanStep } from '../../plan/plan';
import { createPayloadPicker, type PayloadPicker } from '../../plan/draws';
import type { Audience } from '../../usecases/useCase';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { codecForProtocol } from '../../wire/connect/connectHub';
import {
  holeLengths,
  MessageTemplate,
  type SenderFields,
  MessageValue,
} from '../../wire/message/messageTemplate';
import { userIdOf } from '../../wire/connect/accessTokens';
import type { RestCalls, RestReceiver } from '../../wire/rest/restCalls';
import type { WeakServerConnection, SendAudience } from '../../wire/service/persistentSends';
import { emptyStamp } from '../../wire/message/stamp';
import { firstMessageAckId } from '../../wire/message/messageLayout';
import type { StepRecorder } from '../recorder';
import { hasManyReceivers } from '../../plan/population';
import type { TimeToAllTracker } from '../prepare/timeToAllTracker';
import { nameLengthExcess, parseArguments } from '../../usecases/ownArguments';
import {
  EntrySender,
  graceUs,
  type SenderParts,
  type StepPacing,
  type StepWindow,
} from './entrySender';

interface Aim {
  source: number;
  /** Second part of the sequence key: the receiver, where it varies. */
  stream: number;
  receiver: Buffer | undefined;
  target: number;
  receivers: number;
  /** Index over all entries; −1 where no other agent has members. */
  group: number;
}

type ActiveStep = StepWindow & StepPacing;

/** Encodes each message once; allocates nothing per message. */
export class MessageSender extends EntrySender<ActiveStep> {
  private templates = new Map<number, MessageTemplate | MessageValue>();
  private readonly rowTemplates: RowTemplates | undefined;
  private readonly maker: MessageMaker | undefined;
  private readonly payload: PayloadPicker;
  private readonly stamp = emptyStamp();
  private readonly sequences = new PairTable();
  private readonly groupNames: (Buffer | undefined)[] = [];
  private readonly userNames: (Buffer | undefined)[] = [];
  /** Reused for all messages: nothing is allocated. */
  private readonly aim: Aim = {
    source: 0,
    stream: 0,
    receiver: undefined,
    target: 0,
    receivers: 0,
    group: -1,
  };
  private readonly origin = { index: 0, id: undefined as Buffer | undefined, ackId: 0 };
  private seenVersion = -1;

  private messageBytes: number | undefined;

  /** By connection: completions requested so far. */
  private readonly asked: Uint32Array;
  private readonly namesSender: boolean;
  private readonly namesBeyond: ReturnType<typeof nameLengthExcess>;
  private readonly rest: RestCalls | undefined;
  private readonly persistent: WeakServerConnection | undefined;
  private readonly reach: TimeToAllTracker | undefined;
  private readonly elsewhere: EntrySender['dependencies']['elsewhere'];
  private place = 0;
  private readonly ownAgent: Uint32Array | undefined;

  constructor(...parts: SenderParts) {
    super(...parts);
    const { plan, entry, dependencies } = this;
    const { via, ownCall } = entry.run;
    this.rest = via === 'rest' ? dependencies.rest : undefined;
    this.persistent = via === 'persistent' ? dependencies.persistent : undefined;
    if (via !== undefined && (this.rest ?? this.persistent) === undefined)
      throw new Error(`${entry.useCase} needs a service to call`);
    this.reach = hasManyReceivers(this.population) ? dependencies.reach : undefined;
    this.elsewhere = hasManyReceivers(this.population) ? dependencies.elsewhere : undefined;
    if (entry.targets === 'random' && agentCount(plan) > 1)
      this.ownAgent = connectionsOfAgent(plan, agentOfWorker(plan, this.worker));
    this.payload = createPayloadPicker(entry.payload.sizes, plan.seed);
    this.maker = createMessageMaker(plan, entry, Math.max(0, ...this.payload.sizes));
    if (this.maker !== undefined && this.maker.rowNames.size > 0)
      this.rowTemplates = new RowTemplates(this.maker, dependencies.rows!);
    this.stamp.runId = plan.runId;
    this.asked = new Uint32Array(plan.connections);
    this.namesSender = ownCall !== undefined;
    if (ownCall !== undefined)
      this.namesBeyond = nameLengthExcess(parseArguments(ownCall.arguments));
  }

  begin(step: PlanStep, startUs: number, recorder: StepRecorder): void {
    this.step = { ...this.windowOf(step, startUs, recorder), ...this.pacing(step) };
    this.place = this.elsewhere?.placeOf(this.step.recorder) ?? 0;
    this.stamp.step = step.index;
    if (step.messageBytes !== this.messageBytes) this.templates.clear();
    this.messageBytes = step.messageBytes;
  }

  protected override get dueUs(): number {
    return this.step!.startUs + this.step!.pace.nextDueUs;
  }

  /** Without a free socket there is nothing to do until the grace time is over. */
  override get nextUs(): number {
    const { step } = this;
    const isHeld = step !== undefined && this.mustWait && this.dueUs < step.endUs;
    return isHeld ? step.endUs + graceUs + 1 : super.nextUs;
  }

  /** Waiting for a socket of ours shows up in the generator's slip. */
  protected override get mustWait(): boolean {
    return this.rest?.takesMessages === false;
  }

  protected override sendDue(step: ActiveStep, dueUs: number, nowUs: number, unixMs: number): void {
    this.sendOne(step, step.pace.take(nowUs - step.startUs), dueUs, nowUs, unixMs);
  }

  private sendOne(
    step: ActiveStep,
    position: number,
    dueUs: number,
    nowUs: number,
    unixMs: number,
  ): void {
    const sender = step.senders[position]!;
    const { dependencies, stamp, aim } = this;
    let connection: HubConnection | undefined;
    // Receivers and send time must be on the same side of each membership change.
    for (let version = dependencies.members.version(), before = -1; before !== version;) {
      before = version;
      if (version !== this.seenVersion) nowUs = dependencies.nowUs();
      this.seenVersion = version;
      connection = dependencies.connection(sender);
      if (connection === undefined || !this.takeAim(sender)) {
        // The sender is connected, but its target was never there.
        const isSkipped = connection !== undefined ? this.isToClient : this.isMissing(sender);
        if (dueUs >= step.measureUs && isSkipped) step.recorder.skipped += 1;
        return;
      }
      version = dependencies.members.version();
    }
    if (connection === undefined) return;
    const open = this.plan.pacing === 'open';
    stamp.source = aim.source;
    stamp.warmup = dueUs < step.measureUs;
    stamp.intendedUs = open ? dueUs : nowUs;
    stamp.sentUs = nowUs;
    const slot = this.sequences.slot(aim.source, aim.stream);
    stamp.sequence = this.sequences.values[slot]!++;
    const reach = stamp.warmup || aim.receivers === 0 ? undefined : this.reach;
    // Before sending: the first delivery may arrive at once.
    reach?.sent(stamp, aim.receivers);
    const size = this.payload.pick(aim.source, aim.stream, stamp.sequence);
    const origin = this.originOf(sender);
    const asks = this.asks(sender);
    if (this.rowTemplates !== undefined) this.templates = this.rowTemplates.of(sender);
    const template = this.templateFor(origin, size, asks);
    if (asks) this.origin.ackId = firstMessageAckId + this.asked[sender]!++;
    if (this.rest !== undefined && template instanceof MessageTemplate)
      this.rest.send(this.restReceiver(aim), this.bodyMaker(template));
    else template.sendTo(this.persistent ?? connection, stamp, aim.receiver, unixMs, origin);
    const { recorder } = step;
    // Waiting for a socket counts as late even with closed pacing.
    const dueAtUs = this.rest === undefined ? stamp.intendedUs : dueUs;
    recorder.slip.record(nowUs - dueAtUs, stamp.warmup);
    if (stamp.warmup) return;
    recorder.offered += 1;
    recorder.sent += 1;
    recorder.expected += aim.receivers;
    if (this.elsewhere !== undefined)
      recorder.expected += this.elsewhere.sent(aim.group, Math.floor(nowUs), this.place);
    if (reach !== undefined) recorder.toReach += 1;
    recorder.payloadBytesIn += this.messageBytes ?? this.payload.sizes[size]!;
    if (this.rowTemplates !== undefined) recorder.payloadBytesIn += this.rowTemplates.bytesBeyond;
    if (this.namesBeyond !== undefined)
      recorder.payloadBytesIn += this.namesBeyond({
        receiver: aim.receiver?.length ?? 0,
        sender: origin.id?.length ?? 0,
        senderIndex: decimalDigits(sender),
      });
    recorder.wireBytesIn += template.wireBytes;
  }

  /** Fills in the message when the request leaves, which throttling may delay. */
  private bodyMaker(template: MessageTemplate): () => Buffer {
    const { dependencies, seenVersion, elsewhere } = this;
    const stamp = { ...this.stamp };
    return () => {
      const nowUs = dependencies.nowUs();
      // The send time may only move while membership is unchanged; with other agents, which count by it, it never
      // moves.
      if (elsewhere === undefined && dependencies.members.version() === seenVersion)
        stamp.sentUs = nowUs;
      const body = template.fill(stamp, undefined, Date.now());
      template.detach();
      return body;
    };
  }

  private restReceiver({ receiver, target }: Aim): RestReceiver {
    if (this.population.audience === 'client') return { kind: 'user', index: target };
    if (receiver === undefined) return { kind: 'all' };
    return { kind: 'group', group: receiver.toString('latin1') };
  }

  private get isToClient(): boolean {
    return this.population.audience === 'client';
  }

  private takeAim(sender: number): boolean {
    const { population, dependencies, aim } = this;
    aim.source = population.firstSource + sender;
    aim.stream = 0;
    aim.receiver = undefined;
    switch (population.audience) {
      case 'nobody':
        aim.receivers = 0;
        return this.maker !== undefined;
      case 'self':
        aim.receivers = 1;
        return true;
      case 'everyone':
        aim.group = population.firstGroup;
        aim.receivers = dependencies.members.count(aim.group);
        return true;
      case 'group': {
        const slot =
          population.sourcesPerSender === 1 ? 0 : this.random.below(population.sourcesPerSender);
        const group = population.groupOf(sender, slot);
        aim.source = population.firstSource + sender * population.sourcesPerSender + slot;
        aim.receiver = this.groupNames[group] ??= Buffer.from(
          population.groupName(group),
          'latin1',
        );
        aim.group = population.firstGroup + group;
        aim.receivers = dependencies.members.count(aim.group);
        return true;
      }
      case 'client': {
        const target = population.fixedTargets?.[sender] ?? this.randomTarget(sender);
        aim.target = target;
        aim.receiver = this.addressOf(target);
        aim.receivers = dependencies.members.isOpen(target) ? 1 : 0;
        if (population.fixedTargets === undefined) aim.stream = target;
        return target !== sender && aim.receiver !== undefined;
      }
    }
  }

  private addressOf(index: number): Buffer | undefined {
    if ((this.rest ?? this.persistent) === undefined) return this.dependencies.members.idOf(index);
    return (this.userNames[index] ??= Buffer.from(userIdOf(this.plan.runId, index), 'latin1'));
  }

  /** Another open connection of this agent, within a few tries. */
  private randomTarget(sender: number): number {
    const { ownAgent, plan } = this;
    let target = sender;
    for (let tries = 0; tries < 20; tries++) {
      const drawn = this.random.below(ownAgent?.length ?? plan.connections);
      target = ownAgent === undefined ? drawn : ownAgent[drawn]!;
      if (target !== sender && this.dependencies.members.isOpen(target)) return target;
    }
    return target;
  }

  private originOf(sender: number): SenderFields {
    const { origin, namesSender } = this;
    origin.index = sender;
    if (namesSender) origin.id = this.dependencies.members.idOf(sender);
    return origin;
  }

  private asks(sender: number): boolean {
    return this.maker?.firstAsks === true && (this.asked[sender] === 0 || this.plan.acks === 'all');
  }

  private templateFor(
    origin: SenderFields,
    size: number,
    asks: boolean,
  ): MessageTemplate | MessageValue {
    const { maker, namesSender } = this;
    const { receiver } = this.aim;
    if (maker === undefined) throw new Error('a use case without a message sends nothing');
    // Ids and group names are shorter than 256 bytes, indexes than 10 digits.
    const sender = namesSender ? (origin.id?.length ?? 0) * 10 + decimalDigits(origin.index) : 0;
    const lengths = (sender * 256 + (receiver?.length ?? 0)) * 2 + (asks ? 1 : 0);
    const key = lengths * this.payload.sizes.length + size;
    let template = this.templates.get(key);
    if (template === undefined) {
      const bytes = this.messageBytes ?? this.payload.sizes[size]!;
      const shape = maker.shape(bytes, asks, this.rowTemplates?.rows);
      template =
        this.rest?.template(shape) ??
        this.persistent?.template(shape, sendAudience(this.population.audience), receiver) ??
        (this.dependencies.takesMessages === true
          ? new MessageValue(shape, this.plan.protocol)
          : MessageTemplate.of(
              shape,
              holeLengths(receiver, origin),
              this.dependencies.codec ?? codecForProtocol(this.plan.protocol),
              this.dependencies.framed,
            ));
      this.templates.set(key, template);
      this.rowTemplates?.made(template.wireBytes);
    }
    return template;
  }

  protected override endStep(step: ActiveStep, isCut: boolean): void {
    const { senders, pace, recorder, startUs, measureUs, endUs } = step;
    if (!isCut) return;
    senders.forEach((sender, position) => {
      const left = pace.left(position, measureUs - startUs, endUs - startUs);
      if (this.dependencies.connection(sender) !== undefined) recorder.offered += left;
      else if (this.isMissing(sender)) recorder.skipped += left;
    });
  }
}

const sendAudience = (audience: Audience): SendAudience =>
  audience === 'client' ? 'user' : audience === 'group' ? 'group' : 'everyone';
