import { createAgentParts } from '../../agents/agent/ownParts';
import { serveRun, type AgentEnding } from '../../agents/agent/agent';
import { pause } from '../../engine/pause';
import { redactText } from '../../results/redact';
import { readScenario, type ScenarioParser } from '../../run/scenarioFile';
import type { RunParts } from '../../run/prepareRun';
import { exitCode } from '../exitCode';
import type { ProcessIo } from '../io';
import { openBus, type BusFlags } from '../openBus';
import { printable } from '../views/line';

interface AgentFlags extends BusFlags {
  readonly run?: string;
  readonly aloneAfter?: number;
  readonly env?: readonly string[];
  readonly allowTarget?: readonly string[];
}

interface AgentDeps extends Pick<RunParts, 'openTarget' | 'workerScript'> {
  readonly parseScenario: ScenarioParser;
  readonly serverScript: string;
}

/** Anybody who may write to the bus could send refused runs without pause. */
const refusedMs = 2000;

export const nodeNameVariable = 'SIGNALR_BENCH_NODE';

const codes: Readonly<Record<AgentEnding['kind'], number>> = {
  done: exitCode.done,
  // A failure would start another agent in its place.
  fenced: exitCode.done,
  left: exitCode.done,
  refused: exitCode.badInput,
  failed: exitCode.defect,
  alone: exitCode.defect,
};

/** Works for one named run, or for one after the other until stopped. */
export async function agentCommand(
  flags: AgentFlags,
  io: ProcessIo,
  deps: AgentDeps,
): Promise<number> {
  const { env, stderr } = io;
  const say = (text: string): void => {
    stderr.write(`${printable(redactText(text))}\n`);
  };
  const leaving = new AbortController();
  const subscription = io.onSignal((signal) => leaving.abort(`it got ${signal}`));
  const bus = await openBus(flags, io, 'signalr-bench agent', say);
  const parts = createAgentParts({
    parse: (text, overrides) =>
      readScenario({ title: 'the scenario', text, overrides }, deps.parseScenario),
    openTarget: deps.openTarget,
    environment: (name) => env[name],
    limits: { env: flags.env ?? [], targets: flags.allowTarget ?? [] },
    bus,
    workerScript: deps.workerScript,
    serverScript: deps.serverScript,
  });
  if (!bus.requiresKey)
    say(
      'warning: The bus has no users: whoever reaches it gives orders to this agent, which gives runs no value of its environment. docs/machines.md says how to give it users.',
    );
  const node = env[nodeNameVariable];
  let refused = '';
  try {
    for (;;) {
      const { run, aloneAfter } = flags;
      const leave = leaving.signal;
      const options = { run, node, say, leave, silenceMs: aloneAfter };
      const ending = await serveRun(bus, parts, options);
      const words = endingWords(ending);
      // A refused run may be offered again until its agents are there.
      if (words !== refused) say(words);
      if (run !== undefined || ending.kind === 'left') return codes[ending.kind];
      refused = ending.kind === 'refused' ? words : '';
      if (ending.kind === 'refused') await pause(refusedMs, leave);
    }
  } finally {
    subscription.dispose();
    await bus.close();
  }
}

function endingWords({ kind, text }: AgentEnding): string {
  const words: Readonly<Record<AgentEnding['kind'], string>> = {
    done: 'the run is over',
    fenced: 'every place of the run is taken',
    refused: 'this agent cannot take part',
    failed: 'this agent could not go on',
    alone: 'this agent has stopped by itself',
    left: 'left the run',
  };
  return text ? `${words[kind]}: ${text}` : words[kind];
}
