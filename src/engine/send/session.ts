import type { Row } from '../../base/rows';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { CallRecorder, Push } from '../recorder';
import type { Draw } from '../../plan/intervals';
import type { Instruction } from '../../plan/sessionProgram';
import { DueQueue, type Due, type Queued } from './dueQueues';
import type { StepWindow } from './entrySender';
import { isAsAsked } from './keptValues';

/** Draws of one session, more than it makes. */
const drawsEach = 2 ** 12;

/** What a session was begun in. */
export interface SessionStepWindow extends StepWindow {
  readonly calls: readonly CallRecorder[];
  /** Where calls count whose receivers may be connections of other agents. */
  readonly places: readonly number[];
}

/** What the hub has called; `push`: as something that nobody expects, as long as nobody does. */
export interface Heard {
  readonly args: readonly unknown[] | undefined;
  readonly push?: Push | undefined;
}

/** The sessions of one sender, one after the other. */
export class Session implements Due, Queued<Session> {
  /**
   * `idle`: none is going on; `due`: its next call is known, and when; `ready`: it can go on at once; `waiting`: for an
   * answer, the end of a stream, or what the hub calls.
   */
  state: 'idle' | 'due' | 'ready' | 'waiting' = 'idle';
  connection: HubConnection | undefined;
  window!: SessionStepWindow;
  /** Sessions begun so far. */
  number = 0;
  /** When it was due itself. */
  begunUs = 0;
  /** It had to wait for the one before. */
  wasDelayed = false;
  /** Draws so far, of ways and pauses. */
  drawn = 0;
  /** Next instruction. */
  at = 0;
  /** When that is due, by the schedule of the session. */
  dueUs = 0;
  /** The same where every answer comes at once: by its own pauses alone. */
  ownUs = 0;
  /** When it is looked at again, if that is not the same. */
  wakeUs = 0;
  /** From when on nothing but its due time keeps it. */
  freeUs = 0;
  /** Call that is waited for, its number among those of its kind, when it was due and sent, and when it is given up. */
  call = -1;
  sequence = -1;
  callDueUs = 0;
  sentUs = 0;
  nextUs = 0;
  /** Of a stream. */
  items = 0;
  streamId = -1;
  /** It is, as far as others count, a member of its group. */
  isInside = false;
  /** Its connection is in the group, whatever others count. */
  hasJoined = false;
  /** So long before it leaves it is counted out. */
  marginUs = 0;
  /** A second after it was counted out: before, it neither leaves nor is counted in while something is on its way to it. */
  leavesUs = 0;
  /** Events that have come since the last call, by bits. */
  events = 0;
  /** The latest of each event, with its arguments where something is kept of it. */
  heard: Heard[] | undefined;
  kept: Map<string, unknown> | undefined;
  row: Row | undefined;
  readonly rounds: Int32Array;
  /** When the round that goes on was due, and when by the pauses alone. */
  readonly roundsUs: Float64Array;
  readonly roundsOwnUs: Float64Array;
  /** Due times of sessions that this one keeps from beginning. */
  readonly delayed: number[] = [];
  /** Place in the heap; −1 outside. */
  heapAt = -1;
  /** In the queue of those that wait as long as this one. */
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

/** Sessions that wait the same time for what they wait for: those that were added first are given up first. */
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

/** Does an instruction that is no call. */
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
        // A round keeps its due time, however late the one before was over.
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
