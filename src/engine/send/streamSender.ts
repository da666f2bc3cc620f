import type { PlanStep } from '../../plan/plan';
import { mostOpenStreams, type StreamShape } from '../../usecases/streams';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion } from '../../wire/message/hubMessage';
import { emptyStamp } from '../../wire/message/stamp';
import { StreamMessages } from './streamMessages';
import { DueQueue } from './dueQueues';
import { EntrySender } from './entrySender';
import type { ReceivedMessage, SenderParts, StepPacing, StepWindow } from './entrySender';
import { streamCallNumber, StreamSlots, type OpenStream } from './openStream';
import type { StepRecorder } from '../recorder';

/** Timeout of a stream's completion after its last item, beside the hub's own pauses. */
const answerUs = 5_000_000;
/** Earlier items show that `streamingItemSendDelay` is too long. */
const mostEarlyUs = 50_000;

type StreamStep = StepWindow & StepPacing;

/** Streams cut by the end of the step have fewer items. */
export class StreamSender extends EntrySender<StreamStep> {
  private readonly due = new DueQueue<OpenStream>();
  private readonly unanswered = new DueQueue<OpenStream>();
  private readonly places = new Map<number, StreamSlots>();
  private readonly shape: StreamShape;
  private readonly frames: StreamMessages;
  private readonly stamp = emptyStamp();
  private readonly delayUs: number;
  private isEarlyReported = false;

  constructor(...parts: SenderParts) {
    super(...parts);
    const { plan, entry, dependencies } = this;
    const shape = entry.run.streams!;
    this.shape = shape;
    this.frames = new StreamMessages(plan, entry, shape, dependencies);
    this.delayUs = shape.delayMs * 1000;
    this.stamp.runId = plan.runId;
  }

  begin(step: PlanStep, startUs: number, recorder: StepRecorder): void {
    this.step = { ...this.windowOf(step, startUs, recorder), ...this.pacing(step) };
    this.step.recorder.measureUs = this.step.measureUs;
  }

  override halt(): void {
    const { step } = this;
    super.halt();
    if (step === undefined) return;
    const nowUs = this.dependencies.nowUs();
    step.recorder.untilUs = nowUs;
    for (let stream = this.due.first; stream !== undefined; stream = this.due.first) {
      this.settle(stream, nowUs);
      this.cut(stream);
    }
  }

  protected override get dueUs(): number {
    return Math.min(this.step!.startUs + this.step!.pace.nextDueUs, this.due.nextUs);
  }

  override get nextUs(): number {
    return Math.min(super.nextUs, this.unanswered.nextUs);
  }

  override pump(): 'idle' | 'more' | 'done' {
    this.giveUpUnanswered(this.dependencies.nowUs());
    return super.pump();
  }

  protected override sendDue(step: StreamStep, dueUs: number, nowUs: number): void {
    // Items come before streams that open at the same time.
    if (this.due.nextUs === dueUs) {
      this.itemIsDue(this.due.first!, nowUs);
      return;
    }
    const sender = step.senders[step.pace.take(nowUs - step.startUs)]!;
    const firstUs = Math.floor(this.plan.pacing === 'open' ? dueUs : nowUs);
    this.open(step, sender, firstUs, nowUs);
  }

  override lost(index: number): void {
    const nowUs = this.dependencies.nowUs();
    for (const stream of this.places.get(index)?.all ?? []) {
      this.settle(stream, nowUs);
      this.skipRest(stream);
      stream.expectWhatCame();
      this.drop(stream);
    }
  }

  override arrived(index: number, source: number, sequence: number): void {
    const { wanted, items } = this.shape;
    if (wanted === items) return;
    const stream = this.places.get(index)?.all[source % this.population.sourcesPerSender];
    if (stream === undefined || sequence - stream.firstSequence < wanted - 1) return;
    this.cancel(stream);
  }

  override itemCame(at: ReceivedMessage, call: number, payloadBytes: number): boolean {
    const { shape } = this;
    const stream =
      shape.own === undefined ? undefined : this.places.get(at.connection.index)?.of(call);
    if (stream === undefined) return false;
    const isStray = stream.id !== call || stream.state === 'free';
    const { recorder } = this.dependencies;
    const earlyUs = stream.itemCame(recorder, isStray, payloadBytes, at);
    if (earlyUs === undefined) return true;
    if (earlyUs >= mostEarlyUs) this.reportEarly(earlyUs);
    if (stream.came >= stream.wanted) {
      const isCut = shape.direction === 'download' && stream.wanted < shape.items;
      if (stream.state === 'late') this.drop(stream);
      else if (shape.cancels || isCut) this.cancel(stream);
    } else if (stream.state === 'answering') {
      this.unqueue(stream);
      this.await(stream, 'answering');
    }
    return true;
  }

  override completed(connection: HubConnection, message: Completion, nowUs: number): boolean {
    const number = streamCallNumber(message.invocationId);
    const places = this.places.get(connection.index);
    if (number < 0 || places === undefined) return false;
    const stream = places.of(number);
    if (stream === undefined || stream.id !== number || stream.state === 'ended') return true;
    this.settle(stream, nowUs);
    const isExpecting = stream.state === 'sending' && stream.isExpecting;
    const wrong = stream.wrongEnd(message, isExpecting);
    if (wrong === undefined && this.shape.direction === 'upload')
      stream.answered(this.dependencies.recorder, nowUs);
    if (stream.state === 'free') return true;
    if (wrong !== undefined) this.dependencies.recorder.error('invocation', wrong);
    // Items still due are expected, but never sent.
    if (isExpecting && wrong !== undefined) stream.state = 'ended';
    else {
      stream.expectWhatCame();
      this.drop(stream);
    }
    return true;
  }

  private open(step: StreamStep, sender: number, firstUs: number, nowUs: number): void {
    const { shape, delayUs } = this;
    const connection = this.dependencies.connection(sender);
    if (connection === undefined) {
      if (this.isMissing(sender)) this.offer(step, firstUs, 0, this.sentItems, 'skipped');
      return;
    }
    if (firstUs >= step.endUs) return;
    const inStep = delayUs === 0 ? Infinity : Math.ceil((step.endUs - firstUs) / delayUs);
    let places = this.places.get(sender);
    if (places === undefined) this.places.set(sender, (places = new StreamSlots(sender, shape)));
    const stream = places.take();
    const items = Math.min(shape.items, inStep);
    if (stream === undefined) {
      this.refuse(step, firstUs, items);
      return;
    }
    stream.state = 'sending';
    stream.connection = connection;
    stream.step = step;
    stream.renew();
    stream.items = items;
    stream.wanted = Math.min(items, shape.wanted);
    stream.firstUs = stream.nextUs = firstUs;
    stream.sentUs = nowUs;
    this.due.push(stream);
    if (shape.direction === 'download') this.request(stream, nowUs);
    else stream.sentBytes(firstUs, this.frames.open(stream, this.stamp));
    this.itemIsDue(stream, nowUs);
  }

  private request(stream: OpenStream, nowUs: number): void {
    const { stamp, population, frames } = this;
    stream.fillStamp(stamp, population, 0, nowUs);
    stream.nextSequence += stream.wanted;
    stream.sentBytes(stream.firstUs, frames.open(stream, stamp));
    stream.sent(stamp, frames.payloadBytes(stream, stamp), nowUs);
  }

  private itemIsDue(stream: OpenStream, nowUs: number): void {
    if (isFree(stream)) return;
    if (this.dependencies.connection(stream.sender) !== stream.connection) {
      // Its pending deliveries still count.
      this.cut(stream);
      return;
    }
    if (this.sendsItems(stream)) this.sendItem(stream, nowUs);
    if (isFree(stream)) return;
    const itemUs = stream.nextUs;
    this.due.remove(stream);
    if (stream.expectNext()) {
      this.due.push(stream);
    } else if (stream.state === 'ended') {
      this.places.get(stream.sender)!.release(stream);
    } else {
      // Before sending, which may find the connection closed.
      this.await(stream, 'answering');
      if (this.shape.direction === 'download') return;
      stream.sentUs = nowUs;
      stream.sentBytes(itemUs, this.frames.end(stream));
    }
  }

  private sendsItems({ state }: OpenStream): boolean {
    return this.shape.direction !== 'download' && state === 'sending';
  }

  private settle(stream: OpenStream, nowUs: number): void {
    if (stream.state !== 'ended' && (stream.state !== 'sending' || this.sendsItems(stream))) return;
    stream.expectUntil(nowUs);
  }

  private cancel(stream: OpenStream): void {
    if (stream.state !== 'sending' && stream.state !== 'answering') return;
    this.settle(stream, this.dependencies.nowUs());
    stream.expectWhatCame();
    this.unqueue(stream);
    this.await(stream, 'cancelled');
    this.frames.cancel(stream, stream.connection!);
  }

  private cut(stream: OpenStream): void {
    const { own, direction } = this.shape;
    const { connection } = stream;
    stream.expectWhatCame();
    const isUseful = direction === 'download' || (direction === 'both' && own !== undefined);
    if (!isUseful || stream.state !== 'sending' || connection?.isOpen !== true) {
      this.drop(stream);
      return;
    }
    // The user's own items are distinguished only by their order.
    stream.wanted = Math.min(stream.wanted, stream.position);
    const isOver = direction === 'download' && (own === undefined || stream.came >= stream.wanted);
    this.unqueue(stream);
    this.await(stream, isOver ? 'cancelled' : 'answering');
    if (isOver) this.frames.cancel(stream, connection);
    else if (direction === 'both') this.frames.end(stream);
  }

  private unqueue(stream: OpenStream): void {
    if (stream.state === 'late') return;
    const isDue = stream.state === 'sending' || stream.state === 'ended';
    (isDue ? this.due : this.unanswered).remove(stream);
  }

  private drop(stream: OpenStream): void {
    if (stream.state === 'free') return;
    this.unqueue(stream);
    this.places.get(stream.sender)!.release(stream);
  }

  private sendItem(stream: OpenStream, nowUs: number): void {
    const { stamp, population, frames } = this;
    stream.fillStamp(stamp, population, stream.position, nowUs);
    if (stream.position < stream.wanted) stream.nextSequence += 1;
    if (this.shape.own !== undefined && this.shape.direction === 'both') stream.leftUs.push(nowUs);
    const wireBytes = frames.item(stream, stamp);
    if (stamp.warmup) return;
    stream.step.recorder.wireBytesIn += wireBytes;
    stream.sent(stamp, frames.payloadBytes(stream, stamp), nowUs);
  }

  private await(stream: OpenStream, state: 'answering' | 'cancelled'): void {
    const { items } = this.shape;
    stream.state = state;
    // One timeout for all streams keeps the queue sorted.
    stream.nextUs = this.dependencies.nowUs() + items * this.delayUs + answerUs;
    this.unanswered.push(stream);
  }

  private giveUpUnanswered(nowUs: number): void {
    for (
      let stream = this.unanswered.first;
      stream !== undefined && stream.nextUs <= nowUs;
      stream = this.unanswered.first
    ) {
      const { method, own, direction } = this.shape;
      const text = `${method}: a stream was not completed within ${answerUs / 1e6} s of its last item`;
      this.dependencies.recorder.error('timeout', text);
      const cancels = stream.state === 'answering';
      const { connection } = stream;
      const isLate = own !== undefined && direction !== 'upload' && stream.came < stream.wanted;
      this.unqueue(stream);
      if (isLate) stream.state = 'late';
      else this.places.get(stream.sender)!.release(stream);
      if (cancels && connection?.isOpen === true) this.frames.cancel(stream, connection);
    }
  }

  /** Its deliveries are expected all the same. */
  private refuse({ measureUs, recorder }: StreamStep, firstUs: number, items: number): void {
    const { direction, wanted } = this.shape;
    const upload = direction === 'upload';
    const until = upload ? items : Math.min(items, wanted);
    for (let position = upload ? items - 1 : 0; position < until; position++)
      if (firstUs + position * this.delayUs >= measureUs) recorder.expected += 1;
    const text = `${this.shape.method}: ${mostOpenStreams} streams of a connection were open, so no further one was opened`;
    this.dependencies.recorder.error('timeout', text);
  }

  private get sentItems(): number {
    const { direction, items } = this.shape;
    return direction === 'download' ? 1 : items;
  }

  /** The connection is closed: remaining items are skipped. */
  private skipRest(stream: OpenStream): void {
    if (!this.sendsItems(stream) || !this.isMissing(stream.sender)) return;
    this.offer(stream.step, stream.firstUs, stream.position, stream.items, 'skipped');
  }

  private offer(
    step: StepWindow,
    firstUs: number,
    from: number,
    items: number,
    as: 'offered' | 'skipped' = 'offered',
  ): void {
    const { recorder, measureUs, endUs } = step;
    for (let position = from; position < items; position++) {
      const itemUs = firstUs + position * this.delayUs;
      if (itemUs >= endUs) return;
      if (itemUs >= measureUs) recorder[as] += 1;
    }
  }

  private reportEarly(earlyUs: number): void {
    if (this.isEarlyReported) return;
    this.isEarlyReported = true;
    const text = `${this.shape.method}: an item came ${Math.round(earlyUs / 1000)} ms before it was due; streamingItemSendDelay is longer than the pause of the method, so that latencies are too short`;
    this.dependencies.recorder.error('other', text);
  }

  protected override endStep(step: StreamStep, isCut: boolean): void {
    if (!isCut) return;
    const { endUs, startUs, pace, senders } = step;
    for (let stream = this.due.first; stream !== undefined; stream = this.due.first) {
      if (this.sendsItems(stream)) this.offer(step, stream.firstUs, stream.position, stream.items);
      this.settle(stream, endUs);
      this.cut(stream);
    }
    for (let openUs = startUs + pace.nextDueUs; openUs < endUs; openUs = startUs + pace.nextDueUs) {
      const sender = senders[pace.take(endUs - startUs)]!;
      if (this.dependencies.connection(sender) !== undefined)
        this.offer(step, openUs, 0, this.sentItems);
      else if (this.isMissing(sender)) this.offer(step, openUs, 0, this.sentItems, 'skipped');
    }
  }
}

/** Sending may find the connection closed, which frees its streams. */
const isFree = ({ state }: OpenStream): boolean => state === 'free';
