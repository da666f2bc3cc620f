import { formatDurationMs } from '../../base/units';
import { jsonDocument } from '../../base/text';
import {
  readPodLogs,
  removeRunById,
  listRuns,
  type PodStatus,
  type ClusterRunStatus,
} from '../../agents/kubernetes/clusterRuns';
import { ClusterView, type ClusterPlace } from '../../agents/kubernetes/clusterView';
import { listWaitingAgents, type WaitingAgent } from '../../agents/coordinate/gatherAgents';
import { redactText } from '../../results/redact';
import { exitCode } from '../exitCode';
import { canColour, type ProcessIo } from '../io';
import { openBus, createBusWarning, type BusFlags } from '../openBus';
import { cut, paintAll, textWidth, wrapped, type Line } from '../views/line';
import { openKubectlFor, formatPlace, type KubectlDeps, type PlaceFlags } from './onKubernetes';

interface ListAgentsFlags extends PlaceFlags, BusFlags {
  readonly json?: boolean;
}

interface AgentLogsFlags extends PlaceFlags {
  readonly tail: number;
}

/** Lists the runs of a namespace, or the agents that wait on a bus. */
export async function listAgents(
  flags: ListAgentsFlags,
  io: ProcessIo,
  deps: KubectlDeps,
): Promise<number> {
  const { stdout } = io;
  const print = (found: object, lines: readonly Line[]): number => {
    stdout.write(flags.json === true ? jsonDocument(found) : paintAll(lines, canColour(io)));
    return exitCode.done;
  };
  if (flags.bus !== undefined) {
    const bus = await openBus(flags, io, 'signalr-bench agents', createBusWarning(io));
    try {
      const agents = await listWaitingAgents(bus);
      return print({ agents }, waitingLines(agents));
    } finally {
      await bus.close();
    }
  }
  const kubectl = openKubectlFor(flags, deps);
  const place = await new ClusterView(kubectl, flags.namespace).place();
  const runs = await listRuns(kubectl);
  return print({ ...place, runs }, listLines(runs, place, io.now()));
}

function waitingLines(agents: readonly WaitingAgent[]): Line[] {
  if (agents.length === 0)
    return [{ text: 'No agent waits on this bus. Agents of a run that goes on do not wait.' }];
  return agents.map(({ host, toolVersion, run }) => ({
    text: `${host}  signalr-bench ${toolVersion}, waits for ${run === undefined ? 'any run' : `run ${run}`}`,
  }));
}

function listLines(runs: readonly ClusterRunStatus[], place: ClusterPlace, now: Date): Line[] {
  if (runs.length === 0) return wrapped(`No run is in ${formatPlace(place)}.`, 80);
  return runs.flatMap((run, at) => [
    ...(at === 0 ? [] : [{ text: '' }]),
    ...wrapped(runWords(run, now), 80, '  ', 'bold'),
    ...run.pods.flatMap((pod) => podLines(pod, now)),
  ]);
}

function runWords({ run, since, until, pods }: ClusterRunStatus, now: Date): string {
  const agents = pods.filter(({ name }) => name.startsWith('agent ')).length;
  const began = since === undefined ? '' : `, began ${ageWords(since, now)} ago`;
  const leftMs = until === undefined ? undefined : Date.parse(until) - now.getTime();
  const end =
    leftMs === undefined
      ? ''
      : `, gone ${leftMs > 0 ? `in ${formatDurationMs(whole(leftMs))} at the latest` : 'soon'}`;
  return `run ${run}: ${agents} ${agents === 1 ? 'agent' : 'agents'}${began}${end}`;
}

const columns = { name: 20, state: 9, node: 38 } as const;

function podLines({ name, state, node, since, trouble }: PodStatus, now: Date): Line[] {
  const cell = (text: string, width: number): string => {
    const shown = cut(text, width - 1);
    return shown + ' '.repeat(width - textWidth(shown));
  };
  const words = [
    ...[cell(name, columns.name), cell(state, columns.state), cell(node ?? '-', columns.node)],
    since === undefined ? '' : ageWords(since, now),
  ];
  return [
    {
      text: `  ${words.join('')}`.trimEnd(),
      ...(state === 'failed' && { tone: 'bad' as const }),
    },
    ...(trouble === undefined ? [] : wrapped(`    ${trouble}`, 80, '    ', 'warn')),
  ];
}

const ageWords = (since: string, now: Date): string =>
  formatDurationMs(whole(Math.max(0, now.getTime() - Date.parse(since))));

const whole = (ms: number): number =>
  ms < 120_000 ? Math.round(ms / 1000) * 1000 : Math.round(ms / 60_000) * 60_000;

/** Last lines of a run's pods, without secrets. */
export async function agentLogs(
  run: string,
  agent: string | undefined,
  flags: AgentLogsFlags,
  io: ProcessIo,
  deps: KubectlDeps,
): Promise<number> {
  const logs = await readPodLogs(openKubectlFor(flags, deps), run, flags.tail, agent);
  const lines = logs.flatMap(({ name, lines: written }): Line[] => [
    { text: `${name}:`, tone: 'bold' },
    ...(written.length === 0 ? [{ text: '  nothing so far', tone: 'dim' as const }] : []),
    ...written.map((line) => ({ text: `  ${redactText(line)}` })),
  ]);
  io.stdout.write(paintAll(lines, canColour(io)));
  return exitCode.done;
}

export async function removeAgents(
  run: string,
  flags: PlaceFlags,
  { stdout }: ProcessIo,
  deps: KubectlDeps,
): Promise<number> {
  await removeRunById(openKubectlFor(flags, deps), run);
  stdout.write(`Run ${run} is removed.\n`);
  return exitCode.done;
}
