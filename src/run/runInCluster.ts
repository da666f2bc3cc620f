import { inBackground, deferred } from '../base/async';
import type { Translate } from '../base/text';
import { ExpectedError } from '../base/expectedError';
import { pause } from '../engine/pause';
import type { Bus } from '../agents/bus/bus';
import {
  busOf,
  removeNamed,
  bundleOf,
  newBusKeys,
  RunInCluster,
  troublesOf,
} from '../agents/kubernetes/clusterRuns';
import { checkBeforeRun } from '../agents/kubernetes/examineCluster';
import { type ClusterWords, Kubectl } from '../agents/kubernetes/kubectl';
import type { ClusterRun } from '../agents/kubernetes/manifest';
import { subjectsOf } from '../agents/messages';
import { isOver } from '../agents/view/viewRun';
import type { StopReason } from '../engine/lead/run';
import {
  connectBus,
  asTextWords,
  readNamedFiles,
  secretFiles,
  secretInText,
  refuseCalls,
} from './agentFiles';
import type { FinishedRun } from './runSession';
import {
  viewSession,
  type ViewedRun,
  type ViewParts,
  type ViewRequest,
  type ViewShell,
} from './viewedRun';
import path from 'node:path';
import { buildRunPlan } from '../plan/buildPlan';
import type { Plan } from '../plan/plan';
import type { Override } from '../scenario/read/overrides';
import type { Scenario } from '../scenario/scenario';
import { referencesIn, resolveReferences, secretVariable } from '../scenario/target/references';
import { hostsOf, mapTargetTexts } from '../scenario/target/targetKinds';
import type { TargetContext } from '../targets/target';
import { refuseReplays } from './scenarioFile';

/** What goes to a cluster of a scenario that runs there. */

export interface ClusterWishes {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  /** Program to use; absent: the one on the path. */
  readonly kubectl?: string | undefined;
  readonly image: string;
  readonly busImage: string;
  /** The user's own Secret, whose keys become environment variables. */
  readonly secret?: string | undefined;
}

export interface ScenarioForCluster {
  readonly run: string;
  readonly scenario: Scenario;
  readonly title: string;
  readonly text: string;
  readonly overrides: readonly Override[];
  readonly keepGoing?: boolean;
  /** Time for agents to come, and silence after which one is lost; absent: as the coordinator has it. */
  readonly joinWithinMs?: number | undefined;
  readonly agentTimeoutMs?: number | undefined;
}

export interface ClusterParts {
  readonly context: Pick<TargetContext, 'reference' | 'readFile'>;
  readonly workerScript: string;
  readonly notRunnable: (scenario: Scenario) => string | undefined;
  /** Goes on after `set it` where a value is missing: the other ways to give it. */
  readonly otherwise?: (variable: string) => string;
}

/** @throws ExpectedError `cluster`, `bundle` for what keeps it from being run there */
export async function clusterRunOf(
  asked: ScenarioForCluster,
  { image, busImage, secret }: ClusterWishes,
  { context, workerScript, notRunnable, otherwise }: ClusterParts,
): Promise<ClusterRun> {
  const { run, scenario, title, text, overrides } = asked;
  const { agents = 1 } = scenario;
  refuseCalls(scenario);
  refuseReplays(scenario);
  const problem = notRunnable(scenario) ?? clusterProblem(scenario, text, overrides);
  if (problem !== undefined) throw new ExpectedError('cluster', problem);
  const file = path.basename(title);
  const files: Record<string, string> = { [file]: text };
  const plan = buildRunPlan(scenario, { workers: agents, agents, seed: scenario.seed, runId: 0 });
  const readPart = async (part: string, mostBytes?: number): Promise<string> => {
    if (path.isAbsolute(part) || part.split(/[\\/]/).includes('..'))
      throw new ExpectedError(
        'cluster',
        `${part} lies outside the folder of the scenario: only files below it go to a cluster.`,
      );
    return (files[part] = await context.readFile(part, mostBytes));
  };
  const filled = await readNamedFiles(scenario, plan, readPart, mostRowBytes);
  const named = Object.keys(files).slice(1);
  const texts = [text, ...overrides.map(({ value }) => value)];
  return {
    ...{ run, agents, image, busImage, files, scenarioName: file },
    secretFiles: secretFiles(named, filled, scenario),
    plannedS: plannedS(plan),
    flags: coordinatorFlags(asked),
    bundle: await bundleOf(path.dirname(workerScript)),
    secrets: secretsOf(texts, { context, otherwise }, secret !== undefined),
    environment: environmentOf(texts),
    ownSecret: secret,
    keys: newBusKeys(),
    ...{ connections: plan.connections, hosts: targetHosts(scenario.target, context) },
  };
}

const coordinatorFlags = ({
  overrides,
  keepGoing,
  joinWithinMs,
  agentTimeoutMs,
}: ScenarioForCluster): string[] => [
  ...overrides.flatMap((each) => ['--set', `${each.path}=${each.value}`]),
  ...(keepGoing === true ? ['--keep-going'] : []),
  ...(joinWithinMs === undefined ? [] : ['--join-within', `${joinWithinMs}ms`]),
  ...(agentTimeoutMs === undefined ? [] : ['--agent-timeout', `${agentTimeoutMs}ms`]),
];

/** Names of the machines that agents connect to. */
export function targetHosts(
  target: Scenario['target'],
  { reference }: Pick<TargetContext, 'reference'>,
): string[] {
  if (target === undefined) return [];
  return hostsOf(mapTargetTexts(target, (text) => resolveReferences(text, reference).text));
}

/** More fits into no cluster. */
const mostRowBytes = 1024 * 1024;

const inSecretWords = 'The value goes into a Secret of the run.';

function clusterProblem(
  scenario: Scenario,
  text: string,
  overrides: readonly Override[],
): string | undefined {
  if (scenario.target === undefined || scenario.target.kind === 'local')
    return 'The embedded hub is on this machine: name the URL of a hub that the cluster reaches as target.';
  return secretInText(text, overrides) ? `${asTextWords} ${inSecretWords}` : undefined;
}

/** Variables that agents let the run have. */
const environmentOf = (texts: readonly string[]): string[] => [
  ...new Set(
    texts
      .flatMap(referencesIn)
      .filter(({ kind }) => kind === 'env')
      .map(({ name }) => name),
  ),
];

/** Values of references, by the environment variables that hold them. @throws ExpectedError `cluster` for one without a value */
function secretsOf(
  texts: readonly string[],
  { context: { reference }, otherwise }: Pick<ClusterParts, 'context' | 'otherwise'>,
  hasOwn: boolean,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { kind, name } of texts.flatMap(referencesIn)) {
    const value = reference(kind, name);
    const variable = kind === 'env' ? name : secretVariable(name);
    if (value !== undefined) found[variable] = value;
    else if (!hasOwn)
      throw new ExpectedError(
        'missing-reference',
        `${missingWords(kind, name)}: set it${otherwise?.(variable) ?? ' here'}.`,
      );
  }
  return found;
}

const missingWords = (kind: 'env' | 'secret', name: string): string =>
  kind === 'env' ? `The environment has no ${name}` : `There is no secret ${name}`;

const plannedS = ({ connections, arrivingRate, steps, search }: Plan): number =>
  steps.reduce(
    (sum, step) => sum + (step.warmupMs + step.measureMs + step.drainMs) / 1000,
    // The first step of a search is run whatever it takes.
    connections / Math.max(1, arrivingRate) + (search?.budgetMs ?? 0) / 1000,
  );

export interface ClusterShell extends ViewShell {
  /** What goes on, or keeps pods from starting, until the run begins; in the language of `t`. */
  readonly progress: (text: string) => void;
  /** Aborted by who wants the run no more, with what is to be thrown. */
  readonly leaving: AbortSignal;
  /** Aborted by who wants it to end in order; as `leaving` before its coordinator is there. */
  readonly stopping?: AbortSignal;
  /** How the advice of its sentences is followed there. */
  readonly words: ClusterWords;
  /** What becomes the ending of the result then; absent: `interrupted`. */
  readonly stopReason?: StopReason;
}

const answerWithinMs = 2000;
const startWithinMs = 180_000;
const againMs = 1000;
const lookEveryMs = 2000;

/**
 * Runs a scenario in a cluster, shows it here, keeps its result here, and leaves nothing there.
 * @throws ExpectedError for what keeps it from starting, `run-failed`, `run-lost`; what `leaving` was aborted with
 */
export async function runInCluster(
  given: ClusterRun,
  wishes: ClusterWishes,
  request: ViewRequest,
  shell: ClusterShell,
  parts: ViewParts,
): Promise<FinishedRun> {
  const { leaving, stopping, t } = shell;
  const early = AbortSignal.any([leaving, ...(stopping ? [stopping] : [])]);
  const kubectl = new Kubectl({ ...wishes, program: wishes.kubectl, words: shell.words });
  shell.progress(t('Checking whether the run can start in the cluster.'));
  const looking = checkBeforeRun(kubectl, wishes.namespace, given);
  // Who leaves does not wait for a cluster that does not answer.
  for (const warning of await Promise.race([looking, rejecting(early)]))
    shell.say('warning', warning);
  shell.progress(t('Making the bus of the run in the cluster.'));
  const begun = new AbortController();
  const troubles = () => troublesOf(kubectl, given.run);
  inBackground(sayTroubles(troubles, AbortSignal.any([leaving, begun.signal]), shell.progress));
  try {
    const cluster = await RunInCluster.start(kubectl, given, rejecting(early)).catch(
      (error: unknown) => {
        const isLeft = error instanceof ExpectedError && error.code === 'cluster-left';
        if (!isLeft) shell.progress(leftNothing(given.run, t));
        throw error;
      },
    );
    let bus: Bus | undefined;
    try {
      bus = await connectBus({ ...cluster.bus, name: 'signalr-bench run' });
      shell.progress(t('Waiting for the coordinator of the run.'));
      const seen: ViewShell = {
        ...shell,
        begun: (run) => {
          begun.abort();
          shell.begun(run);
        },
      };
      const there = { ...seen, leaving, early, stopReason: shell.stopReason ?? 'interrupted' };
      return await whenThere(bus, given.run, request, there, parts);
    } catch (error) {
      // It has ended before it began: why pods are missing, the coordinator cannot know.
      if (!isOver(error) || begun.signal.aborted) throw error;
      const why = await troubles().catch(() => []);
      if (why.length === 0) throw error;
      throw new ExpectedError(error.code, [error.message, ...why].join(' '), { cause: error });
    } finally {
      await bus?.close();
      await removed(() => cluster.dispose(), given.run, shell);
    }
  } finally {
    begun.abort();
  }
}

/** A run that goes on in a cluster already. */
interface GoingRun {
  readonly run: string;
  /** Of its bus; absent: it is read from the Secret of the run, which needs the right to. */
  readonly key?: string | undefined;
  /** It was started from here, and is removed at its end; absent: it is left as it is. */
  readonly isOwn?: boolean;
}

/**
 * Shows a run of a cluster from its begin, whoever has started it, and keeps its result here.
 * @throws ExpectedError `run-missing`, `run-failed`, `run-lost`, `cluster-…`; what `leaving` was aborted with
 */
export async function attachInCluster(
  { run, key, isOwn = false }: GoingRun,
  wishes: Pick<ClusterWishes, 'context' | 'namespace' | 'kubectl'>,
  request: ViewRequest,
  shell: ClusterShell,
  parts: ViewParts,
): Promise<FinishedRun> {
  const { leaving, stopping, stopReason = 'interrupted', progress, t } = shell;
  const early = AbortSignal.any([leaving, ...(stopping ? [stopping] : [])]);
  const kubectl = new Kubectl({ ...wishes, program: wishes.kubectl, words: shell.words });
  progress(t('Looking for run {0} in the cluster.', run));
  const finding = busOf(kubectl, run, key);
  const found = await Promise.race([finding, rejecting(early)]).catch((error: unknown) => {
    finding.then(({ forwarding }) => forwarding.close()).catch(() => undefined);
    throw error;
  });
  let bus: Bus | undefined;
  // Who turns away before there is something to see leaves it as it is.
  let isDone = false;
  const begun = (viewed: ViewedRun): void => {
    isDone = true;
    shell.begun(viewed);
  };
  try {
    bus = await connectBus({ ...found.address, name: 'signalr-bench attach' });
    const there = { ...shell, begun, leaving, early, stopReason };
    return await whenThere(bus, run, request, there, parts);
  } catch (error) {
    isDone ||= isOver(error);
    throw error;
  } finally {
    await bus?.close();
    found.forwarding.close();
    if (isOwn && isDone) await removed(() => removeNamed(kubectl, run), run, shell);
  }
}

interface ThereShell extends ViewShell {
  readonly leaving: AbortSignal;
  /** Aborted also by who wants the run to end in order. */
  readonly early: AbortSignal;
  readonly stopReason: StopReason;
}

/** Its log is there as soon as the coordinator is. */
async function whenThere(
  bus: Bus,
  run: string,
  request: ViewRequest,
  shell: ThereShell,
  parts: ViewParts,
): Promise<FinishedRun> {
  const { leaving, early, stopReason } = shell;
  const ask = () => bus.ask(subjectsOf(run).stop, stopReason, answerWithinMs);
  const untilMs = performance.now() + startWithinMs;
  for (;;) {
    const ended = new AbortController();
    try {
      const until = AbortSignal.any([leaving, ended.signal]);
      inBackground(askToStop(ask, early, until));
      return await viewSession({ bus, run, left: rejecting(leaving) }, request, shell, parts);
    } catch (error) {
      // It ends without a result when it has not begun.
      if (isOver(error)) early.throwIfAborted();
      const isEarly = error instanceof ExpectedError && error.code === 'run-missing';
      if (!isEarly) throw error;
    } finally {
      ended.abort();
    }
    early.throwIfAborted();
    if (performance.now() > untilMs)
      throw new ExpectedError(
        'cluster-start',
        `The run did not begin within ${startWithinMs / 1000} s.`,
      );
    await pause(againMs, early);
  }
}

/** Asks the coordinator to end the run in order once it is wanted, until it has answered. */
async function askToStop(
  ask: () => Promise<string | undefined>,
  wanted: AbortSignal,
  over: AbortSignal,
): Promise<void> {
  await pause(Infinity, AbortSignal.any([wanted, over]));
  const hasEnded = (): boolean => over.aborted;
  while (!hasEnded()) {
    if ((await ask()) !== undefined) return;
    await pause(againMs, over);
  }
}

/** Says each trouble of a pod once, for as long as it lasts. */
async function sayTroubles(
  troublesNow: () => Promise<string[]>,
  until: AbortSignal,
  say: (text: string) => void,
): Promise<void> {
  const hasEnded = (): boolean => until.aborted;
  let said: readonly string[] = [];
  while (!hasEnded()) {
    const known = said;
    const troubles = await troublesNow().catch(() => known);
    if (hasEnded()) return;
    troubles.filter((each) => !known.includes(each)).forEach(say);
    said = troubles;
    await pause(lookEveryMs, until);
  }
}

const leftNothing = (run: string, t: Translate): string =>
  t('Run {0} has left nothing in the cluster.', run);

/** What is still there is no reason to lose the result. */
async function removed(
  remove: () => Promise<void>,
  run: string,
  { progress, say, t }: ClusterShell,
): Promise<void> {
  try {
    progress(t('Removing everything of the run from the cluster.'));
    await remove();
    progress(leftNothing(run, t));
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    say('warning', error.message);
  }
}

function rejecting(signal: AbortSignal): Promise<never> {
  const { promise, reject } = deferred<never>();
  const leave = (): void => reject(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return promise;
}
