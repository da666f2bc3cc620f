/** Tables of a run beside that of its steps: agents, what was seen of the server, calls. */
import { formatCount, formatLatencyUs, formatShare } from '../../base/units';
import { fill } from '../../base/objectives/limitWords';
import { agentSentences, shownAgents, stateWords } from '../../measure/show/agentTable';
import type { AgentSummary, StepSummary } from '../../measure/summary';
import { panelStrings } from '../../protocol/panelStrings';
import { wrapped, type Line, cut, fixedBlank } from './line';
import type { Observed } from '../../measure/observed';
import { findingSentence, observedLabel, observedValue } from '../../measure/show/observedWords';
import { callErrors, callRows, sessionParts, stepOfCalls } from '../../measure/show/callTable';
import type { StepProgress } from '../../measure/snapshot';
import { callTable } from './stepTable';

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

const mostSeries = 20;
const mostNotes = 5;
const nameWidth = 40;

/** What was seen of the server in the last step in which it was, 80 columns. */
export function observedLines(observed: Observed | undefined, width: number): Line[] {
  if (observed === undefined) return [];
  const { series, findings, problems } = observed;
  const step = series.reduce((last, { steps }) => Math.max(last, steps.at(-1)?.index ?? 0), 0);
  const rows = series.flatMap(({ name, unit, steps }) =>
    steps
      .filter(({ index }) => index === step)
      .map(({ mean, max, last }) => {
        const values = [mean, max, last].map((value) => observedValue(unit, value).padStart(12));
        const label = cut(observedLabel(name, panelStrings), nameWidth - 2);
        return { text: `  ${label.padEnd(nameWidth - 2)}${values.join('')}` };
      }),
  );
  const hidden = rows.length - mostSeries;
  const head = `${`server in step ${formatCount(step)}`.padEnd(nameWidth)}${['mean', 'max', 'at the end'].map((text) => text.padStart(12)).join('')}`;
  const notes = [...findings.map(findingSentence), ...problems].slice(0, mostNotes);
  return [
    ...(rows.length === 0 ? [] : [{ text: head, tone: 'dim' as const }]),
    ...rows.slice(0, mostSeries),
    ...(hidden > 0 ? [{ text: `  … ${formatCount(hidden)} more`, tone: 'dim' as const }] : []),
    ...notes.flatMap((text) => wrapped(`  ${text}`, width, '    ', 'warn')),
  ];
}

interface Shown {
  readonly most?: number;
  /** With a line for each call that had some: by class. */
  readonly errors?: boolean;
}

/** The calls of the last step that has some, at most `most` of them, and what became of its sessions. */
export function callLines(
  steps: readonly (StepSummary | StepProgress)[],
  width: number,
  { most = 40, errors = true }: Shown = {},
): Line[] {
  const step = stepOfCalls(steps);
  if (step === undefined) return [];
  const rows = callRows(step);
  const { head, line } = callTable(width, rows);
  const hidden = rows.length - most;
  const more: Line = { text: `  … ${formatCount(hidden)} more`, tone: 'dim' };
  const isOver = !('over' in step) || step.over;
  const parts = step.sessions ? sessionParts(step.sessions, panelStrings, isOver) : [];
  const columns = Math.max(40, Math.min(width, 100));
  const wrappedAt = (text: string): Line[] => wrapped(text, columns, '    ');
  return [
    ...(steps.length > 1 ? [{ text: `calls of step ${step.index}`, tone: 'bold' as const }] : []),
    head,
    ...rows.slice(0, most).map(line),
    ...(hidden > 0 ? [more] : []),
    ...(parts.length > 0 ? wrappedAt(`  sessions${fixedBlank} ${parts.join(', ')}`) : []),
    ...(errors ? callErrors(step) : [])
      .slice(0, most)
      .flatMap(([call, words]) => wrappedAt(`  errors of ${call}: ${words}`)),
  ];
}
