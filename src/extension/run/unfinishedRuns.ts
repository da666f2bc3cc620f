import type { UnfinishedRun } from '../editorState';
import { resultEntry, writingMs } from '../results/resultEntry';

/** Closing a window, as when it is loaded again, may take some seconds. */
const lookAgainMs = 1000;
const mostLooks = 8;

/** What became of a run that was not seen to end. */
export type RunState = 'running' | 'interrupted' | 'over';

/** How to find out; tests put others in their place. */
export interface RunTraces {
  readonly ownPid: number;
  isAlive(pid: number): boolean;
  now(): Date;
  wait(ms: number): Promise<void>;
}

const realTraces: RunTraces = {
  ownPid: process.pid,
  isAlive,
  now: () => new Date(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/**
 * Looks whether a run still goes on in another window or on another machine that shares the folder: by
 * its process, and by its samples, which are written each second. A window that was just loaded again
 * finds fresh samples of its own broken run, so it looks a second time.
 */
export async function runState(
  { folder, pid }: UnfinishedRun,
  traces: RunTraces = realTraces,
): Promise<RunState> {
  // A number of ours is left from a process that is gone.
  for (let look = 0; pid !== traces.ownPid && traces.isAlive(pid); look++) {
    if (look === mostLooks) return 'running';
    await traces.wait(lookAgainMs);
  }
  let entry = await resultEntry(folder, traces.now());
  if (entry?.status === 'running') {
    await traces.wait(writingMs + 1000);
    entry = await resultEntry(folder, traces.now());
  }
  if (entry?.status === 'running') return 'running';
  return entry?.status === 'interrupted' ? 'interrupted' : 'over';
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
