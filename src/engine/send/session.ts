import type { Row } from '../../base/personalText';
import { closeMarginUs } from '../../base/message';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { CallRecorder, PushedMessage } from '../recorder';
import type { Draw } from '../../plan/pace';
import type { Instruction, SessionProgram } from '../../plan/sessionProgram';
import { DueQueue, type Due, type Queued } from './dueQueues';
import type { StepWindow, SenderDependencies } from './entrySender';
import { matchesCondition } from './callMessages';
import type { Population } from '../../plan/population';

/** More random draws than a session makes. */
const drawsEach = 2 ** 12;

export interface SessionStepWindow extends StepWindow {
  readonly calls: readonly CallRecorder[];
  /** Indexes of its calls' counts for members on other agents. */
  readonly places: readonly number[];
}

/** `push`: how it was counted, until a session waits for it. */
export interface ReceivedEvent {
  readonly args: readonly unknown[] | undefined;
  readonly push?: PushedMessage | undefined;
}

export class Session implements Due, Queued<Session> {
  /**
   * `due`: the next call has a time; `ready`: goes on at once; `waiting`: for a completion, the end of a stream, or
   * an event.
   */
  state: 'idle' | 'due' | 'ready' | 'waiting' = 'idle';
  connection: HubConnection | undefined;
  window!: SessionStepWindow;
  number = 0;
  begunUs = 0;
  /** It began late because of the one before. */
  wasDelayed = false;
  drawn = 0;
  at = 0;
  dueUs = 0;
  /** The same without waiting times for answers. */
  ownUs = 0;
  wakeUs = 0;
  /** Since when only its schedule holds it back. */
  freeUs = 0;
  /** The call waited for: index, sequence, due and send time, and `nextUs`, its timeout. */
  call = -1;
  sequence = -1;
  callDueUs = 0;
  sentUs = 0;
  nextUs = 0;
  items = 0;
  streamId = -1;
  isInside = false;
  hasJoined = false;
  /** It stops counting as a member that long before it leaves. */
  marginUs = 0;
  /** Until then it neither leaves nor counts as a member while messages are in flight. */
  leavesUs = 0;
  events = 0;
  /** Latest of each event; arguments only where values are kept. */
  heard: ReceivedEvent[] | undefined;
  kept: Map<string, unknown> | undefined;
  row: Row | undefined;
  readonly rounds: Int32Array;
  /** Due times of the current round, with and without waiting for answers. */
  readonly roundsUs: Float64Array;
  readonly roundsOwnUs: Float64Array;
  readonly delayed: number[] = [];
  heapAt = -1;
  previous: Session | undefined;
  next: Session | undefined;
  queue: WaitingQueue | undefined;

  constructor(
    readonly sender: number,
    loops: number,
  ) {
    this.rounds = new Int32Array(loops);
    this.roundsUs = new Float64Array(loops);
    this.roundsOwnUs = new Float64Array(loops);
  }
}

export class WaitingQueue extends DueQueue<Session> {
  constructor(readonly withinUs: number) {
    super();
  }
}

export function countBrokenOff(
  { recorder, calls, measureUs }: SessionStepWindow,
  begunUs: number,
  number: number,
): void {
  if (begunUs < measureUs) return;
  recorder.sessions!.brokenOff += 1;
  calls[number]!.brokenOff += 1;
}

export function runInstruction(session: Session, instruction: Instruction, draw: Draw): void {
  switch (instruction.do) {
    case 'call':
      return;
    case 'wait': {
      const us = taken(instruction.us, session, draw);
      session.dueUs += us;
      session.ownUs += us;
      break;
    }
    case 'rounds':
      session.rounds[instruction.loop] = 0;
      session.roundsUs[instruction.loop] = session.dueUs;
      session.roundsOwnUs[instruction.loop] = session.ownUs;
      break;
    case 'round': {
      const { loop, times, every, begin } = instruction;
      const done = (session.rounds[loop]! += 1);
      if (every.us.length > 1 || every.leastUs > 0) {
        const everyUs = taken(every.us, session, draw);
        const scheduledUs = (session.roundsUs[loop]! += everyUs);
        session.ownUs = session.roundsOwnUs[loop]! += everyUs;
        // A round keeps its due time even if the one before ended late.
        session.dueUs = done < times ? scheduledUs : Math.max(session.dueUs, scheduledUs);
      }
      if (done === times) break;
      session.at = begin;
      return;
    }
    case 'choose': {
      const drawn = nextDraw(session, draw);
      session.at = instruction.to[instruction.bounds.findIndex((bound) => drawn < bound)]!;
      return;
    }
    case 'test': {
      const { name, equals, otherwise } = instruction;
      if (matchesCondition(session.kept?.get(name), equals)) break;
      session.at = otherwise;
      return;
    }
    case 'jump':
      session.at = instruction.to;
      return;
  }
  session.at += 1;
}

function nextDraw(session: Session, draw: Draw): number {
  session.drawn = (session.drawn + 1) % drawsEach;
  return draw(session.sender, session.number * drawsEach + session.drawn);
}

const taken = (us: readonly number[], session: Session, draw: Draw): number =>
  us.length === 1 ? us[0]! : us[Math.floor(nextDraw(session, draw) * us.length)]!;

/** Poll interval while a session waits for pending messages before it leaves. */
const lookUs = 10_000;
/** A session stops counting as a member that share of its stay before it leaves, at most a second. */
const marginShare = 0.25;

/** A session about to leave counts as outside: messages then in flight may or may not arrive. */
export class GroupPresence {
  private readonly leaving: LeavingAhead;

  constructor(
    program: SessionProgram,
    leaves: (call: number) => boolean,
    private readonly population: Population,
    private readonly dependencies: SenderDependencies,
  ) {
    this.leaving = new LeavingAhead(program, leaves);
  }

  /**
   * Moves a session in or out before its next call, and delays a call that leaves while messages for it may be in
   * flight. Returns when to check again, if that is before the call.
   */
  waitsUntil(session: Session, leaves: boolean, nowUs: number): number | undefined {
    this.goIn(session, nowUs);
    if (session.isInside) {
      const outUs = this.outUs(session);
      if (nowUs < outUs && outUs < session.dueUs && outUs < session.window.endUs) return outUs;
      if (outUs <= nowUs) {
        this.goOut(session);
        session.leavesUs = nowUs + closeMarginUs;
      }
    }
    if (leaves && session.dueUs <= nowUs && this.isAwaited(session, nowUs))
      session.dueUs = Math.min(session.leavesUs, nowUs + lookUs);
    return undefined;
  }

  /** Waits for the messages of its last stay, so that they are received or late for that one. */
  goIn(session: Session, nowUs: number): void {
    if (session.isInside || !session.hasJoined || this.isAwaited(session, nowUs)) return;
    const leftUs = session.dueUs + this.leaving.leastUs(session) - nowUs;
    session.marginUs = Math.min(closeMarginUs, marginShare * leftUs);
    if (this.outUs(session) <= nowUs) return;
    session.isInside = true;
    this.dependencies.members.move!(session.sender, this.population, true);
  }

  private goOut(session: Session): void {
    session.isInside = false;
    this.dependencies.members.move!(session.sender, this.population, false);
  }

  private outUs(session: Session): number {
    return session.dueUs + this.leaving.leastUs(session) - session.marginUs;
  }

  /** Whether messages may be in flight to a session counted out. */
  private isAwaited({ sender, leavesUs }: Session, nowUs: number): boolean {
    if (nowUs >= leavesUs) return false;
    const { elsewhere, members } = this.dependencies;
    return elsewhere !== undefined || members.missing!(sender) > 0;
  }
}

/** Earliest time at which sessions may leave their groups, by their written pauses: answers may come at once. */
class LeavingAhead {
  /** Least microseconds from each instruction to a call that leaves within its round; Infinity: none. */
  private readonly leaveUs: Float64Array;
  private readonly endUs: Float64Array;
  /** Index of that round's end; −1 outside of rounds. */
  private readonly around: Int32Array;

  constructor(
    private readonly program: SessionProgram,
    leaves: (call: number) => boolean,
  ) {
    const { instructions } = program;
    const count = instructions.length;
    const leaveUs = (this.leaveUs = new Float64Array(count + 1).fill(Infinity));
    const endUs = (this.endUs = new Float64Array(count + 1));
    const around = (this.around = new Int32Array(count + 1).fill(-1));
    const open: number[] = [];
    // Backwards: successors come later, except at the begin of a round.
    for (let at = count - 1; at >= 0; at--) {
      const instruction = instructions[at]!;
      if (instruction.do === 'rounds') open.pop();
      if (instruction.do === 'round') {
        open.push(at);
        around[at] = at;
        continue;
      }
      around[at] = open.at(-1) ?? -1;
      let ways = [at + 1];
      let pauseUs = 0;
      if (instruction.do === 'wait') pauseUs = instruction.leastUs;
      if (instruction.do === 'choose') ways = [...instruction.to];
      if (instruction.do === 'test') ways = [at + 1, instruction.otherwise];
      if (instruction.do === 'jump') ways = [instruction.to];
      if (instruction.do === 'rounds') {
        const round = instructions[instruction.end]!;
        if (round.do !== 'round') continue;
        const after = instruction.end + 1;
        const allUs = round.times * Math.max(round.every.leastUs, endUs[at + 1]!);
        leaveUs[at] = Math.min(leaveUs[at + 1]!, allUs + leaveUs[after]!);
        endUs[at] = allUs + endUs[after]!;
        continue;
      }
      const isLeave = instruction.do === 'call' && leaves(instruction.call);
      leaveUs[at] = isLeave ? 0 : pauseUs + Math.min(...ways.map((way) => leaveUs[way]!));
      endUs[at] = pauseUs + Math.min(...ways.map((way) => endUs[way]!));
    }
  }

  /** Least microseconds from its next instruction; Infinity if it never leaves. */
  leastUs({ at, dueUs, rounds, roundsUs }: Session): number {
    const { leaveUs, endUs, around } = this;
    const { instructions } = this.program;
    let leastUs = leaveUs[at]!;
    let us = endUs[at]!;
    for (let end = around[at]!; end >= 0; end = around[end + 1]!) {
      const round = instructions[end]!;
      if (round.do !== 'round') break;
      const { loop, times, begin } = round;
      const { leastUs: everyUs } = round.every;
      const left = times - rounds[loop]! - 1;
      const beganUs = roundsUs[loop]! - dueUs;
      if (left > 0) {
        const nextUs = everyUs > 0 ? beganUs + everyUs : us;
        leastUs = Math.min(leastUs, nextUs + leaveUs[begin]!);
        us = endUs[begin]! + (everyUs > 0 ? beganUs + left * everyUs : us);
        if (everyUs === 0) us += (left - 1) * endUs[begin]!;
      }
      if (everyUs > 0) us = Math.max(us, beganUs + (left + 1) * everyUs);
      leastUs = Math.min(leastUs, us + leaveUs[end + 1]!);
      us += endUs[end + 1]!;
    }
    return leastUs;
  }
}
