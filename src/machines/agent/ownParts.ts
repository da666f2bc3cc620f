import { ExpectedError } from '../../base/expectedError';
import { buildRunPlan } from '../../plan/buildPlan';
import type { Override } from '../../scenario/read/overrides';
import { machineLimits } from '../../runner/lead/machineLimits';
import { endpointOfRun, startThreads } from '../../runner/lead/startRun';
import { withPayloadFile } from '../../runner/prepare/payloadFiles';
import type { Scenario } from '../../scenario/scenario';
import type { OpenTarget, TargetContext } from '../../targets/target';
import { dialectOf, type RunOrder } from '../messages';
import type { AgentParts } from './agent';

/** What a shell gives to an agent: its own parser, targets and scripts. */
interface AgentShell {
  /** @throws ExpectedError when the scenario has errors */
  readonly parse: (text: string, overrides: readonly Override[]) => Promise<Scenario>;
  readonly openTarget: (scenario: Scenario, context: TargetContext) => Promise<OpenTarget>;
  readonly reference: TargetContext['reference'];
  readonly workerScript: string;
  readonly serverScript: string;
}

/** An agent with worker threads of its own. */
export function ownParts(shell: AgentShell): AgentParts {
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
      return { ...filled, dialect: dialectOf(order.dialect) };
    },
    openTarget: (scenario, order) => {
      // A scenario from the bus runs no command here, and asks nobody with secrets of this machine.
      if (scenario.identities?.kind === 'command' || scenario.identities?.kind === 'url')
        throw new ExpectedError('identities', 'agents ask nobody for identities');
      const { reference, serverScript } = shell;
      return shell.openTarget(scenario, { reference, serverScript, readFile: readFile(order) });
    },
    startWorkers: ({ plan, target, agent, originUs }, listener) => {
      const where = { endpoint: endpointOfRun(plan, target), originUs };
      return startThreads(plan, where, shell.workerScript, agent)(listener);
    },
  };
}

const overridesOf = ({ overrides, startedHub }: RunOrder): Override[] =>
  startedHub === undefined
    ? [...overrides]
    : [...overrides, { path: 'config.target', value: startedHub }];
