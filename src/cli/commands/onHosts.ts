import { ExpectedError } from '../../base/expectedError';
import { Crew } from '../../machines/coordinate/onAgents';
import { subjectsOf } from '../../machines/messages';
import { newRunId } from '../../machines/newRunId';
import { RunPublisher } from '../../machines/view/publishRun';
import type { Bus } from '../../machines/bus/bus';
import type { Scenario } from '../../scenario/scenario';
import type { RunParts } from '../../session/prepareRun';
import { asTextWords, secretInText } from '../../session/secretInText';
import type { RunRequest, Shell } from '../../session/shell';
import type { ProcessIo } from '../io';
import { printable } from '../views/line';
import { openBus, type BusFlags } from '../openBus';

/** Where the agents of a run are. */
export const agentPlaces = ['hosts', 'kubernetes'] as const;

export interface OnFlags extends BusFlags {
  readonly on?: (typeof agentPlaces)[number];
  readonly agents?: number;
  /** Id of the run on the bus. */
  readonly run?: string;
  /** Milliseconds for agents to come, and of silence after which one is lost. */
  readonly joinWithin?: number;
  readonly agentTimeout?: number;
  /** Show the run on the bus, for `attach`, and wait until its result was seen. */
  readonly publish?: boolean;
}

export interface AgentRun {
  /** Take the place of those that run on this machine. */
  readonly parts: Pick<
    RunParts,
    'agents' | 'machineLimits' | 'missingForRun' | 'buildPlan' | 'startRun'
  >;
  /** Notes the files that the scenario names: agents get them. */
  readonly shell: Shell;
  readonly publisher: RunPublisher | undefined;
  dispose(): Promise<void>;
}

/** Waits for the agents of a run. @throws ExpectedError `agents-missing`, `agents-search`, and for the bus */
export async function gatherHosts(
  flags: OnFlags,
  scenario: Scenario,
  request: RunRequest,
  shell: Shell,
  io: ProcessIo,
): Promise<AgentRun> {
  const { agents = 1 } = scenario;
  if (scenario.search !== undefined)
    throw new ExpectedError(
      'agents-search',
      'A search runs on one machine for now: leave --on out, or run its steps with --no-search.',
    );
  if (secretInText(request.text, request.overrides))
    throw new ExpectedError(
      'agents-secret',
      `${asTextWords} Each agent reads it from its own environment.`,
    );
  const bus = await openBus(flags, io, 'signalr-bench run');
  const run = flags.run ?? newRunId();
  const publisher = flags.publish === true ? new RunPublisher(bus, subjectsOf(run)) : undefined;
  try {
    const crew = await gather(bus, { ...flags, run }, agents, publisher, shell, io);
    const files: Record<string, string> = {};
    const { text, overrides } = request;
    return {
      parts: {
        agents,
        machineLimits: crew.machineLimits,
        missingForRun: crew.missingForRun,
        buildPlan: crew.buildPlan,
        startRun: (plan, target, given) =>
          crew.startRun(plan, target, given, { text, overrides, files }),
      },
      shell: {
        ...shell,
        context: {
          ...shell.context,
          readFile: async (name) => (files[name] = await shell.context.readFile(name)),
        },
      },
      publisher,
      dispose: async () => {
        await publisher?.seen();
        await crew.dispose();
        await bus.close();
      },
    };
  } catch (error) {
    await bus.close();
    throw error;
  }
}

/** `agents    2 of 3 (node-1, node-2)`. */
export function gatheredLine(nodes: readonly string[], agents: number): string {
  const names = nodes.length === 0 ? '' : ` (${printable(nodes.join(', '))})`;
  return `agents    ${nodes.length} of ${agents}${names}`;
}

async function gather(
  bus: Bus,
  { run, joinWithin, agentTimeout }: OnFlags,
  agents: number,
  publisher: RunPublisher | undefined,
  { calledOff }: Shell,
  { stderr }: ProcessIo,
): Promise<Crew> {
  let said = -1;
  return Crew.gather(bus, {
    agents,
    ...(run !== undefined && { run }),
    ...(joinWithin !== undefined && { joinWithinMs: joinWithin }),
    ...(agentTimeout !== undefined && { lossMs: agentTimeout }),
    ...(calledOff && { calledOff }),
    ...(publisher && {
      renewed: () => publisher.renewed(),
      failed: (error) => {
        publisher.failed(error instanceof ExpectedError ? error.message : String(error));
        return publisher.seen();
      },
    }),
    opened: (id) => stderr.write(`run ${id} waits for ${agents} agents on the bus\n`),
    joined: (members) => {
      if (members.length === said) return;
      said = members.length;
      const nodes = members.map(({ node, host }) => node ?? host);
      publisher?.gathered(nodes, agents);
      stderr.write(`${gatheredLine(nodes, agents)}\n`);
    },
  });
}
