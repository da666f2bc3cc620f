import { ExpectedError } from '../../base/expectedError';
import { listRuns, type ClusterRunStatus } from '../../agents/kubernetes/clusterRuns';
import { ClusterView } from '../../agents/kubernetes/clusterView';
import {
  type ClusterWords,
  type KubectlContexts,
  readContexts,
  isNamespaceName,
  isSecretName,
  Kubectl,
} from '../../agents/kubernetes/kubectl';
import type { Override } from '../../scenario/read/overrides';
import { referencesIn } from '../../scenario/target/references';
import { askPick, askText, type Place, back, askInOrder } from '../askInSteps';
import type { ClusterPlace } from '../editorState';
import { t } from '../log';
import { setting, type Services } from '../services';
import { overrideProblem, validScenario } from './runTexts';

interface ClusterChoice {
  readonly cluster: ClusterPlace;
  readonly overrides: readonly Override[];
}

const usualAgents = 3;
const mostAgents = 1000;

/** The editor asks again for each run, so sentences need not say where to set a name. */
export const editorWords: ClusterWords = {
  ...{ namespace: '', context: '', runs: '' },
  images: ': see the settings signalrBenchmark.kubernetesImage and kubernetesBusImage',
};

const kubectlOf = (place: Partial<ClusterPlace> = {}): Kubectl =>
  new Kubectl({ ...place, program: setting('kubectl') || undefined, words: editorWords });

/**
 * Asks for context, namespace, agents and, for references, a Secret; undefined when cancelled. @throws
 * ExpectedError `kubectl-missing` and others of kubectl
 */
export async function askCluster(
  text: string,
  { state }: Services,
): Promise<ClusterChoice | undefined> {
  const title = t('Run on Kubernetes');
  const prompt = t('Everything of the run is made in this namespace, and removed at its end.');
  const askPlace = await placeQuestions(state, title, prompt);
  const inFile = validScenario(text)?.agents;
  const names = [...new Set(referencesIn(text).map(({ name }) => name))];
  const steps = names.length === 0 ? 3 : 4;
  const answers = await askInOrder<string>(steps, async (at, before, earlier) => {
    const place = { step: at + 1, totalSteps: steps };
    if (at < 2) return askPlace(before, earlier, place);
    if (at === 2) {
      const value = earlier ?? String(inFile ?? usualAgents);
      return askText({ title: t('{0}: agents', title), value, ...agentsAsked(text) }, place);
    }
    return askText(
      {
        title: t('{0}: Secret with {1}', title, names.join(', ')),
        prompt: t(
          'A Secret of yours in the namespace, whose keys the pods get as environment variables. Empty: values from here, in a Secret of the run.',
        ),
        value: earlier ?? lastIn(state, before[0])?.secret ?? '',
        check: (typed) =>
          typed === '' || isSecretName(typed)
            ? undefined
            : t('Write lower-case letters, digits, hyphens and dots.'),
      },
      place,
    );
  });
  if (answers === undefined) return undefined;
  const [context = '', namespace = '', agents = '', secret = ''] = answers;
  const cluster = { context, namespace, ...(secret !== '' && { secret }) };
  await state.store('clusterPlaces', [cluster]);
  const isAsInFile = agents === String(inFile ?? 1);
  return {
    cluster,
    overrides: isAsInFile ? [] : [{ path: 'config.agents', value: agents }],
  };
}

/** Asks for context, namespace and a running run; undefined when cancelled. @throws ExpectedError of kubectl */
export async function askRun({
  state,
}: Services): Promise<{ readonly run: string; readonly cluster: ClusterPlace } | undefined> {
  const title = t('Attach to Kubernetes Run');
  const askPlace = await placeQuestions(
    state,
    title,
    t('All runs in this namespace are listed, whoever started them.'),
  );
  const answers = await askInOrder<string>(3, async (at, before, earlier) => {
    const place = { step: at + 1, totalSteps: 3 };
    const [context = '', namespace = ''] = before;
    if (at < 2) return askPlace(before, earlier, place);
    const runs = await listRuns(kubectlOf({ context, namespace }));
    if (runs.length === 0)
      throw new ExpectedError('run-missing', t('There is no run in namespace {0}.', namespace));
    const answer = await askPick(t('{0}: run', title), runs.map(runItem).reverse(), place);
    return answer === undefined || answer === back ? answer : answer.label;
  });
  if (answers === undefined) return undefined;
  const [context = '', namespace = '', run = ''] = answers;
  return { run, cluster: { context, namespace } };
}

function runItem({ run, since, pods }: ClusterRunStatus) {
  const agents = pods.filter(({ name }) => name.startsWith('agent ')).length;
  const trouble = pods.find((pod) => pod.trouble !== undefined)?.trouble;
  return {
    label: run,
    description: [
      agents === 1 ? t('1 agent') : t('{0} agents', agents),
      ...(since === undefined ? [] : [new Date(since).toLocaleString()]),
    ].join(' · '),
    detail: trouble,
  };
}

async function knownContexts(): Promise<KubectlContexts> {
  const contexts = await readContexts(kubectlOf());
  if (contexts.names.length > 0) return contexts;
  throw new ExpectedError(
    'kubectl-context',
    t('kubectl has no cluster configured: on AKS, az aks get-credentials adds one.'),
  );
}

const lastIn = (state: Services['state'], context: string | undefined): ClusterPlace | undefined =>
  state.list('clusterPlaces').find((place) => place.context === context);

const namespaceOf = async (context: string): Promise<string> =>
  (await new ClusterView(kubectlOf({ context })).place()).namespace;

/** Asks for the context, then the namespace; by default that of the context. */
async function placeQuestions(state: Services['state'], title: string, prompt: string) {
  const { names, current } = await knownContexts();
  return async (before: readonly string[], earlier: string | undefined, place: Place) => {
    const [context] = before;
    if (context !== undefined)
      return askText(
        {
          title: t('{0}: namespace', title),
          prompt,
          value:
            earlier ??
            lastIn(state, context)?.namespace ??
            (await namespaceOf(context).catch(() => '')),
          check: (typed) =>
            isNamespaceName(typed) ? undefined : t('Write lower-case letters, digits and hyphens.'),
        },
        place,
      );
    const chosen = earlier ?? state.list('clusterPlaces')[0]?.context;
    const first = chosen !== undefined && names.includes(chosen) ? chosen : current;
    const items = [...names]
      .sort((a, b) => Number(b === first) - Number(a === first))
      .map((label) => ({
        label,
        description: label === current ? t('current context') : undefined,
      }));
    const answer = await askPick(t('{0}: context', title), items, place);
    return answer === undefined || answer === back ? answer : answer.label;
  };
}

const agentsAsked = (text: string) => ({
  prompt: t('Processes that share the load, one per node as far as there are nodes.'),
  check: (typed: string): string | undefined =>
    /^\d{1,4}$/.test(typed) && Number(typed) >= 1 && Number(typed) <= mostAgents
      ? overrideProblem(text, [], { path: 'config.agents', value: typed }, t)
      : t('Write a whole number from 1 to {0}.', mostAgents),
});
