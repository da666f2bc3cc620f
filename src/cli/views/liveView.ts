import { formatCount } from '../../base/units';
import type { Snapshot, StepProgress } from '../../measure/show/snapshot';
import { entryRows } from '../../measure/show/stepRows';
import { cut, paint, type Line } from './line';
import {
  connectingText,
  noProgress,
  rowsOf,
  stallText,
  statusText,
  titleLines,
  withSnapshot,
  type RunProgress,
  type RunTitle,
  type RunView,
} from './runView';
import { entryTable, lostLines, stepTable, tailLines, warmupLines } from './stepTable';
import { widthOf, type Output } from '../io';

/** Use cases of a mix shown while it runs. */
const mostEntries = 8;
/** Lines around the rows beside the load: title, connecting, head, status, blanks, and the cursor's. */
const otherLines = 9;

/** The table of steps, redrawn in place at each snapshot. */
export function createLiveView(output: Output, title: RunTitle, colour: boolean): RunView {
  let progress: RunProgress = noProgress;
  let drawn = 0;
  const erase = (): string => (drawn === 0 ? '' : `\x1b[${drawn}A\r\x1b[J`);
  const draw = (): void => {
    const width = widthOf(output);
    const lines = liveLines(title, progress, output.rows ?? 24, width);
    const text = lines.map(({ text: whole, ...line }) => {
      const fitting: Line = { ...line, text: cut(whole, width) };
      return `${paint(fitting, colour)}\n`;
    });
    // One write, so that nothing is seen half drawn.
    output.write(erase() + text.join(''));
    drawn = lines.length;
  };
  return {
    update(snapshot) {
      progress = withSnapshot(progress, snapshot);
      draw();
    },
    message(text) {
      output.write(`${erase()}${paint({ text }, colour)}\n`);
      drawn = 0;
      if (progress.latest) draw();
    },
    close() {
      output.write(erase());
      drawn = 0;
    },
  };
}

/** All lines of the view, uncut. */
export function liveLines(
  title: RunTitle,
  progress: RunProgress,
  terminalRows: number,
  width = 80,
): Line[] {
  const { latest } = progress;
  const table = stepTable(width);
  const rows = rowsOf(progress);
  const entryLines = mixLines(latest?.step, width);
  const [heading = '', ...loadLines] = titleLines(title);
  const notes = [...tailLines(rows), ...lostLines(rows), ...warmupLines(rows)];
  const others = otherLines + loadLines.length + entryLines.length + notes.length;
  const room = Math.max(3, terminalRows - others);
  const shown = rows.slice(-room);
  const hidden = rows.length - shown.length;
  return [
    { text: heading, tone: 'bold' },
    ...loadLines.map((text) => ({ text })),
    { text: '' },
    ...(latest ? [{ text: connectingText(latest) }, { text: '' }] : []),
    ...(rows.length > 0 ? [table.head] : []),
    ...(hidden > 0
      ? [{ text: `      … ${formatCount(hidden)} earlier`, tone: 'dim' as const }]
      : []),
    ...shown.map(table.line),
    ...notes,
    ...entryLines,
    ...(latest ? [{ text: '' }, statusLine(latest, progress)] : []),
  ];
}

function statusLine(latest: Snapshot, progress: RunProgress): Line {
  const tone = stallText(latest) === undefined ? 'dim' : 'warn';
  return { text: statusText(latest, progress), tone };
}

/** The use cases of a mix in the step that is going on. */
function mixLines(step: StepProgress | undefined, width: number): Line[] {
  const rows = step ? entryRows(step).slice(0, mostEntries) : [];
  const table = entryTable(width);
  return rows.length === 0 ? [] : [{ text: '' }, table.head, ...rows.map(table.line)];
}
