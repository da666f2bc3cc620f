import { deferred } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import type { Snapshot } from '../../measure/snapshot';
import { resultOf, sampleOf } from '../../results/readResult';
import type { Result } from '../../results/result';
import type { Bus } from '../bus/bus';
import { readViewMessage, type RunTitle, subjectsOf, usualSilenceMs } from '../messages';
import { watchLead } from './leadWatch';

interface RunViewer {
  /** Machines of the agents that have come, of so many that are waited for. */
  gathered?(nodes: readonly string[], agents: number): void;
  /** Nothing has been shown of it for a while; once. */
  unseen?(): void;
  title(title: RunTitle): void;
  snapshot(snapshot: Snapshot): void;
}

/** Results of hours have some megabytes. */
const mostLength = 64 * 1024 * 1024;
const answerWithinMs = 2000;
/** Whoever publishes a run says something of it within a second. */
const unseenAfterMs = 10_000;

/**
 * Shows a run that goes on elsewhere from its begin, whenever that was, and gives its result.
 * @param left rejects when it is not to be looked at any more; the run goes on
 * @param quietMs after which it is said that nothing was shown
 * @throws ExpectedError `run-failed` with why it has none, `run-lost`, `run-missing`, `run-id`, `result-damaged`
 */
export async function viewRun(
  bus: Bus,
  run: string,
  viewer: RunViewer,
  left?: Promise<never>,
  quietMs = unseenAfterMs,
): Promise<Result> {
  const subjects = subjectsOf(run);
  const { promise: whole, resolve: give, reject: fail } = deferred<string>();
  let text = '';
  let seen = 0;
  const see = (said: string): void => {
    const message = readViewMessage(said);
    if (message === undefined || message.number <= seen) return;
    seen = message.number;
    if (message.type === 'gathered') viewer.gathered?.(message.nodes, message.agents);
    else if (message.type === 'title') viewer.title(message);
    else if (message.type === 'snapshot') {
      const snapshot = sampleOf(message.snapshot);
      if (snapshot !== undefined) viewer.snapshot(snapshot);
    } else if (message.type === 'result') {
      text = message.isFirst ? message.text : text + message.text;
      if (text.length > mostLength)
        fail(new ExpectedError('run-failed', 'The result is too long.'));
      if (message.isLast) give(text);
    } else fail(new ExpectedError('run-failed', message.text));
  };
  const following = await bus.follow(subjects.log, subjects.view, see).catch(() => {
    throw new ExpectedError(
      'run-missing',
      `There is no run ${run} on the bus. One that is over is gone: its result is in the folder that it was started in.`,
    );
  });
  const quiet = setTimeout(() => {
    if (seen === 0) viewer.unseen?.();
  }, quietMs);
  const watching = watchLead(bus, subjects, () =>
    fail(
      new ExpectedError(
        'run-lost',
        `The process that led run ${run} was lost: nothing was heard of it for ${usualSilenceMs / 1000} s. Its agents stop by themselves.`,
      ),
    ),
  );
  try {
    const result = await (left ? Promise.race([whole, left]) : whole);
    await bus.ask(subjects.seen, '', answerWithinMs);
    return resultOf(result, `The result of run ${run}`);
  } catch (error) {
    if (isOver(error)) await bus.ask(subjects.seen, '', answerWithinMs);
    throw error;
  } finally {
    clearTimeout(quiet);
    watching.dispose();
    following.dispose();
  }
}

/** Whether this is why a run has ended without a result. */
export const isOver = (error: unknown): error is ExpectedError =>
  error instanceof ExpectedError && ['run-failed', 'run-lost'].includes(error.code);
