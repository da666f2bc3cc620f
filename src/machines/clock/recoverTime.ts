/** The time of a run whose coordinator is gone, as its agents know it. */
import type { Bus } from '../bus/bus';
import { encode, readBeat, type Alive, type Member, type RunSubjects } from '../messages';
import { ClockInterval, type ClockOffset } from './clockInterval';

const questions = 20;
const everyMs = 50;

/**
 * Asks all agents many times at once. Each answer is a reading of the time of the run between question and answer, as
 * exact as the agent knows it: so it gives an interval that holds what this clock lacks to that time, and all of them meet.
 * @returns undefined where no agent answers, or where they contradict each other
 */
export async function recoverTime(
  bus: Bus,
  { alive, beats }: RunSubjects,
  members: readonly Member[],
  nowUs: () => number,
): Promise<ClockOffset | undefined> {
  const interval = new ClockInterval();
  const epochs = new Set(members.map(({ epoch }) => epoch));
  const asked = new Set<number>();
  const hearing = bus.hear(`${beats}.*`, (text) => {
    const receivedUs = nowUs();
    const { epoch = '', time } = readBeat(text) ?? {};
    if (time === undefined || !epochs.has(epoch) || !asked.has(time.question)) return;
    const { question: sentUs, runUs, errorUs } = time;
    interval.add({ sentUs, heardUs: runUs, answeredUs: runUs, receivedUs }, errorUs);
  });
  for (let count = 0; count < questions; count++) {
    const question = Math.floor(nowUs());
    asked.add(question);
    bus.say(alive, encode({ asks: true, question } satisfies Alive));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  hearing.dispose();
  return interval.jumps > 0 ? undefined : interval.at(nowUs());
}
