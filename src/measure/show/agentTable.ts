import { fill } from '../../base/text';
import { formatCount, formatShare } from '../../base/units';
import type { AgentProgress } from '../summary';
import { latencyOrDash } from './chartWords';
import type { PanelStrings } from './panelStrings';
import type { TextTable } from './panelTables';

const longestName = 60;
const mostNamed = 10;

const agentsStep = (agents: readonly AgentProgress[]): number | undefined =>
  agents.reduce<number | undefined>(
    (last, { lastStep }) => Math.max(last ?? 0, lastStep?.index ?? 0) || undefined,
    undefined,
  );

/** At most so many, in their order: of more those that are silent, lost or left, then the slowest. */
export function selectAgents<Agent extends AgentProgress>(
  agents: readonly Agent[],
  most: number,
): Agent[] {
  const first = [...agents].sort(
    (a, b) => Number(isWell(a)) - Number(isWell(b)) || p99Of(b) - p99Of(a),
  );
  return first.slice(0, most).sort((a, b) => a.index - b.index);
}

const isWell = ({ status }: AgentProgress): boolean => status === 'done' || status === 'running';

const p99Of = ({ lastStep }: AgentProgress): number => lastStep?.p99Us ?? 0;

function stateWords(agent: AgentProgress, texts: PanelStrings): string {
  return fill(texts[`${agent.status}Agent`], formatCount(agent.lastTick));
}

export function agentTable(
  agents: readonly AgentProgress[],
  texts: PanelStrings,
  most: number,
): TextTable {
  const dash = texts.noValue;
  const rows = selectAgents(agents, most).map((agent) => {
    const { index, node, share, clockErrorUs, lastStep } = agent;
    return [
      ...[formatCount(index), node.slice(0, longestName), formatShare(share)],
      lastStep === undefined ? dash : formatCount(lastStep.received),
      ...[lastStep?.p99Us].map((us) => latencyOrDash(us, dash)),
      lastStep === undefined ? dash : formatShare(lastStep.cpuShare),
      ...[lastStep?.slipP99Us, clockErrorUs, lastStep?.loopDelayP99Us || undefined].map((us) =>
        latencyOrDash(us, dash),
      ),
      stateWords(agent, texts),
    ];
  });
  return {
    heads: [
      ...[texts.agentColumn, texts.agentNode, texts.agentShare, texts.agentReceived, 'p99'],
      ...[texts.agentCpu, texts.agentSlip, texts.agentClock, texts.agentLoop, texts.agentState],
    ],
    rows,
    textColumns: [1, 9],
  };
}

const named = ({ index, node }: AgentProgress): readonly [string, string] => [
  formatCount(index),
  node.slice(0, longestName),
];

function those(
  agents: readonly AgentProgress[],
  status: AgentProgress['status'],
  text: string,
  texts: PanelStrings,
): string[] {
  const some = agents.filter((agent) => agent.status === status);
  const names = some.slice(0, mostNamed).map((agent) => fill(texts.agentNamed, ...named(agent)));
  const more = some.length > names.length ? [`… (${formatCount(some.length)})`] : [];
  return some.length === 0 ? [] : [fill(text, [...names, ...more].join(', '))];
}

export const silentAgentSentences = (
  agents: readonly AgentProgress[],
  texts: PanelStrings,
): string[] => those(agents, 'silent', texts.agentsSilent, texts);

export function agentSentences(agents: readonly AgentProgress[], texts: PanelStrings): string[] {
  const step = agentsStep(agents);
  const measured = agents.filter(
    ({ lastStep }) => lastStep !== undefined && lastStep.index === step,
  );
  const [slowest, next] = measured
    .filter(({ lastStep }) => lastStep?.p99Us !== undefined)
    .sort((a, b) => p99Of(b) - p99Of(a));
  const busiest = measured.reduce<AgentProgress | undefined>(
    (most, agent) =>
      (agent.lastStep?.cpuShare ?? 0) > (most?.lastStep?.cpuShare ?? 0) ? agent : most,
    undefined,
  );
  return [
    ...those(agents, 'lost', texts.agentsLost, texts),
    ...those(agents, 'left', texts.agentsLeft, texts),
    ...silentAgentSentences(agents, texts),
    ...(slowest === undefined || next === undefined || p99Of(slowest) === p99Of(next)
      ? []
      : [
          fill(
            texts.agentSlowest,
            ...named(slowest),
            ...[slowest, next].map((agent) => latencyOrDash(p99Of(agent), '')),
          ),
        ]),
    ...(busiest?.lastStep === undefined || measured.length < 2
      ? []
      : [
          fill(
            texts.agentBusiest,
            ...named(busiest),
            formatShare(busiest.lastStep.cpuShare),
            latencyOrDash(busiest.lastStep.slipP99Us, ''),
          ),
        ]),
    ...(step === undefined ? [] : [fill(texts.agentsOfStep, formatCount(step))]),
  ];
}

export interface AgentColumn {
  /** In CSV, after `agent.`; its end is the unit that the result file has. */
  readonly id: string;
  readonly value: (agent: AgentProgress) => number | undefined;
  readonly metric: string;
  readonly kind?: 'counter';
  /** Of the metric; those whose `id` ends with `Us` are microseconds before. */
  readonly unit?: 'seconds' | 'ratio';
  readonly help: string;
}

export const agentColumns: readonly AgentColumn[] = [
  {
    ...{ id: 'share', metric: 'share', unit: 'ratio', help: 'Share of the connections.' },
    value: ({ share }) => share,
  },
  {
    ...{ id: 'sent', metric: 'messages.sent', kind: 'counter' },
    help: 'Messages that have left an agent in the last step that it was part of.',
    value: ({ lastStep }) => lastStep?.sent,
  },
  {
    ...{ id: 'received', metric: 'deliveries.received', kind: 'counter' },
    help: 'Deliveries that connections of an agent have received in that step.',
    value: ({ lastStep }) => lastStep?.received,
  },
  {
    ...{ id: 'p99Us', metric: 'latency.p99', unit: 'seconds' },
    help: 'The p99 of what they have received.',
    value: ({ lastStep }) => lastStep?.p99Us,
  },
  {
    ...{ id: 'cpuShare', metric: 'cpu', unit: 'ratio' },
    help: 'Share of a core that the busiest worker of an agent used.',
    value: ({ lastStep }) => lastStep?.cpuShare,
  },
  {
    ...{ id: 'slipP99Us', metric: 'slip.p99', unit: 'seconds' },
    help: 'The p99 of how late an agent sent.',
    value: ({ lastStep }) => lastStep?.slipP99Us,
  },
  {
    ...{ id: 'loopDelayP99Us', metric: 'loop_delay.p99', unit: 'seconds' },
    help: 'The p99 of the delay of its event loops.',
    value: ({ lastStep }) => lastStep?.loopDelayP99Us,
  },
  {
    ...{ id: 'clockErrorUs', metric: 'clock.error', unit: 'seconds' },
    help: 'By how much the clock of an agent may have differed at most.',
    value: ({ clockErrorUs }) => clockErrorUs,
  },
  {
    ...{ id: 'lastTick', metric: 'reported', unit: 'seconds' },
    help: 'Newest second of the run of which an agent has reported.',
    value: ({ lastTick }) => lastTick,
  },
];
