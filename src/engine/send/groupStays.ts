/** When sessions count as members of their groups. */
import { leavingUs } from '../../base/measuringLimits';
import type { Population } from '../../plan/population';
import type { SessionProgram } from '../../plan/sessionProgram';
import type { SenderDependencies } from './entrySender';
import type { Session } from './session';

/** Whether all has come that somebody waits for before it leaves is looked at so often. */
const lookUs = 10_000;
/** So much of the time in its group, a second at most, somebody is not counted before it leaves. */
const marginShare = 0.25;

/** Who is about to leave its group is outside: messages that are on their way then may come or not. */
export class GroupStays {
  private readonly leaving: LeavingAhead;

  /** @param leaves whether the call of that number does */
  constructor(
    program: SessionProgram,
    leaves: (call: number) => boolean,
    private readonly population: Population,
    private readonly dependencies: SenderDependencies,
  ) {
    this.leaving = new LeavingAhead(program, leaves);
  }

  /**
   * Moves a session in or out before its next call. That of a call which leaves is due later where something may still
   * be on its way to it.
   *
   * @returns when it is to be looked at again, where that is before its call is due
   */
  waitsUntil(session: Session, leaves: boolean, nowUs: number): number | undefined {
    this.goIn(session, nowUs);
    if (session.isInside) {
      const outUs = this.outUs(session);
      if (nowUs < outUs && outUs < session.dueUs && outUs < session.window.endUs) return outUs;
      if (outUs <= nowUs) {
        this.goOut(session);
        session.leavesUs = nowUs + leavingUs;
      }
    }
    if (leaves && session.dueUs <= nowUs && this.isAwaited(session, nowUs))
      session.dueUs = Math.min(session.leavesUs, nowUs + lookUs);
    return undefined;
  }

  /** Where it has joined. Who was a member before must have what was meant for it then, or be late for it. */
  goIn(session: Session, nowUs: number): void {
    if (session.isInside || !session.hasJoined || this.isAwaited(session, nowUs)) return;
    const leftUs = session.dueUs + this.leaving.leastUs(session) - nowUs;
    session.marginUs = Math.min(leavingUs, marginShare * leftUs);
    if (this.outUs(session) <= nowUs) return;
    session.isInside = true;
    this.dependencies.members.move!(session.sender, this.population, true);
  }

  private goOut(session: Session): void {
    session.isInside = false;
    this.dependencies.members.move!(session.sender, this.population, false);
  }

  /** From when on it is not counted among the members of its group. */
  private outUs(session: Session): number {
    return session.dueUs + this.leaving.leastUs(session) - session.marginUs;
  }

  /** Whether something may be on its way to a session that was counted out. */
  private isAwaited({ sender, leavesUs }: Session, nowUs: number): boolean {
    if (nowUs >= leavesUs) return false;
    const { elsewhere, members } = this.dependencies;
    // What other agents have sent is not known here.
    return elsewhere !== undefined || members.missing!(sender) > 0;
  }
}

/** How soon sessions may leave their groups, by the pauses that are written: answers may come at once. */
class LeavingAhead {
  /** Microseconds at least from each instruction to a call that leaves, before its round ends; Infinity: none does. */
  private readonly leaveUs: Float64Array;
  /** To the end of the round that it stands in, or of the session. */
  private readonly endUs: Float64Array;
  /** Where that round ends; −1 outside of rounds. */
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
    // What is gone on with stands behind, but for rounds, which begin anew.
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

  /** Microseconds from when its next instruction is due; Infinity when it does not leave any more. */
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
      // Of whole rounds after this one.
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
