/** What goes to a cluster of a scenario that runs there. */
import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { bundleOf, newBusKeys } from '../machines/kubernetes/clusterRun';
import type { ClusterRun } from '../machines/kubernetes/manifest';
import { buildRunPlan } from '../plan/buildPlan';
import type { Plan } from '../plan/plan';
import { redactTarget } from '../results/redact';
import type { Override } from '../scenario/read/overrides';
import type { Scenario } from '../scenario/scenario';
import { referencesIn, resolveReferences } from '../scenario/target/references';
import { hostsOf, targetWords, withTexts } from '../scenario/target/targetKinds';
import { secretVariable, type RemoteLoad, type TargetContext } from '../targets/target';
import { asTextWords, readNamedFiles, secretFiles, secretInText } from './agentFiles';
import { refuseCalls } from './identityNotes';
import { refuseReplays } from './isReplay';

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
  return {
    ...{ run, agents, image, busImage, files, scenarioName: file },
    secretFiles: secretFiles(named, filled, scenario),
    plannedS: plannedS(plan),
    flags: coordinatorFlags(asked),
    bundle: await bundleOf(path.dirname(workerScript)),
    secrets: secretsOf(
      [text, ...overrides.map(({ value }) => value)],
      { context, ...(otherwise && { otherwise }) },
      secret !== undefined,
    ),
    ...(secret !== undefined && { ownSecret: secret }),
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
  return hostsOf(withTexts(target, (text) => resolveReferences(text, reference).text));
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

/** Hosts that get the load, as far as they are known here, and the target as it may be shown. */
export function loadOn(
  { target }: Scenario,
  context: ClusterParts['context'],
): Pick<RemoteLoad, 'hosts' | 'url'> {
  const url = targetWords(target && withTexts(target, redactTarget));
  const hosts = targetHosts(target, context);
  return { hosts: hosts.length > 0 ? hosts : [url], url };
}

const plannedS = ({ connections, arrivingRate, steps, search }: Plan): number =>
  steps.reduce(
    (sum, step) => sum + (step.warmupMs + step.measureMs + step.drainMs) / 1000,
    // The first step of a search is run whatever it takes.
    connections / Math.max(1, arrivingRate) + (search?.budgetMs ?? 0) / 1000,
  );
