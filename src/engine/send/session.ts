import type { Row } from '../../base/rows';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { CallRecorder, Push } from '../recorder';
import type { Draw } from '../../plan/intervals';
import type { Instruction } from '../../plan/sessionProgram';
import { DueQueue, type Due, type Queued } from './dueQueues';
import type { StepWindow } from './entrySender';
import { isAsAsked } from './keptValues';

/** Bound of the draws of one session. */
const drawsEach = 2 ** 12;

export interface SessionStepWindow extends StepWindow {
  readonly calls: readonly CallRecorder[];
  /** Indexes of its calls' counts for members on other agents. */
  readonly places: readonly number[];
}

/** `push`: how it was counted, until a session waits for it. */
export interface Heard {
  readonly args: readonly unknown[] | undefined;
  readonly push?: Push | undefined;
}

/** Runs the sessions of one sender, one after the other. */
export class Session implements Due, Queued<Session> {
  /**
   * `due`: the next call has a time; `ready`: goes on at once; `waiting`: for a completion, the end of a stream, or
   * an event.
   */
  state: 'idle' | 'due' | 'ready' | 'waiting' = 'idle';
  connection: HubConnection | undefined;
  window!: SessionStepWindow;
  number = 0;
  /** Due time of the session. */
  begunUs = 0;
  /** It began late because of the one before. */
  wasDelayed = false;
  drawn = 0;
  at = 0;
  /** Due time of the next instruction. */
  dueUs = 0;
  /** The same without waiting times for answers. */
  ownUs = 0;
  /** Next check, if earlier than due. */
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
  /** Counts as a member of its group. */
  isInside = false;
  /** Its connection has joined the group. */
  hasJoined = false;
  /** It stops counting as a member that long before it leaves. */
  marginUs = 0;
  /** Until then it neither leaves nor counts as a member while messages are in flight. */
  leavesUs = 0;
  events = 0;
  /** Latest of each event; arguments only where values are kept. */
  heard: Heard[] | undefined;
  kept: Map<string, unknown> | undefined;
  row: Row | undefined;
  readonly rounds: Int32Array;
  /** Due times of the current round, with and without waiting for answers. */
  readonly roundsUs: Float64Array;
  readonly roundsOwnUs: Float64Array;
  /** Due times of sessions waiting for this one to end. */
  readonly delayed: number[] = [];
  /** Index in the heap; −1 outside. */
  heapAt = -1;
  /** In the queue of its timeout. */
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

/** Sessions with the same timeout. */
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

/** Executes an instruction other than a call. */
export function follow(session: Session, instruction: Instruction, draw: Draw): void {
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
      if (isAsAsked(session.kept?.get(name), equals)) break;
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
