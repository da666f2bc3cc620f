import { ExpectedError } from '../../base/expectedError';
import { Crew } from '../../agents/coordinate/crew';
import { mostMessageBytes, newRunId, runSubjects } from '../../agents/messages';
import { RunPublisher } from '../../agents/view/viewRun';
import type { Bus } from '../../agents/bus/bus';
import type { StopReason } from '../../engine/lead/run';
import type { Scenario } from '../../scenario/scenario';
import type { Plan } from '../../plan/plan';
import {
  literalSecretMessage,
  openBusWarning,
  readNamedFiles,
  secretFiles,
  hasLiteralSecret,
} from '../../run/agentFiles';
import { agreeToRun, type RunParts } from '../../run/prepareRun';
import { refuseIdentityCalls } from '../../run/agentFiles';
import { refuseReplays } from '../../run/scenarioFile';
import type { RunRequest, Shell } from '../../run/shell';
import { SignalError, type EndingSignal } from '../exitCode';
import { nodeNameVariable } from './agentCommand';
import type { ProcessIo } from '../io';
import { printable } from '../views/line';
import { describeBus, openBus, type BusFlags } from '../openBus';

export interface OnFlags extends BusFlags {
  readonly on?: 'hosts' | 'kubernetes';
  readonly agents?: number;
  readonly run?: string;
  /** Time for agents to come, and silence after which one is lost. */
  readonly joinWithin?: number;
  readonly agentTimeout?: number;
  /** Show the run on the bus, and wait until a viewer has its result. */
  readonly publish?: boolean;
}

export interface AgentRun {
  readonly parts: Pick<
    RunParts,
    'agents' | 'machineLimits' | 'missingForRun' | 'buildPlan' | 'startRun'
  >;
  /** Records the files that the scenario names: agents get them. */
  readonly shell: Shell;
  readonly publisher: RunPublisher | undefined;
  failed(error: unknown): void;
  /** Waits until a viewer has seen the end, where it is published. */
  dispose(): Promise<void>;
}

interface AgentSignals {
  readonly stopped: (reason: StopReason) => void;
  readonly signal: () => EndingSignal | undefined;
  readonly next: () => Promise<EndingSignal>;
}

const seenWithinMs = 10_000;

interface AskedRun {
  readonly scenario: Scenario;
  readonly request: RunRequest;
  readonly deps: Pick<RunParts, 'buildPlan' | 'notRunnable'>;
}

/** Waits for the agents of a run. @throws ExpectedError `agents-missing`, and for the bus */
export async function gatherHosts(
  { scenario, request, deps }: AskedRun,
  flags: OnFlags,
  shell: Shell,
  io: ProcessIo,
  signals: AgentSignals,
): Promise<AgentRun> {
  const { agents = 1 } = scenario;
  const files: Record<string, string> = {};
  const readFile: Shell['context']['readFile'] = async (name, mostBytes) =>
    (files[name] = await shell.context.readFile(name, mostBytes));
  await readNamedFiles(scenario, planFor(scenario, request, deps), readFile, mostMessageBytes);
  await agreeToRun(scenario, shell);
  const bus = await openBus(flags, io, 'signalr-bench run', (text) => shell.say('warning', text));
  const run = flags.run ?? newRunId();
  const publisher = flags.publish === true ? new RunPublisher(bus, runSubjects(run)) : undefined;
  publisher?.onStop(signals.stopped);
  const seen = async (): Promise<EndingSignal | undefined> => {
    if (publisher === undefined) return undefined;
    io.stderr.write('The end is on the bus until somebody has seen it; Ctrl+C does not wait.\n');
    return waitUntilEndSeen(publisher, signals);
  };
  const failed = (error: unknown): void => publisher?.failed(whyNotBegun(error));
  try {
    const { calledOff } = shell;
    const wanted = { ...flags, run, agents, calledOff };
    const crew = await gather(bus, wanted, publisher, io, async (error) => {
      failed(error);
      await seen();
    });
    const { text, overrides } = request;
    const { hasKey, isHere } = describeBus(flags, io);
    const staysHere = isHere && (await crew.elsewhere()).length === 0;
    return {
      parts: {
        agents,
        machineLimits: crew.machineLimits,
        missingForRun: crew.missingForRun,
        buildPlan: crew.buildPlan,
        startRun: (plan, target, given) => {
          const secret = secretFiles(Object.keys(files), plan, scenario);
          const key = hasKey ? ['the key of the bus'] : [];
          const why = openBusWarning([...secret, ...key], bus, staysHere);
          // In a cluster nobody sees it; it was said at the start.
          if (why !== undefined && !isInCluster(io)) shell.say('warning', why);
          return crew.startRun(plan, target, given, { text, overrides, files });
        },
      },
      shell: { ...shell, isAgreed: true, context: { ...shell.context, readFile } },
      publisher,
      failed,
      dispose: async () => {
        // This machine goes away: late viewers find the end on the bus.
        await ((await seen()) === 'SIGTERM' ? crew.leave() : crew.dispose());
        await bus.close();
      },
    };
  } catch (error) {
    await bus.close();
    throw error;
  }
}

/** Checks that agents can run it before they come. @throws ExpectedError */
function planFor(
  scenario: Scenario,
  { text, overrides }: RunRequest,
  deps: Pick<RunParts, 'buildPlan' | 'notRunnable'>,
): Plan {
  const { agents = 1, seed } = scenario;
  if (hasLiteralSecret(text, overrides))
    throw new ExpectedError(
      'agents-secret',
      `${literalSecretMessage} Each agent reads it from its own environment.`,
    );
  refuseIdentityCalls(scenario);
  refuseReplays(scenario);
  const reason = deps.notRunnable(scenario);
  if (reason !== undefined) throw new ExpectedError('not-runnable', reason);
  return deps.buildPlan(scenario, { workers: agents, agents, seed, runId: 0 });
}

const isInCluster = ({ env }: Pick<ProcessIo, 'env'>): boolean =>
  env[nodeNameVariable] !== undefined;

/** Waits until a viewer has seen the end, after SIGTERM for 10 s. @returns the signal that ended it */
export async function waitUntilEndSeen(
  publisher: Pick<RunPublisher, 'seen'>,
  signals: Pick<AgentSignals, 'signal' | 'next'>,
): Promise<EndingSignal | undefined> {
  const hasToGo = signals.signal() === 'SIGTERM';
  const seen = async (): Promise<EndingSignal | undefined> => {
    if (!hasToGo) await publisher.seen();
    else if (!(await publisher.seen(seenWithinMs))) return 'SIGTERM';
    return undefined;
  };
  return Promise.race([seen(), signals.next()]);
}

/** `agents    2 of 3 (node-1, node-2)`. */
export function formatGatheredAgents(nodes: readonly string[], agents: number): string {
  const names = nodes.length === 0 ? '' : ` (${printable(nodes.join(', '))})`;
  return `agents    ${nodes.length} of ${agents}${names}`;
}

function whyNotBegun(error: unknown): string {
  if (error instanceof SignalError) return 'The run was stopped before it began.';
  return error instanceof ExpectedError ? error.message : String(error);
}

type Wanted = OnFlags & Pick<Shell, 'calledOff'> & { readonly agents: number };

async function gather(
  bus: Bus,
  { run, agents, joinWithin, agentTimeout, calledOff }: Wanted,
  publisher: RunPublisher | undefined,
  io: ProcessIo,
  failed: (error: unknown) => Promise<void>,
): Promise<Crew> {
  const { stderr } = io;
  let said = -1;
  return Crew.gather(bus, {
    ...{ agents, run, calledOff, failed, isInCluster: isInCluster(io) },
    joinWithinMs: joinWithin,
    lossMs: agentTimeout,
    renewed: () => publisher?.renewed(),
    opened: (id) =>
      stderr.write(
        `run ${id} waits for ${agents === 1 ? '1 agent' : `${agents} agents`} on the bus\n`,
      ),
    joined: (members) => {
      if (members.length === said) return;
      said = members.length;
      const nodes = members.map(({ node, host }) => node ?? host);
      publisher?.gathered(nodes, agents);
      stderr.write(`${formatGatheredAgents(nodes, agents)}\n`);
    },
  });
}
