import { Emitter } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import { newRunId } from '../../agents/messages';
import type { Snapshot } from '../../measure/snapshot';
import { writeCounterFile } from '../../results/counters/counterFile';
import type { Result } from '../../results/result';
import type { StopReason } from '../../engine/lead/run';
import { notRunnable } from '../../scenario/check/notRunnable';
import { parseScenario } from '../../scenario/parseScenario';
import { createRunQuestion, listReach } from '../../run/reach';
import type { FinishedRun } from '../../run/runSession';
import { openScenarioObserver } from '../../run/prepareRun';
import {
  attachInCluster,
  prepareClusterRun,
  type ClusterShell,
  type ClusterWishes,
  runInCluster,
} from '../../run/runInCluster';
import { readScenario } from '../../run/scenarioFile';
import type { RunRequest } from '../../run/shell';
import type { ViewedRun, ViewRequest } from '../../run/viewedRun';
import type { ClusterPlace } from '../editorState';
import { t } from '../log';
import { setting } from '../services';
import { editorWords } from './askCluster';
import {
  EditorRun,
  describeRun,
  baselineOf,
  type EditorShell,
  type FollowedRun,
  type RunInCluster,
} from './editorRun';

export { askCluster, askRun } from './askCluster';

export interface ClusterStart {
  readonly progress: (text: string) => void;
  /** Aborted by the user; the run is then removed from the cluster. */
  readonly leaving: AbortController;
}

const wishesFor = (place: ClusterPlace): ClusterWishes => ({
  ...place,
  kubectl: setting('kubectl') || undefined,
  image: setting('kubernetesImage'),
  busImage: setting('kubernetesBusImage'),
});

/** Starts a run in a cluster; undefined when the user declines. @throws ExpectedError for all that prevents it */
export async function startClusterRun(
  request: RunRequest,
  place: ClusterPlace,
  shell: EditorShell,
  start: ClusterStart,
): Promise<EditorRun | undefined> {
  const scenario = await readScenario(request, parseScenario);
  const { context, workerScript, confirm } = shell;
  const wishes = wishesFor(place);
  const what = { run: newRunId(), scenario, ...request };
  const given = await prepareClusterRun(what, wishes, { context, workerScript, notRunnable });
  const asked = createRunQuestion(scenario, listReach(scenario, context, { isElsewhere: true }));
  if (confirm && !(await confirm(asked, scenario))) return undefined;
  const baseline = await baselineOf(request, scenario, shell);
  const elsewhere = { cluster: place, run: given.run, key: given.keys.lead };
  return followed(elsewhere, request.title, shell, start, (seen) =>
    runInCluster(given, wishes, { ...request, baseline }, seen, {
      ...{ parseScenario, writeCounters: writeCounterFile },
      observe: () =>
        openScenarioObserver(scenario, {
          context,
          t: shell.t,
          say: (kind, text) => shell.say(kind, text),
        }),
    }),
  );
}

/**
 * Follows a run in a cluster; one with a key was started here and is removed at its end. @throws ExpectedError
 * `run-missing`, and others of kubectl
 */
export function attachClusterRun(
  elsewhere: RunInCluster,
  request: ViewRequest,
  shell: EditorShell,
  start: ClusterStart,
): Promise<EditorRun> {
  const { run, key, cluster } = elsewhere;
  const going = { run, key, isOwn: key !== undefined };
  return followed(elsewhere, undefined, shell, start, (seen) =>
    attachInCluster(going, wishesFor(cluster), request, seen, {
      parseScenario,
      writeCounters: writeCounterFile,
    }),
  );
}

function followed(
  elsewhere: RunInCluster,
  title: string | undefined,
  shell: EditorShell,
  { progress, leaving }: ClusterStart,
  go: (seen: ClusterShell) => Promise<FinishedRun>,
): Promise<EditorRun> {
  const stopping = new AbortController();
  return new Promise((resolve, reject) => {
    let following: FollowedCluster | undefined;
    const over = go({
      ...{ progress, leaving: leaving.signal, t: shell.t, words: editorWords },
      ...{ stopping: stopping.signal, stopReason: 'stopped' },
      say: (kind, text) => shell.say(kind, text),
      gathered: (nodes, agents) =>
        progress(t('{0} of {1} agents are there ({2}).', nodes.length, agents, nodes.join(', '))),
      begun: (viewed) => {
        following = new FollowedCluster(viewed, over, { stopping, leaving });
        const shown = panelRunOf(viewed, title ?? viewed.request.title);
        resolve(new EditorRun(shown, following, shell, elsewhere));
      },
      finished: (finished) => following?.finish(finished),
    });
    over.catch(reject);
  });
}

const panelRunOf = ({ folder, scenario, startedAt, url }: ViewedRun, title: string) => ({
  ...describeRun(scenario, startedAt),
  ...{ id: folder.id, title, targetUrl: url },
});

class FollowedCluster implements FollowedRun {
  folder: string;
  private readonly results = new Emitter<Result>();
  readonly onResult = this.results.event;
  readonly onSnapshot: FollowedRun['onSnapshot'];

  constructor(
    private readonly viewed: ViewedRun,
    readonly finished: Promise<FinishedRun>,
    private readonly ways: Readonly<Record<'stopping' | 'leaving', AbortController>>,
  ) {
    this.folder = viewed.folder.path;
    this.onSnapshot = viewed.onSnapshot;
  }

  get snapshots(): readonly Snapshot[] {
    return this.viewed.snapshots.all;
  }

  finish({ result, folder }: FinishedRun): void {
    this.folder = folder ?? this.folder;
    this.results.fire(result);
  }

  /** The first stop ends the run in order, the second at once. Closing the window leaves it running. */
  stop(reason: StopReason): void {
    if (reason !== 'stopped') return;
    const { stopping, leaving } = this.ways;
    const isInOrder = !stopping.signal.aborted;
    const left = new ExpectedError('left', t('The run was left before its end.'));
    (isInOrder ? stopping : leaving).abort(left);
  }
}
