import { formatCount, formatLatencyUs } from '../../base/units';
import { stallOf } from '../../measure/judge/stall';
import type { Phase, Snapshot, StepProgress } from '../../measure/show/snapshot';
import { rowOfProgress, type StepRow } from '../../measure/show/stepRows';
import type { Dialect, Scenario } from '../../scenario/scenario';
import { loadWords, marksOf, timeLeft } from '../../session/runWords';
import { errorWords } from './errorWords';

/** Shows a run while it goes on, on standard error. */
export interface RunView {
  update(snapshot: Snapshot): void;
  /** Says something beside the view: a warning, or that the run is being stopped. */
  message(text: string): void;
  /** Removes what was redrawn in place; the final screen follows. */
  close(): void;
}

/** First lines of every view: `chat-room.yaml → http://…`, the load, and how when unusual. */
export interface RunTitle {
  readonly file: string;
  readonly url: string;
  readonly scenario: Scenario;
  /** The dialect agreed with the hub. */
  readonly dialect?: Dialect;
  readonly emulated?: true;
}

export function titleLines({ file, url, scenario, ...target }: RunTitle): string[] {
  const how = marksOf(scenario, target);
  return [`${file} → ${url}`, loadWords(scenario), ...(how === '' ? [] : [how])];
}

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

/** State of a run as the views show it; a new value for each snapshot. */
export interface RunProgress {
  readonly latest?: Snapshot;
  /** Steps seen so far, rising; the last may be going on. */
  readonly steps: readonly StepProgress[];
}

export const noProgress: RunProgress = { steps: [] };

/** Takes in a snapshot: the step it is about replaces what was known of that step. */
export function withSnapshot({ steps }: RunProgress, snapshot: Snapshot): RunProgress {
  const { step } = snapshot;
  if (!step) return { latest: snapshot, steps };
  const known = steps.at(-1)?.index === step.index;
  return { latest: snapshot, steps: [...(known ? steps.slice(0, -1) : steps), step] };
}

/** Whether the last seen step is over: the run is past it, or waits for nothing more. */
export function lastStepIsOver({ latest }: RunProgress): boolean {
  return latest?.phase === 'closing' || latest?.phase === 'done';
}

/** Rows for the table, the one that is going on marked, with the time it has left. */
export function rowsOf(progress: RunProgress): StepRow[] {
  const { latest, steps } = progress;
  return steps.map((seen, position) => {
    const over = position < steps.length - 1 || lastStepIsOver(progress);
    const row = rowOfProgress({ ...seen, over: seen.over || over });
    if (over || !latest) return row;
    const { index, senders } = row;
    // During the warm-up the counts are those of nothing yet.
    if (latest.phase === 'warmup' || latest.phase === 'preparing') {
      return { index, senders, current: true };
    }
    const left = latest.phase === 'measuring' ? { left: timeLeft(seen) } : {};
    return { ...row, current: true, ...left };
  });
}
