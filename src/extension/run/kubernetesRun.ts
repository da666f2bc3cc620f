/** Runs whose load comes from a cluster; loaded when somebody asks for one. */
import { Emitter } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import type { Snapshot } from '../../measure/snapshot';
import { newRunId } from '../../machines/newRunId';
import {
  contextsOf,
  isNamespace,
  namespaceOf,
  type Contexts,
} from '../../machines/kubernetes/contexts';
import { Kubectl } from '../../machines/kubernetes/kubectl';
import { writeCounters } from '../../results/counters/counterFile';
import type { Result } from '../../results/result';
import type { StopReason } from '../../runner/lead/conductor';
import { notRunnable } from '../../scenario/check/notRunnable';
import { parseScenario } from '../../scenario/parseScenario';
import type { Override } from '../../scenario/read/overrides';
import { clusterRunOf, loadOn, type ClusterWishes } from '../../session/clusterRun';
import type { FinishedRun } from '../../session/keepResult';
import { runInCluster } from '../../session/runInCluster';
import { readScenario } from '../../session/scenarioFile';
import type { RunRequest } from '../../session/shell';
import type { ViewedRun } from '../../session/viewedRun';
import { askPick, askText, type Place } from '../askInSteps';
import { t } from '../log';
import { setting, type Services } from '../services';
import { back, inSteps } from '../stepsOfQuestions';
import { forEditor, withoutFlags } from './clusterWords';
import {
  EditorRun,
  introduced,
  keptBaseline,
  type EditorShell,
  type FollowedRun,
} from './editorRun';
import { answerProblem, validScenario } from './runTexts';

export interface ClusterPlace {
  readonly context: string;
  readonly namespace: string;
}

/** Where it shall run, and on how many agents. */
export interface ClusterChoice {
  readonly cluster: ClusterPlace;
  readonly overrides: readonly Override[];
}

const usualAgents = 3;
const mostAgents = 1000;

const kubectlOf = (place: Partial<ClusterPlace> = {}): Kubectl =>
  new Kubectl({ ...place, program: setting('kubectl') || undefined });

/** Asks for context, namespace and agents; undefined when turned away. @throws ExpectedError `kubectl-missing` and others of kubectl */
export async function askCluster(
  text: string,
  { state }: Services,
): Promise<ClusterChoice | undefined> {
  const contexts = await contextsOf(kubectlOf()).catch((error: unknown) => {
    throw forEditor(error);
  });
  if (contexts.names.length === 0)
    throw new ExpectedError(
      'kubectl-context',
      t('kubectl knows no cluster yet: az aks get-credentials adds one on AKS.'),
    );
  const [last] = state.list('clusterPlaces');
  const inFile = validScenario(text)?.agents;
  const answers = await inSteps<string>(3, async (at, before, earlier) => {
    const place = { step: at + 1, totalSteps: 3 };
    if (at === 0) return askContext(contexts, earlier ?? last?.context, place);
    const [context = ''] = before;
    if (at === 1) {
      const value =
        earlier ?? (last?.context === context ? last.namespace : await usualNamespace(context));
      return askText(
        {
          title: t('Run on Kubernetes: namespace'),
          prompt: t('Everything of the run is made in it, and removed at its end.'),
          value,
          check: (typed) =>
            isNamespace(typed) ? undefined : t('Write lower-case letters, digits and hyphens.'),
        },
        place,
      );
    }
    const value = earlier ?? String(inFile ?? usualAgents);
    return askText({ title: t('Run on Kubernetes: agents'), value, ...agentsAsked(text) }, place);
  });
  if (answers === undefined) return undefined;
  const [context = '', namespace = '', agents = ''] = answers;
  await state.keep('clusterPlaces', [{ context, namespace }]);
  const isAsInFile = agents === String(inFile ?? 1);
  return {
    cluster: { context, namespace },
    overrides: isAsInFile ? [] : [{ path: 'config.agents', value: agents }],
  };
}

const usualNamespace = (context: string): Promise<string> =>
  namespaceOf(kubectlOf({ context })).catch(() => '');

async function askContext(
  { names, current }: Contexts,
  chosen: string | undefined,
  place: Place,
): Promise<string | typeof back | undefined> {
  const first = chosen !== undefined && names.includes(chosen) ? chosen : current;
  const ordered = [...names].sort((a, b) => Number(b === first) - Number(a === first));
  const items = ordered.map((label) => ({
    label,
    ...(label === current && { description: t('current context') }),
  }));
  const answer = await askPick(t('Run on Kubernetes: context'), items, place);
  return answer === undefined || answer === back ? answer : answer.label;
}

const agentsAsked = (text: string) => ({
  prompt: t('Processes that share the load, one per node as far as there are nodes.'),
  check: (typed: string): string | undefined =>
    /^\d{1,4}$/.test(typed) && Number(typed) >= 1 && Number(typed) <= mostAgents
      ? answerProblem(text, [], { path: 'config.agents', value: typed }, t)
      : t('Write a whole number from 1 to {0}.', mostAgents),
});

export interface ClusterStart {
  /** What goes on until the run is there to be shown. */
  readonly progress: (text: string) => void;
  /** Aborted by who wants the run no more; it is removed from the cluster then. */
  readonly leaving: AbortController;
}

/** Starts a run in a cluster; undefined when the person did not confirm it. @throws ExpectedError for all that keeps it from starting */
export async function startClusterRun(
  request: RunRequest,
  place: ClusterPlace,
  shell: EditorShell,
  { progress, leaving }: ClusterStart,
): Promise<EditorRun | undefined> {
  const scenario = await readScenario(request, parseScenario);
  const { context, workerScript, confirm, t: say } = shell;
  const wishes: ClusterWishes = {
    ...place,
    kubectl: setting('kubectl') || undefined,
    image: setting('kubernetesImage'),
    busImage: setting('kubernetesBusImage'),
  };
  const what = { run: newRunId(), scenario, ...request };
  const given = await clusterRunOf(what, wishes, { context, workerScript, notRunnable });
  const beyond = { ...loadOn(scenario, context), redirected: false };
  if (confirm && !(await confirm(beyond, scenario))) return undefined;
  const baseline = await keptBaseline(request, scenario, shell);
  const view = { ...request, ...(baseline && { baseline }) };
  const stopping = new AbortController();
  return new Promise((resolve, reject) => {
    let following: FollowedCluster | undefined;
    const over = runInCluster(
      given,
      wishes,
      view,
      {
        ...{ progress, leaving: leaving.signal, t: say },
        ...{ stopping: stopping.signal, stopReason: 'stopped' },
        say: (kind, text) => shell.say(kind, withoutFlags(text)),
        gathered: (nodes, agents) =>
          progress(t('{0} of {1} agents are there ({2}).', nodes.length, agents, nodes.join(', '))),
        begun: (viewed) => {
          following = new FollowedCluster(viewed, over, { stopping, leaving });
          resolve(new EditorRun(panelRunOf(viewed, request.title), following, shell));
        },
        finished: (finished) => following?.finish(finished),
      },
      { parseScenario, writeCounters },
    );
    over.catch((error: unknown) => reject(forEditor(error) as Error));
  });
}

const panelRunOf = ({ folder, scenario, startedAt, url }: ViewedRun, title: string) => ({
  ...introduced(scenario, startedAt),
  ...{ id: folder.id, title, targetUrl: url },
});

/** A run in a cluster, as it is followed here. */
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
    return this.viewed.kept.all;
  }

  finish({ result, folder }: FinishedRun): void {
    this.folder = folder ?? this.folder;
    this.results.fire(result);
  }

  /** In order; at once the second time, and where the window closes. */
  stop(reason: StopReason): void {
    const { stopping, leaving } = this.ways;
    const isInOrder = reason === 'stopped' && !stopping.signal.aborted;
    const left = new ExpectedError('left', t('The run was left before its end.'));
    (isInOrder ? stopping : leaving).abort(left);
  }
}
