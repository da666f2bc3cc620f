import type { ErrorClass } from '../../base/errorClass';
import { intervalSeed } from '../../plan/draws';
import { createDraw, type Draw } from '../../plan/pace';
import type { PlanStep } from '../../plan/plan';
import { sessionProgram, type SessionProgram } from '../../plan/sessionProgram';
import { pausesOf, stepsIn } from '../../usecases/sessionSteps';
import { shownText } from '../../wire/connectFailure';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion, Invocation } from '../../wire/message/hubMessage';
import { hubMessageType } from '../../wire/message/hubMessage';
import { codecForProtocol } from '../../wire/connect/connectHub';
import type { StepRecorder } from '../recorder';
import { maxBurst, EntrySender, graceUs } from './entrySender';
import type { ReceivedMessage, SenderParts, StepPacing } from './entrySender';
import {
  GroupPresence,
  countBrokenOff,
  runInstruction,
  Session,
  type ReceivedEvent,
  type SessionStepWindow,
  type WaitingQueue,
} from './session';
import { streamCallNumber } from './openStream';
import { DueHeap } from './dueQueues';
import {
  eventArgumentBytes,
  deliveriesToCaller,
  compileCalls,
  leavesGroup,
  SessionCalls,
  SessionEvents,
  timeoutText,
  type CompiledCall,
} from './sessionCalls';

export { ReplaySender } from './replaySender';

const stretch = 256;
/** Separate from the draws of due times. */
const choosing = 0x632be59b;

type SessionStep = SessionStepWindow & StepPacing;

/** Runs sessions of users, call after call. Latency counts from the session's schedule. */
export class SessionSender extends EntrySender<SessionStep> {
  private readonly program: SessionProgram;
  private readonly calls: readonly CompiledCall[];
  private readonly sendsCalls: SessionCalls;
  private readonly queues: readonly WaitingQueue[];
  private readonly sessions = new Map<number, Session>();
  private readonly heap = new DueHeap<Session>();
  private readonly ready: Session[] = [];
  private readonly events: SessionEvents;
  private readonly codec;
  private readonly stays: GroupPresence | undefined;
  private draw: Draw = () => 0;
  /** First call of each session; −1 where there is none. */
  private readonly firstCall: number;
  private readonly expectedEarly: number;
  /** How much a mean session may be delayed by answers before the next is late; −∞ without random pauses. */
  private readonly roomUs: number;

  constructor(...parts: SenderParts) {
    super(...parts);
    const { plan, entry, dependencies } = this;
    const session = entry.run.session!;
    const steps = stepsIn(session);
    this.program = sessionProgram(steps);
    this.codec = dependencies.codec ?? codecForProtocol(plan.protocol);
    const { calls, queues, eventNames } = compileCalls(steps);
    this.calls = calls;
    this.queues = queues;
    this.events = new SessionEvents(calls, eventNames);
    if (session.joins)
      this.stays = new GroupPresence(
        this.program,
        (number) => leavesGroup(calls[number]!),
        this.population,
        this.dependencies,
      );
    const [first] = this.program.instructions;
    this.firstCall = first?.do === 'call' ? first.call : -1;
    this.expectedEarly = deliveriesToCaller(this.calls[this.firstCall]);
    const roomMs = Math.max(0, entry.intervalMs - pausesOf(steps));
    this.roomUs = this.program.drawsPauses ? roomMs * 1000 : -Infinity;
    this.sendsCalls = new SessionCalls(plan, entry, this.population, dependencies, this.calls);
  }

  begin(step: PlanStep, startUs: number, recorder: StepRecorder): void {
    this.endAll();
    const window = this.windowOf(step, startUs, recorder);
    const calls = window.recorder.calls!;
    const { elsewhere } = this.dependencies;
    const places = calls.map((call) => elsewhere?.placeOf(call) ?? 0);
    this.step = { ...window, calls, places, ...this.pacing(step) };
    this.events.begin();
    this.draw = createDraw(intervalSeed(this.plan, this.position, step.index) ^ choosing);
  }

  override halt(): void {
    super.halt();
    this.endAll();
  }

  private endAll(): void {
    for (const session of this.sessions.values()) {
      session.delayed.length = 0;
      if (session.state !== 'idle') this.end(session, 0);
    }
    this.ready.length = 0;
  }

  protected override get dueUs(): number {
    return this.step!.startUs + this.step!.pace.nextDueUs;
  }

  override get nextUs(): number {
    if (this.ready.length > 0) return 0;
    let nextUs = Math.min(this.heap.nextUs, super.nextUs);
    for (const queue of this.queues) nextUs = Math.min(nextUs, queue.nextUs);
    return nextUs;
  }

  /** Sessions go on after their step until their answers have come. */
  override pump(): 'idle' | 'more' | 'done' {
    const unixMs = Date.now();
    let nowUs = this.dependencies.nowUs();
    for (let count = 0; count < maxBurst; count++) {
      const session = this.ready.shift();
      if (session?.state === 'ready') this.goOn(session, nowUs, unixMs);
      else if (session === undefined && !this.takeDue(nowUs, unixMs)) return this.over(nowUs);
      nowUs = this.dependencies.nowUs();
    }
    return 'more';
  }

  /** The first of a timeout, a call or a new session; false when nothing is due. */
  private takeDue(nowUs: number, unixMs: number): boolean {
    for (const queue of this.queues) {
      const late = queue.first;
      if (late !== undefined && late.nextUs <= nowUs) {
        this.fail(late, late.call, 'timeout', timeoutText(this.calls[late.call]!), nowUs);
        return true;
      }
    }
    const { step, heap } = this;
    const callUs = heap.nextUs;
    const beginUs = step === undefined ? Infinity : this.dueUs;
    if (callUs <= beginUs) {
      const { first } = heap;
      if (first === undefined || callUs > nowUs) return false;
      heap.remove(first);
      this.goOn(first, nowUs, unixMs);
      return true;
    }
    const { endUs } = step!;
    if (beginUs > nowUs || beginUs >= endUs || nowUs > endUs + graceUs) return false;
    this.sendDue(step!, beginUs, nowUs, unixMs);
    return true;
  }

  protected override sendDue(
    step: SessionStep,
    dueUs: number,
    nowUs: number,
    unixMs: number,
  ): void {
    const sender = step.senders[step.pace.take(nowUs - step.startUs)]!;
    this.beginSession(step, sender, dueUs, nowUs, unixMs);
  }

  /** `done` at the end of the step; answers may still be pending. */
  private over(nowUs: number): 'idle' | 'done' {
    const { step } = this;
    if (step === undefined || nowUs < step.endUs) return 'idle';
    this.step = undefined;
    this.endStep(step, nowUs > step.endUs + graceUs);
    return 'done';
  }

  /** Later calls do not belong to the step, nor do pending events that are not overdue. */
  protected override endStep(step: SessionStep, isCut: boolean): void {
    if (isCut) this.countBacklog(step);
    for (const session of this.sessions.values()) {
      const { call, callDueUs, window, state } = session;
      if (window !== step) continue;
      if (state === 'due') this.cut(session);
      if (state !== 'waiting' || this.calls[call]!.step.kind !== 'on') continue;
      if (this.events.isLostAfter(call, step.endUs - callDueUs)) continue;
      if (callDueUs >= step.measureUs) step.calls[call]!.expected -= 1;
      this.cut(session);
    }
  }

  /** Without sessions waiting for the one before: the hub delays those. */
  private countBacklog(step: SessionStep): void {
    const { senders, pace, startUs, measureUs, endUs } = step;
    for (const session of this.heap.all)
      if (session.dueUs >= measureUs && session.dueUs < endUs) step.recorder.offered += 1;
    senders.forEach((sender, position) => {
      const left = pace.left(position, measureUs - startUs, endUs - startUs);
      if (!this.sendsCalls.skips(step, sender, endUs, left)) step.recorder.offered += left;
    });
  }

  private beginSession(
    step: SessionStep,
    sender: number,
    dueUs: number,
    nowUs: number,
    unixMs: number,
  ): void {
    if (this.sendsCalls.skips(step, sender, dueUs)) return;
    let session = this.sessions.get(sender);
    if (session === undefined)
      this.sessions.set(sender, (session = new Session(sender, this.program.loops)));
    const begunUs = this.plan.pacing === 'open' ? dueUs : nowUs;
    if (begunUs >= step.measureUs) step.recorder.sessions!.started += 1;
    if (session.state !== 'idle') {
      // Its first call is due now: without an answer it is lost, after a wait late.
      session.delayed.push(begunUs);
      this.countWaiting(step, begunUs, 1);
      return;
    }
    this.start(session, step, begunUs);
    this.goOn(session, nowUs, unixMs);
  }

  /** Adds a waiting session, or removes one that is never run. */
  private countWaiting(window: SessionStepWindow, dueUs: number, count: 1 | -1): void {
    if (dueUs >= window.measureUs) window.recorder.sessions!.waiting += count;
    this.expectFirst(window, dueUs, count);
  }

  /** The deliveries of the first call are expected from its due time on. */
  private expectFirst({ calls, measureUs }: SessionStepWindow, dueUs: number, count: 1 | -1): void {
    if (dueUs >= measureUs && this.expectedEarly > 0)
      calls[this.firstCall]!.expected += count * this.expectedEarly;
  }

  private start(session: Session, window: SessionStepWindow, begunUs: number): void {
    session.state = 'ready';
    session.wasDelayed = false;
    session.drawn = 0;
    session.window = window;
    session.connection = this.dependencies.connection(session.sender);
    session.number += 1;
    session.at = 0;
    session.begunUs = session.dueUs = session.ownUs = begunUs;
    session.freeUs = begunUs;
    session.events = 0;
    session.heard = undefined;
    session.kept?.clear();
    session.row = undefined;
  }

  private goOn(session: Session, nowUs: number, unixMs: number): void {
    const { instructions } = this.program;
    for (let done = 0; done < stretch; done++) {
      const instruction = instructions[session.at];
      if (instruction === undefined) {
        this.complete(session, nowUs);
        return;
      }
      if (instruction.do === 'call') {
        if (!this.makeCall(session, instruction.call, nowUs, unixMs)) return;
        session.at += 1;
      } else runInstruction(session, instruction, this.draw);
    }
    session.state = 'ready';
    this.ready.push(session);
  }

  private makeCall(session: Session, number: number, nowUs: number, unixMs: number): boolean {
    const call = this.calls[number]!;
    const { window } = session;
    const untilUs = this.stays?.waitsUntil(session, leavesGroup(call), nowUs);
    if (untilUs !== undefined) {
      this.sleep(session, untilUs);
      return false;
    }
    const { dueUs } = session;
    if (Math.min(dueUs, nowUs) >= window.endUs) {
      this.cut(session);
      return false;
    }
    if (dueUs > nowUs) {
      this.sleep(session, dueUs);
      return false;
    }
    const connection = this.dependencies.connection(session.sender);
    if (connection === undefined || connection !== session.connection) {
      this.breakOff(session, number, nowUs);
      return false;
    }
    if (call.step.kind === 'on') return this.awaitEvent(session, number, nowUs);
    if (!this.send(session, number, nowUs, unixMs)) return false;
    if (leavesGroup(call)) session.hasJoined = false;
    if (!call.waits || !connection.isOpen) return connection.isOpen;
    this.wait(session, number, nowUs);
    return false;
  }

  private sleep(session: Session, untilUs: number): void {
    session.state = 'due';
    session.wakeUs = untilUs;
    this.heap.push(session);
  }

  private wait(session: Session, number: number, nowUs: number): void {
    const queue = this.calls[number]!.queue!;
    session.state = 'waiting';
    session.call = number;
    session.callDueUs = session.dueUs;
    session.nextUs = nowUs + queue.withinUs;
    session.queue = queue;
    queue.push(session);
  }

  private stopWaiting(session: Session): void {
    session.queue?.remove(session);
    session.queue = undefined;
    session.call = -1;
  }

  /** The next instruction is due when the answer arrived. */
  private wake(session: Session, nowUs: number): void {
    this.stopWaiting(session);
    session.state = 'ready';
    session.dueUs = session.freeUs = nowUs;
    session.at += 1;
    this.ready.push(session);
  }

  private send(session: Session, number: number, nowUs: number, unixMs: number): boolean {
    session.events = 0;
    const isExpected = session.at === 0 && session.wasDelayed && this.expectedEarly > 0;
    const missing = this.sendsCalls.send(session, number, nowUs, unixMs, !isExpected);
    if (missing === undefined) return true;
    if (missing === '') this.breakOff(session, number, nowUs);
    else this.fail(session, number, 'noValue', missing, nowUs);
    return false;
  }

  private awaitEvent(session: Session, number: number, nowUs: number): boolean {
    const { event } = this.calls[number]!;
    const { window, dueUs } = session;
    session.callDueUs = dueUs;
    if (dueUs >= window.measureUs) window.calls[number]!.expected += 1;
    const heard = this.events.take(session, event);
    if (heard === undefined) this.wait(session, number, nowUs);
    else this.eventCame(session, number, heard, nowUs);
    return heard !== undefined;
  }

  private eventCame(
    session: Session,
    number: number,
    { args, push }: ReceivedEvent,
    nowUs: number,
  ): void {
    const { window, sender, callDueUs } = session;
    const counted = window.calls[number]!;
    const { recorder } = this.dependencies;
    this.events.took(number, nowUs - callDueUs);
    if (callDueUs >= window.measureUs) {
      const counts = recorder.delivered(
        ...([window.index, counted, sender, callDueUs, callDueUs, nowUs] as const),
      );
      if (push !== undefined) recorder.awaited!(push);
      if (counts && push === undefined) counted.ofCalls += 1;
      else if (counts) counted.payloadBytesOut += eventArgumentBytes(push!, this.plan);
    }
    this.keep(session, this.calls[number]!, args);
  }

  private noteEvent(session: Session, event: number, heard: ReceivedEvent, nowUs: number): void {
    const { call: number } = session;
    const call = session.state === 'waiting' ? this.calls[number]! : undefined;
    if (call?.step.kind === 'on' && call.event === event) {
      this.eventCame(session, number, heard, nowUs);
      this.wake(session, nowUs);
      return;
    }
    this.events.note(session, event, heard);
  }

  override called(at: ReceivedMessage, { target, arguments: args }: Invocation): void {
    const { nowUs, bodyBytes } = at;
    const session = this.sessions.get(at.connection.index);
    const event = session === undefined || session.state === 'idle' ? 0 : this.events.bitOf(target);
    if (event === 0) return;
    const push = { name: target, bytes: bodyBytes, atUs: nowUs };
    this.noteEvent(session!, event, { args, push }, nowUs);
  }

  override calledBack(at: ReceivedMessage, method: string): void {
    const event = this.events.bitOf(method);
    if (event !== 0) this.noteCallback(at, event);
  }

  private noteCallback(at: ReceivedMessage, event: number): void {
    const session = this.sessions.get(at.connection.index);
    if (session === undefined || session.state === 'idle') return;
    const message = this.codec.read(at.bytes, at.start, at.end);
    const args = message?.type === hubMessageType.invocation ? message.arguments : undefined;
    this.noteEvent(session, event, { args }, at.nowUs);
  }

  override answered(at: ReceivedMessage, number: number, sequence: number): string | undefined {
    const { step, event } = this.calls[number]!;
    const session = this.sessions.get(at.connection.index);
    if (step.kind === 'call' && step.reply === 'callback') {
      if (event !== 0) this.noteCallback(at, event);
      return session === undefined ? step.callback : undefined;
    }
    if (session !== undefined) this.takeAnswer(session, number, sequence, at);
    return undefined;
  }

  private takeAnswer(
    session: Session,
    number: number,
    sequence: number,
    { bytes, start, end, nowUs }: ReceivedMessage,
  ): void {
    const call = this.calls[number]!;
    if (session.state !== 'waiting' || session.call !== number || session.sequence !== sequence)
      return;
    if (call.keepers.length > 0) {
      const message = this.codec.read(bytes, start, end);
      const isAnswer = message?.type === hubMessageType.completion;
      this.keep(session, call, isAnswer ? message.result : undefined);
    }
    const joins = call.step.kind === 'call' && call.step.group === 'join';
    if (joins) session.hasJoined = true;
    this.wake(session, nowUs);
    if (joins) this.stays?.goIn(session, nowUs);
  }

  private keep(session: Session, { keepers: all }: CompiledCall, answer: unknown): void {
    for (const [name, find] of all) {
      const value = find(answer);
      if (value === undefined) session.kept?.delete(name);
      else (session.kept ??= new Map()).set(name, value);
    }
  }

  override itemCame(at: ReceivedMessage, id: number, payloadBytes: number): boolean {
    const { connection, wireBytes, nowUs } = at;
    const { index } = connection;
    const session = this.sessions.get(index);
    if (session === undefined) return false;
    const { window, callDueUs, sentUs, call: number } = session;
    const call = session.state === 'waiting' ? this.calls[number]! : undefined;
    const isMeant =
      call?.step.kind === 'stream' && session.streamId === id && session.items < call.step.items;
    if (!isMeant) {
      if (nowUs >= window.measureUs) {
        window.recorder.extra += 1;
        window.recorder.countWireOut(wireBytes, nowUs);
      }
      return true;
    }
    const itemDueUs = Math.min(nowUs, callDueUs + session.items * call.step.everyMs * 1000);
    session.items += 1;
    if (call.step.cancel === true && session.items === call.step.items) {
      this.sendsCalls.cancelStream(session, connection);
      this.wake(session, nowUs);
    }
    if (callDueUs < window.measureUs) return true;
    const counted = window.calls[number]!;
    counted.countWireOut(wireBytes, nowUs);
    const times = [itemDueUs, Math.max(sentUs, itemDueUs), nowUs] as const;
    if (this.dependencies.recorder.delivered(window.index, counted, index, ...times))
      counted.payloadBytesOut += payloadBytes;
    return true;
  }

  override completed({ index }: HubConnection, message: Completion, nowUs: number): boolean {
    const session = this.sessions.get(index);
    if (session === undefined) return false;
    const { invocationId, error } = message;
    const id = streamCallNumber(invocationId);
    if (id >= 0) {
      const call = session.state === 'waiting' ? this.calls[session.call]! : undefined;
      if (call?.step.kind !== 'stream' || session.streamId !== id) return true;
      const { method, items } = call.step;
      if (error === undefined && session.items >= items) this.wake(session, nowUs);
      else {
        const short = `${method}: completed after ${session.items} of ${items} items`;
        const text = error === undefined ? short : shownText(error);
        this.fail(session, session.call, 'invocation', text, nowUs);
      }
      return true;
    }
    const number = this.sendsCalls.callOf(invocationId, index);
    if (number === undefined) return false;
    if (error === undefined) return true;
    const { sequence } = this.sendsCalls.answer;
    const text = shownText(error);
    const isAwaited =
      session.state === 'waiting' && session.call === number && session.sequence === sequence;
    if (isAwaited) this.fail(session, number, 'invocation', text, nowUs);
    else this.dependencies.recorder.error('invocation', text, session.window.calls[number]);
    return true;
  }

  private fail(
    session: Session,
    number: number,
    errorClass: ErrorClass,
    text: string,
    nowUs: number,
  ): void {
    this.dependencies.recorder.error(errorClass, text, session.window.calls[number]);
    this.breakOff(session, number, nowUs);
  }

  private breakOff(session: Session, number: number, nowUs: number): void {
    // Its first call was expected while it waited, but is never made.
    if (session.wasDelayed && session.at === 0 && session.call < 0)
      this.expectFirst(session.window, session.begunUs, -1);
    countBrokenOff(session.window, session.begunUs, number);
    this.end(session, nowUs);
  }

  private complete(session: Session, nowUs: number): void {
    const { window, begunUs, freeUs, sentUs } = session;
    if (begunUs >= window.measureUs) {
      const { sessions } = window.recorder;
      sessions!.completed += 1;
      sessions!.duration.record(Math.max(freeUs, sentUs) - begunUs);
    }
    this.end(session, nowUs);
  }

  /** Sessions waiting for their turn never run, so none of their answers are lost. */
  private cut(session: Session): void {
    const { window, delayed } = session;
    for (const begunUs of delayed.splice(0)) this.expectFirst(window, begunUs, -1);
    this.end(session, 0);
  }

  private end(session: Session, nowUs: number): void {
    if (session.heapAt >= 0) this.heap.remove(session);
    this.stopWaiting(session);
    session.state = 'idle';
    const { window, ownUs, delayed } = session;
    const begunUs = delayed.shift();
    if (begunUs === undefined) return;
    if (begunUs >= window.measureUs) window.recorder.sessions!.waiting -= 1;
    // Time spent on random pauses is no latency.
    const dueUs = Math.max(begunUs, Math.min(nowUs, ownUs + this.roomUs));
    if (dueUs > begunUs) this.putOff(window, begunUs, dueUs);
    this.start(session, window, dueUs);
    session.wasDelayed = dueUs === begunUs;
    session.freeUs = nowUs;
    this.ready.push(session);
  }

  /** Its first call is then expected when it is made. */
  private putOff(window: SessionStepWindow, fromUs: number, toUs: number): void {
    this.expectFirst(window, fromUs, -1);
    const isFromWarmup = fromUs < window.measureUs && toUs >= window.measureUs;
    if (isFromWarmup) window.recorder.sessions!.started += 1;
  }

  override lost(index: number): void {
    const session = this.sessions.get(index);
    if (session === undefined) return;
    session.isInside = session.hasJoined = false;
    for (const begunUs of session.delayed.splice(0)) {
      this.countWaiting(session.window, begunUs, -1);
      if (this.firstCall >= 0) countBrokenOff(session.window, begunUs, this.firstCall);
    }
    if (session.state === 'idle') return;
    const instruction = this.program.instructions[session.at];
    const number =
      session.call >= 0 ? session.call : instruction?.do === 'call' ? instruction.call : 0;
    this.breakOff(session, number, this.dependencies.nowUs());
  }
}
