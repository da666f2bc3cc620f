import { formatCount, formatLatencyUs } from '../../base/units';
import type { Phase, Snapshot } from '../../measure/show/snapshot';
import { stallOf } from '../../measure/judge/stall';
import { errorWords } from './errorWords';
import { timeLeft } from '../../session/runWords';
import { lastStepIsOver, type RunProgress } from './runProgress';

/** `connecting   1,900 of 1,900   p99 84ms   3 failed`. */
export function connectingText({ phase, connections }: Snapshot): string {
  const { requested, connected, failed, dropped, reconnected = 0, connectP99Us } = connections;
  const { takingPart = connected } = connections;
  const word = phase === 'connecting' ? 'connecting' : 'connected ';
  return [
    `${word}   ${formatCount(connected)} of ${formatCount(requested)}`,
    ...(connected > 0 ? [`p99 ${formatLatencyUs(connectP99Us)}`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(dropped > 0 ? [`${formatCount(dropped)} dropped`] : []),
    ...(reconnected > 0
      ? [`${formatCount(reconnected)} reconnected`, `${formatCount(takingPart)} open`]
      : []),
  ].join('   ');
}

const phaseWords: Readonly<Record<Phase, string>> = {
  connecting: 'opening connections',
  preparing: 'preparing connections',
  warmup: 'warming up, not measured',
  measuring: 'measuring',
  draining: 'waiting for what is outstanding',
  closing: 'closing connections',
  done: 'done',
};

/** `no delivery for 2.1 s, 400 waiting`; undefined where deliveries come as they should. */
export function stallText({ step }: Pick<Snapshot, 'step'>): string | undefined {
  const stall = step && stallOf(step);
  if (!stall) return undefined;
  const count = formatCount(stall.count);
  return stall.kind === 'silent'
    ? `no delivery for ${stall.seconds} s, ${count} waiting`
    : `${count} waiting, the oldest for at least ${stall.seconds} s`;
}

/**
 * What is going on: `step 3 of 3: measuring, 0:12 left; 40 outstanding; errors: 3 timeout`, in a stall
 * `⚠ step 3 of 3: no delivery for 2.1 s, 400 waiting; measuring, 0:12 left`.
 */
export function statusText(snapshot: Snapshot, progress: RunProgress): string {
  const { phase, step, stepCount, errors } = snapshot;
  const inStep = step && !lastStepIsOver(progress) && phase !== 'connecting';
  const stall = inStep ? stallText(snapshot) : undefined;
  const outstanding = inStep && phase !== 'warmup' && !stall ? step.outstanding : 0;
  return [
    `${stall ? '⚠ ' : ''}${inStep ? `step ${step.index} of ${formatCount(stepCount)}: ` : ''}${
      stall ? `${stall}; ` : ''
    }${phaseWords[phase]}${inStep && phase === 'measuring' ? `, ${timeLeft(step)} left` : ''}`,
    ...(outstanding > 0 ? [`${formatCount(outstanding)} outstanding`] : []),
    ...errorWords(errors),
  ].join('; ');
}
