import { inBackground, deferred } from '../base/async';
import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import type { Snapshot } from '../measure/snapshot';
import type { Bus } from '../agents/bus/bus';
import type { RunTitle } from '../agents/messages';
import { viewRun } from '../agents/view/viewRun';
import type { writeCounterFile } from '../results/counters/counterFile';
import { keepResult, SnapshotStore, type FinishedRun } from './runSession';
import type { Observer } from './observe/openObserver';
import { createFirstWritableFolder } from './prepareRun';
import { readScenario, type ScenarioParser } from './scenarioFile';
import type { RunRequest, Shell } from './shell';

export type ViewRequest = Pick<
  RunRequest,
  'directories' | 'otherFolder' | 'spareDirectory' | 'baseline'
>;

export interface ViewShell extends Pick<Shell, 'say' | 't'> {
  gathered?(nodes: readonly string[], agents: number): void;
  begun(run: ViewedRun): void;
  finished?(run: FinishedRun): void;
}

interface RunElsewhere {
  readonly bus: Bus;
  readonly run: string;
  /** Rejects when the viewer leaves; the run goes on. */
  readonly left: Promise<never>;
}

export interface ViewParts {
  readonly parseScenario: ScenarioParser;
  readonly writeCounters: typeof writeCounterFile;
  /** Reads metrics of the server, where the run was started from here. */
  readonly observe?: () => Promise<Observer | undefined>;
}

/**
 * Shows a run that goes on elsewhere, and stores its result here.
 * @throws ExpectedError `run-missing`, `run-failed` and others of {@link viewRun}; `result-folder`
 */
export async function viewSession(
  { bus, run, left }: RunElsewhere,
  request: ViewRequest,
  shell: ViewShell,
  parts: ViewParts,
): Promise<FinishedRun> {
  let begun: Promise<ViewedRun> | undefined;
  /** Rejects at once when it cannot be stored here. */
  const { promise: unkept, reject: give } = deferred<never>();
  const away = Promise.race([left, unkept]);
  // It may reject unobserved, as where there is no such run.
  away.catch(() => undefined);
  const viewer = {
    gathered: (nodes: readonly string[], agents: number) => shell.gathered?.(nodes, agents),
    unseen: () =>
      shell.say(
        'warning',
        shell.t(
          'Run {0} shows nothing so far. It may be over. Only a run that was started with --publish or in a cluster can be looked at.',
          run,
        ),
      ),
    title: (title: RunTitle) => {
      begun ??= beginView(title, request, shell, parts);
      begun.then((viewed) => shell.begun(viewed)).catch(give);
    },
    snapshot: (snapshot: Snapshot) => {
      inBackground(
        begun?.then((viewed) => viewed.snapshots.add(snapshot)),
        give,
      );
    },
  };
  try {
    const result = await viewRun(bus, run, viewer, away);
    if (begun === undefined) throw new Error('a run without a title');
    const viewed = await begun;
    const named = { ...result, id: viewed.folder.id };
    const finished = await keepResult(named, viewed, shell, parts.writeCounters);
    shell.finished?.(finished);
    return finished;
  } finally {
    await (await begun?.catch(() => undefined))?.dispose();
  }
}

export type ViewedRun = Awaited<ReturnType<typeof beginView>>;

async function beginView(
  { file, text, startedAt, url }: RunTitle,
  request: ViewRequest,
  shell: Pick<Shell, 'say' | 't'>,
  { parseScenario, observe }: ViewParts,
) {
  const whole: RunRequest = { ...request, title: path.basename(file), text, overrides: [] };
  const scenario = await readScenario(whole, parseScenario);
  const started = new Date(startedAt);
  const folder = await createFirstWritableFolder(whole, started, shell);
  // The load goes on: failing to observe does not end it.
  const observer = await observe?.().catch((error: unknown) => {
    if (!(error instanceof ExpectedError)) throw error;
    shell.say('warning', error.message);
    return undefined;
  });
  const snapshots = new SnapshotStore(folder, observer, shell.say);
  const dispose = (): Promise<void> => {
    observer?.close();
    return folder.dispose();
  };
  const { onSnapshot } = snapshots;
  return {
    request: whole,
    scenario,
    url,
    startedAt: started,
    folder,
    snapshots,
    onSnapshot,
    dispose,
  };
}
