import { formatCount, formatLatencyUs, formatShare } from '../../base/units';
import { fill } from '../../base/objectives/limitWords';
import { agentSentences, shownAgents, stateWords } from '../../measure/show/agentTable';
import type { AgentSummary } from '../../measure/summary';
import { panelStrings } from '../../protocol/panelStrings';
import { wrapped, type Line } from './line';

const mostRows = 20;
const nodeWidth = 22;

/** A table of at most 80 columns, and who stands out; nothing for a run of one process. */
export function agentLines(agents: readonly AgentSummary[], width: number): Line[] {
  if (agents.length === 0) return [];
  const rows = shownAgents(agents, mostRows);
  const names = rows.map(({ node }) => node.length);
  const column = Math.max(4, Math.min(nodeWidth + width - 80, Math.max(...names)));
  const hidden = agents.length - rows.length;
  const head = [
    ...['agent', 'node'.padEnd(column), 'share', 'received'.padStart(9), 'p99'.padStart(7)],
    ...['CPU'.padStart(5), 'slip p99', 'clock ±'.padStart(8)],
  ].join(' ');
  return [
    { text: panelStrings.agentsTable.toLowerCase(), tone: 'bold' },
    { text: head, tone: 'dim' },
    ...rows.flatMap((agent) => rowOf(agent, column)),
    ...(hidden > 0
      ? [{ text: `      ${fill(panelStrings.agentsHidden, formatCount(hidden))}` } as Line]
      : []),
    ...agentSentences(agents, panelStrings).flatMap((text) => wrapped(` ${text}`, width, '  ')),
  ];
}

function rowOf(agent: AgentSummary, column: number): Line[] {
  const { index, node, share, status, clockErrorUs, lastStep } = agent;
  // Names of the machines of a pool differ at their end.
  const shown = node.length > column ? `…${node.slice(1 - column)}` : node;
  const us = (value: number | undefined): string =>
    value === undefined ? '–' : formatLatencyUs(value);
  const cells = [
    formatCount(index).padStart(5),
    shown.padEnd(column),
    formatShare(share).padStart(5),
    (lastStep === undefined ? '–' : formatCount(lastStep.received)).padStart(9),
    us(lastStep?.p99Us).padStart(7),
    (lastStep === undefined ? '–' : formatShare(lastStep.cpuShare)).padStart(5),
    us(lastStep?.slipP99Us).padStart(8),
    us(clockErrorUs).padStart(8),
  ];
  const line: Line = { text: cells.join(' ') };
  if (status === 'done') return [line];
  return [
    { ...line, tone: 'warn' },
    { text: `      ${stateWords(agent, panelStrings)}`, tone: 'warn' },
  ];
}
