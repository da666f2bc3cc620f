import { formatCount } from '../../base/units';
import { callErrors, callRows, sessionParts, stepOfCalls } from '../../measure/show/callTable';
import type { StepProgress } from '../../measure/snapshot';
import type { StepSummary } from '../../measure/summary';
import { panelStrings } from '../../protocol/panelStrings';
import { fixedBlank, wrapped, type Line } from './line';
import { callTable } from './stepTable';

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
