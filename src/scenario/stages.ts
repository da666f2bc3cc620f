/** Senders that come and go within a step: how many at most and on the mean, and for how long. */
import type { StagesSpec } from './scenario';

/** How long the stages last, milliseconds. */
export const stagesMs = (stages: StagesSpec['stages']): number =>
  stages.reduce((sum, { overMs, holdMs }) => sum + overMs + holdMs, 0);

/** Most senders at any moment. */
export const peakOf = ({ from, stages }: StagesSpec): number =>
  Math.max(from, ...stages.map(({ to }) => to));

/** Mean of the senders over the stages. */
export function meanOf({ from, stages }: StagesSpec): number {
  let [before, sum] = [from, 0];
  for (const { to, overMs, holdMs } of stages) {
    sum += ((before + to) / 2) * overMs + to * holdMs;
    before = to;
  }
  const ms = stagesMs(stages);
  return ms === 0 ? before : sum / ms;
}
