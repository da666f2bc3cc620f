import { inBackground, deferred } from '../base/async';
import type { Translate } from '../base/text';
import { ExpectedError } from '../base/expectedError';
import { pause } from '../engine/pause';
import type { Bus } from '../agents/bus/bus';
import {
  forwardRunBus,
  removeRunById,
  compressScripts,
  newBusKeys,
  RunInCluster,
  runPodProblems,
} from '../agents/kubernetes/clusterRuns';
import { checkBeforeRun } from '../agents/kubernetes/examineCluster';
import { type ClusterWords, Kubectl } from '../agents/kubernetes/kubectl';
import type { ClusterRun } from '../agents/kubernetes/manifest';
import { runSubjects } from '../agents/messages';
import { isRunOver } from '../agents/view/viewRun';
import type { StopReason } from '../engine/lead/run';
import {
  connectBus,
  literalSecretMessage,
  readNamedFiles,
  secretFiles,
  hasLiteralSecret,
  refuseIdentityCalls,
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

export interface ClusterWishes {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  readonly kubectl?: string | undefined;
  readonly image: string;
  readonly busImage: string;
  readonly secret?: string | undefined;
}

export interface ScenarioForCluster {
  readonly run: string;
  readonly scenario: Scenario;
  readonly title: string;
  readonly text: string;
  readonly overrides: readonly Override[];
  readonly keepGoing?: boolean;
  /** Absent: the coordinator's defaults. */
  readonly joinWithinMs?: number | undefined;
  readonly agentTimeoutMs?: number | undefined;
}

export interface ClusterParts {
  readonly context: Pick<TargetContext, 'reference' | 'readFile'>;
  readonly workerScript: string;
  readonly notRunnable: (scenario: Scenario) => string | undefined;
  /** Continues `set it`: other ways to give a value. */
  readonly otherwise?: (variable: string) => string;
}

/** @throws ExpectedError `cluster`, `bundle` for what keeps it from being run there */
export async function prepareClusterRun(
  asked: ScenarioForCluster,
  { image, busImage, secret }: ClusterWishes,
  { context, workerScript, notRunnable, otherwise }: ClusterParts,
): Promise<ClusterRun> {
  const { run, scenario, title, text, overrides } = asked;
  const { agents = 1 } = scenario;
  refuseIdentityCalls(scenario);
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
    bundle: await compressScripts(path.dirname(workerScript)),
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

/** Hosts that agents connect to. */
export function targetHosts(
  target: Scenario['target'],
  { reference }: Pick<TargetContext, 'reference'>,
): string[] {
  if (target === undefined) return [];
  return hostsOf(mapTargetTexts(target, (text) => resolveReferences(text, reference).text));
}

const mostRowBytes = 1024 * 1024;

const inSecretWords = 'The value goes into a Secret of the run.';

function clusterProblem(
  scenario: Scenario,
  text: string,
  overrides: readonly Override[],
): string | undefined {
  if (scenario.target === undefined || scenario.target.kind === 'local')
    return 'The embedded hub is on this machine: name the URL of a hub that the cluster reaches as target.';
  return hasLiteralSecret(text, overrides) ? `${literalSecretMessage} ${inSecretWords}` : undefined;
}

const environmentOf = (texts: readonly string[]): string[] => [
  ...new Set(
    texts
      .flatMap(referencesIn)
      .filter(({ kind }) => kind === 'env')
      .map(({ name }) => name),
  ),
];

/** Values of references by environment variable. @throws ExpectedError `missing-reference` */
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
    connections / Math.max(1, arrivingRate) + (search?.budgetMs ?? 0) / 1000,
  );

export interface ClusterShell extends ViewShell {
  /** Progress, and troubles of pods, until the run begins. */
  readonly progress: (text: string) => void;
  /** Aborted to drop the run, with the error to throw. */
  readonly leaving: AbortSignal;
  /** Aborted for an orderly end; like `leaving` before the run begins. */
  readonly stopping?: AbortSignal;
  readonly words: ClusterWords;
  /** Ending of a stopped result; absent: `interrupted`. */
  readonly stopReason?: StopReason;
}

const answerWithinMs = 2000;
const startWithinMs = 180_000;
const againMs = 1000;
const lookEveryMs = 2000;

/**
 * Runs a scenario in a cluster, shows it and stores its result here, and leaves nothing there.
 * @throws ExpectedError for what keeps it from starting, `run-failed`, `run-lost`; the reason of `leaving`
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
  for (const warning of await Promise.race([looking, rejecting(early)]))
    shell.say('warning', warning);
  shell.progress(t('Making the bus of the run in the cluster.'));
  const begun = new AbortController();
  const troubles = () => runPodProblems(kubectl, given.run);
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
      // It ended before it began: the coordinator does not know why pods are missing.
      if (!isRunOver(error) || begun.signal.aborted) throw error;
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

interface GoingRun {
  readonly run: string;
  /** Key of its bus; absent: read from its Secret, which needs that right. */
  readonly key?: string | undefined;
  readonly isOwn?: boolean;
}

/**
 * Shows a run of a cluster from its start and stores its result here.
 * @throws ExpectedError `run-missing`, `run-failed`, `run-lost`, `cluster-…`; the reason of `leaving`
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
  const finding = forwardRunBus(kubectl, run, key);
  const found = await Promise.race([finding, rejecting(early)]).catch((error: unknown) => {
    finding.then(({ forwarding }) => forwarding.close()).catch(() => undefined);
    throw error;
  });
  let bus: Bus | undefined;
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
    isDone ||= isRunOver(error);
    throw error;
  } finally {
    await bus?.close();
    found.forwarding.close();
    if (isOwn && isDone) await removed(() => removeRunById(kubectl, run), run, shell);
  }
}

interface ThereShell extends ViewShell {
  readonly leaving: AbortSignal;
  readonly early: AbortSignal;
  readonly stopReason: StopReason;
}

/** Waits for the run's log, which comes with the coordinator. */
async function whenThere(
  bus: Bus,
  run: string,
  request: ViewRequest,
  shell: ThereShell,
  parts: ViewParts,
): Promise<FinishedRun> {
  const { leaving, early, stopReason } = shell;
  const ask = () => bus.ask(runSubjects(run).stop, stopReason, answerWithinMs);
  const untilMs = performance.now() + startWithinMs;
  for (;;) {
    const ended = new AbortController();
    try {
      const until = AbortSignal.any([leaving, ended.signal]);
      inBackground(askToStop(ask, early, until));
      return await viewSession({ bus, run, left: rejecting(leaving) }, request, shell, parts);
    } catch (error) {
      if (isRunOver(error)) early.throwIfAborted();
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

/** Once `wanted`, asks the coordinator for an orderly end until it answers. */
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

/** Reports each new trouble of a pod. */
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

/** Failing to remove does not lose the result. */
async function removed(
  remove: () => Promise<void>,
  run: string,
  { progress, say, t }: ClusterShell,
): Promise<void> {
  try {
    progress(t('Removing all objects of the run from the cluster.'));
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
