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
import { firstFolder } from './prepareRun';
import { readScenario, type ScenarioParser } from './scenarioFile';
import type { RunRequest, Shell } from './shell';

/** Where what is seen of a run is kept, and what its result is compared with. */
export type ViewRequest = Pick<
  RunRequest,
  'directories' | 'otherFolder' | 'spareDirectory' | 'baseline'
>;

export interface ViewShell extends Pick<Shell, 'say' | 't'> {
  /** Agents that have come, with their machines; until the load begins. */
  gathered?(nodes: readonly string[], agents: number): void;
  /** It has a title, and no snapshot yet. */
  begun(run: ViewedRun): void;
  /** Its result is here. */
  finished?(run: FinishedRun): void;
}

/** A run that goes on elsewhere. */
interface RunElsewhere {
  readonly bus: Bus;
  readonly run: string;
  /** Rejects when it is not to be looked at any more; the run goes on. */
  readonly left: Promise<never>;
}

export interface ViewParts {
  readonly parseScenario: ScenarioParser;
  readonly writeCounters: typeof writeCounterFile;
  /** Of who has started the run from here: reads metrics of its server; the text of a run is not asked for that. */
  readonly observe?: () => Promise<Observer | undefined>;
}

/**
 * Shows a run that goes on elsewhere from its begin, and keeps its result here.
 * @throws ExpectedError `run-missing`, `run-failed` and others of {@link viewRun}; `result-folder`
 */
export async function viewSession(
  { bus, run, left }: RunElsewhere,
  request: ViewRequest,
  shell: ViewShell,
  parts: ViewParts,
): Promise<FinishedRun> {
  let begun: Promise<ViewedRun> | undefined;
  /** What keeps it from being kept here is said at once, not at its end. */
  const { promise: unkept, reject: give } = deferred<never>();
  const away = Promise.race([left, unkept]);
  // Nobody may be waiting when it comes, as where there is no such run.
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
      // One after the other: what is shown and kept begins with the title.
      inBackground(
        begun?.then((viewed) => viewed.snapshots.add(snapshot)),
        give,
      );
    },
  };
  try {
    const result = await viewRun(bus, run, viewer, away);
    if (begun === undefined) throw new Error('a run without a title');
    // Under the name that it has here.
    const viewed = await begun;
    const named = { ...result, id: viewed.folder.id };
    const finished = await keepResult(named, viewed, shell, parts.writeCounters);
    shell.finished?.(finished);
    return finished;
  } finally {
    await (await begun?.catch(() => undefined))?.dispose();
  }
}

/** A run as it is seen and kept here; the title of its request is the name of its file. */
export type ViewedRun = Awaited<ReturnType<typeof beginView>>;

/** @throws ExpectedError `result-folder`, `scenario-problems` */
async function beginView(
  { file, text, startedAt, url }: RunTitle,
  request: ViewRequest,
  shell: Pick<Shell, 'say' | 't'>,
  { parseScenario, observe }: ViewParts,
) {
  const whole: RunRequest = { ...request, title: path.basename(file), text, overrides: [] };
  const scenario = await readScenario(whole, parseScenario);
  const started = new Date(startedAt);
  const folder = await firstFolder(whole, started, shell);
  // The load goes on already: what cannot be observed is no reason to end it.
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
