import { ExpectedError } from '../../base/expectedError';
import { hideSecrets } from '../../base/secrets';
import { buildRunPlan } from '../../plan/buildPlan';
import type { Override } from '../../scenario/read/overrides';
import { machineLimits } from '../../engine/lead/machineLimits';
import { endpointOfRun, startThreads } from '../../engine/lead/startRun';
import { withPayloadFile } from '../../engine/prepare/payloadFiles';
import type { Scenario } from '../../scenario/scenario';
import { joinWords } from '../../scenario/text/words';
import { secretForms } from '../../targets/identities/rowSecrets';
import { secretPrefix, secretVariable } from '../../scenario/target/references';
import type { OpenTarget, TargetContext } from '../../targets/target';
import type { Bus } from '../bus/bus';
import { parseDialect, type RunOrder } from '../messages';
import type { AgentParts } from './agent';

interface AgentShell {
  readonly parse: (text: string, overrides: readonly Override[]) => Promise<Scenario>;
  readonly openTarget: (scenario: Scenario, context: TargetContext) => Promise<OpenTarget>;
  readonly environment: (name: string) => string | undefined;
  readonly limits: AgentLimits;
  readonly bus: Pick<Bus, 'requiresKey'>;
  readonly workerScript: string;
  readonly serverScript: string;
}

/** What an agent lets runs have: whoever can write to the bus sends it scenarios. */
interface AgentLimits {
  readonly env: readonly string[];
  /** Hosts beyond this machine that may get load; empty: any. */
  readonly targets: readonly string[];
}

export function createAgentParts(shell: AgentShell): AgentParts {
  const readFile =
    ({ files }: RunOrder) =>
    (name: string): Promise<string> => {
      const text = Object.hasOwn(files, name) ? files[name] : undefined;
      if (text !== undefined) return Promise.resolve(text);
      throw new ExpectedError('payload-file', `${name} did not come with the run`);
    };
  return {
    machineLimits,
    scenarioOf: (order) => shell.parse(order.text, overridesOf(order)),
    planOf: async (scenario, order, agents) => {
      const { workersEach, seed, runId } = order;
      const plan = buildRunPlan(scenario, { workers: workersEach * agents, agents, seed, runId });
      const filled = await withPayloadFile(plan, readFile(order));
      return { ...filled, dialect: parseDialect(order.dialect) };
    },
    openTarget: (scenario, order) => {
      // A scenario from the bus runs no command here, and asks nobody with secrets of this machine.
      if (scenario.identities?.kind === 'command' || scenario.identities?.kind === 'url')
        throw new ExpectedError('identities', 'agents ask nobody for identities');
      return openWithin(shell, scenario, readFile(order));
    },
    startWorkers: ({ plan, target, agent, originUs }, listener) => {
      const where = { endpoint: endpointOfRun(plan, target), originUs };
      return startThreads(plan, where, shell.workerScript, agent)(listener);
    },
  };
}

const mostNames = 5;

function refusal(names: readonly string[], requiresKey: boolean): ExpectedError {
  const shown = names.slice(0, mostNames);
  const flags = shown.map((name) => `--env ${name}`).join(' ');
  return new ExpectedError(
    'agent-environment',
    requiresKey
      ? `the run refers to ${joinWords(shown)}, which this agent gives to no run: start it with ${flags}, or use names that begin with ${secretPrefix}`
      : `the run refers to ${joinWords(shown)}, and ${openBus}`,
  );
}

const openBus =
  'the bus has no users: whoever reaches it could take what this agent knows. Give the bus users or a token, as docs/machines.md says';

/**
 * Opens a target with only the values that runs may have; no message holds one.
 * @throws ExpectedError `agent-environment`, and as a target does
 */
async function openWithin(
  { openTarget, environment, serverScript, limits, bus }: AgentShell,
  scenario: Scenario,
  readFile: TargetContext['readFile'],
): Promise<OpenTarget> {
  const { requiresKey } = bus;
  const refused = new Set<string>();
  const secrets: string[] = [];
  const reference: TargetContext['reference'] = (kind, name) => {
    const variable = kind === 'env' ? name : secretVariable(name);
    const isSecret = variable.startsWith(secretPrefix);
    if (!requiresKey || !(isSecret || limits.env.includes(variable))) {
      refused.add(variable);
      return undefined;
    }
    const value = environment(variable);
    if (isSecret && value !== undefined) secrets.push(...secretForms([value]));
    return value;
  };
  let opened: OpenTarget | undefined;
  let problem: unknown;
  try {
    opened = await openTarget(scenario, {
      ...{ reference, setting: environment, serverScript, readFile },
      ...(limits.targets.length > 0 && { allowedHosts: limits.targets }),
      ...(!requiresKey && { noSignIn: `the run signs in as this agent, and ${openBus}` }),
    });
  } catch (error) {
    problem = error;
  }
  if (refused.size > 0) {
    await opened?.dispose();
    throw refusal([...refused], requiresKey);
  }
  if (opened === undefined) {
    if (!(problem instanceof ExpectedError)) throw problem;
    const text = hideSecrets(problem.message, secrets);
    throw new ExpectedError(problem.code, text, { cause: problem });
  }
  // The same list: a sign-in adds to it.
  (opened.secrets as string[]).push(...secrets);
  return opened;
}

const overridesOf = ({ overrides, startedHub }: RunOrder): Override[] =>
  startedHub === undefined
    ? [...overrides]
    : [...overrides, { path: 'config.target', value: startedHub }];
