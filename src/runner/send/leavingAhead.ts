import type { SessionProgram } from '../../plan/sessionProgram';
import type { Session } from './session';

/** How soon sessions may leave their groups, by the pauses that are written: answers may come at once. */
export class LeavingAhead {
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
      if (instruction.do === 'wait') pauseUs = instruction.us;
      if (instruction.do === 'choose') ways = [...instruction.to];
      if (instruction.do === 'test') ways = [at + 1, instruction.otherwise];
      if (instruction.do === 'jump') ways = [instruction.to];
      if (instruction.do === 'rounds') {
        const round = instructions[instruction.end]!;
        if (round.do !== 'round') continue;
        const after = instruction.end + 1;
        const allUs = round.times * Math.max(round.everyUs, endUs[at + 1]!);
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
      const { loop, times, everyUs, begin } = round;
      // Of whole rounds after this one.
      const left = times - rounds[loop]! - 1;
      const beganUs = roundsUs[loop]! - dueUs;
      if (left > 0) {
        const nextUs = everyUs > 0 ? beganUs + (times - left) * everyUs : us;
        leastUs = Math.min(leastUs, nextUs + leaveUs[begin]!);
        us = endUs[begin]! + (everyUs > 0 ? beganUs + (times - 1) * everyUs : us);
        if (everyUs === 0) us += (left - 1) * endUs[begin]!;
      }
      if (everyUs > 0) us = Math.max(us, beganUs + times * everyUs);
      leastUs = Math.min(leastUs, us + leaveUs[end + 1]!);
      us += endUs[end + 1]!;
    }
    return leastUs;
  }
}
