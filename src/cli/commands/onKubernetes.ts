import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import type { Bus } from '../../machines/bus/bus';
import {
  bundleOf,
  checkRights,
  newBusKeys,
  RunInCluster,
} from '../../machines/kubernetes/clusterRun';
import { Kubectl } from '../../machines/kubernetes/kubectl';
import type { ClusterRun } from '../../machines/kubernetes/manifest';
import { newRunId } from '../../machines/coordinate/onAgents';
import { buildPlan } from '../../plan/buildPlan';
import type { Plan } from '../../plan/plan';
import { withPayloadFile } from '../../runner/prepare/payloadFiles';
import type { Scenario } from '../../scenario/scenario';
import type { Override } from '../../scenario/read/overrides';
import { referencesIn } from '../../scenario/target/references';
import { readScenarioFile, type ScenarioParser } from '../../session/scenarioFile';
import { secretVariable } from '../../targets/target';
import { SignalError } from '../exitCode';
import { referenceValue, type ProcessIo } from '../io';
import { connectBus } from '../openBus';
import { asTextWords, secretInText } from '../secretInText';
import { printable } from '../views/line';
import { showRun } from './attachCommand';
import { confirmLoad } from './confirmLoad';

export interface ClusterFlags {
  readonly namespace?: string;
  readonly context?: string;
  /** Node image, and that of the bus. */
  readonly image: string;
  readonly busImage: string;
  /** The user's own Secret, whose keys become environment variables. */
  readonly secret?: string;
  readonly kubectl?: string;
  readonly run?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly keepGoing?: boolean;
  readonly yes?: boolean;
}

export interface ClusterDeps {
  readonly parseScenario: ScenarioParser;
  readonly workerScript: string;
  readonly notRunnable: (scenario: Scenario) => string | undefined;
}

interface Read {
  readonly scenario: Scenario;
  readonly name: string;
  readonly text: string;
}

const startWithinMs = 180_000;
const againMs = 1000;

/** Runs a scenario in a cluster, shows it here, and leaves nothing there; the exit code is that of the run. */
export async function runOnKubernetes(
  read: Read,
  overrides: readonly Override[],
  flags: ClusterFlags,
  io: ProcessIo,
  deps: ClusterDeps,
): Promise<number> {
  const { stderr, env } = io;
  const given = await clusterRunOf(read, overrides, flags, env, deps);
  const kubectl = new Kubectl({ ...flags, program: flags.kubectl });
  const where = `${given.agents} agents in ${flags.namespace ?? 'the current namespace'} of ${flags.context ?? 'the current context'}`;
  if (flags.yes !== true) {
    const beyond = { hosts: [where], url: where, redirected: false };
    if (!(await confirmLoad(beyond, read.scenario, io)))
      throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
  }
  await checkRights(kubectl);
  const say = (text: string): void => {
    stderr.write(`${printable(text)}\n`);
  };
  say(`run ${given.run} begins with ${where}`);
  const signals = untilSignal(io);
  let isLeft = false;
  try {
    const cluster = await RunInCluster.start(kubectl, given, signals.came);
    let bus: Bus | undefined;
    try {
      bus = await connectBus({ ...cluster.bus, name: 'signalr-bench run' });
      return await shown(bus, cluster, given.run, flags, io, deps);
    } finally {
      await bus?.close();
      await cluster.dispose();
    }
  } catch (error) {
    isLeft = error instanceof ExpectedError && error.code === 'cluster-left';
    throw error;
  } finally {
    signals.dispose();
    if (!isLeft) say(`run ${given.run} has left nothing in the cluster`);
  }
}

/** From now on no signal ends the process; the first one rejects what is to be raced with. */
function untilSignal({ onSignal }: Pick<ProcessIo, 'onSignal'>) {
  let reject: (error: SignalError) => void = () => undefined;
  const came = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  // Nobody may be waiting when it comes.
  came.catch(() => undefined);
  const subscription = onSignal((signal) => reject(new SignalError(signal)));
  return { came, dispose: () => subscription.dispose() };
}

/** Its log is there as soon as the coordinator is. */
async function shown(
  bus: Bus,
  cluster: RunInCluster,
  run: string,
  flags: ClusterFlags,
  io: ProcessIo,
  deps: ClusterDeps,
): Promise<number> {
  const untilMs = performance.now() + startWithinMs;
  const out = flags.out ?? '.signalr-bench';
  let interrupted: SignalError | undefined;
  const subscription = io.onSignal((signal) => (interrupted = new SignalError(signal)));
  let said = '';
  try {
    for (;;) {
      try {
        return await showRun(bus, run, { out, json: flags.json === true }, io, deps);
      } catch (error) {
        const isEarly = error instanceof ExpectedError && error.code === 'run-missing';
        if (!isEarly) throw error;
      }
      const trouble = (await cluster.trouble()).join(' ');
      if (trouble !== said && trouble !== '') io.stderr.write(`${printable(trouble)}\n`);
      said = trouble;
      if (interrupted !== undefined) throw interrupted;
      if (performance.now() > untilMs)
        throw new ExpectedError(
          'cluster-start',
          `The run did not begin within ${startWithinMs / 1000} s. ${trouble}`,
        );
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  } finally {
    subscription.dispose();
  }
}

/** @throws ExpectedError for what keeps it from being run there */
async function clusterRunOf(
  { scenario, name, text }: Read,
  overrides: readonly Override[],
  flags: ClusterFlags,
  env: ProcessIo['env'],
  { workerScript, notRunnable }: ClusterDeps,
): Promise<ClusterRun> {
  const { agents = 1 } = scenario;
  const problem = notRunnable(scenario) ?? clusterProblem(scenario, text, overrides);
  if (problem !== undefined) throw new ExpectedError('cluster', problem);
  const file = path.basename(name);
  const files: Record<string, string> = { [file]: text };
  const plan = buildPlan(scenario, { workers: agents, agents, seed: scenario.seed, runId: 0 });
  await withPayloadFile(plan, async (part) => {
    if (path.isAbsolute(part) || part.split(/[\\/]/).includes('..'))
      throw new ExpectedError(
        'cluster',
        `${part} lies outside the folder of the scenario: only files below it go to a cluster.`,
      );
    return (files[part] = await readScenarioFile(path.resolve(path.dirname(name), part)));
  });
  const { image, busImage, secret } = flags;
  return {
    ...{ run: flags.run ?? newRunId(), agents, image, busImage, files, scenarioName: file },
    plannedS: plannedS(plan),
    flags: [
      ...overrides.flatMap((each) => ['--set', `${each.path}=${each.value}`]),
      ...(flags.keepGoing === true ? ['--keep-going'] : []),
    ],
    bundle: await bundleOf(path.dirname(workerScript)),
    secrets: secretsOf([text, ...overrides.map(({ value }) => value)], env, secret !== undefined),
    ...(secret !== undefined && { ownSecret: secret }),
    keys: newBusKeys(),
  };
}

const inSecretWords = 'The value goes into a Secret of the run.';

function clusterProblem(
  scenario: Scenario,
  text: string,
  overrides: readonly Override[],
): string | undefined {
  if (scenario.search !== undefined)
    return 'A search runs on one machine for now: leave --on out, or run its steps with --no-search.';
  if (scenario.target === undefined || scenario.target.kind === 'local')
    return 'The embedded hub is on this machine: give the URL of a hub that the cluster reaches with --target.';
  return secretInText(text, overrides) ? `${asTextWords} ${inSecretWords}` : undefined;
}

/** Values of references, by the environment variables that hold them. @throws ExpectedError `cluster` for one without a value */
function secretsOf(
  texts: readonly string[],
  env: ProcessIo['env'],
  hasOwn: boolean,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { kind, name } of texts.flatMap(referencesIn)) {
    const value = referenceValue(env, kind, name);
    const variable = kind === 'env' ? name : secretVariable(name);
    if (value !== undefined) found[variable] = value;
    else if (!hasOwn)
      throw new ExpectedError(
        'cluster',
        `The environment has no ${variable}: set it, or name a Secret of the cluster that has it with --secret.`,
      );
  }
  return found;
}

const plannedS = ({ connections, arrivingRate, steps }: Plan): number =>
  steps.reduce(
    (sum, step) => sum + (step.warmupMs + step.measureMs + step.drainMs) / 1000,
    connections / Math.max(1, arrivingRate),
  );
