import { isEmpty, reports, type ReportedRun } from '../../measure/report/reportModel';
import { panelStrings } from '../../measure/show/panelStrings';
import { cut, textWidth, wrapped, type Line } from './line';

const mostRows = 40;
/** The longest texts are cut, though not to less, where a table is too wide. */
const leastText = 20;

/** A table as wide as what is in it, and what is said below it; where there is no room, the last columns are left out. */
export function reportLines(name: keyof typeof reports, run: ReportedRun, width: number): Line[] {
  const report = reports[name](run, panelStrings, mostRows);
  if (isEmpty(report)) return [];
  const { title, heads, rows, textColumns, notes, sentences } = report;
  const all = [heads, ...rows];
  const widest = heads.map((_, at) => Math.max(...all.map((row) => textWidth(row[at] ?? ''))));
  const tooWide = widest.reduce((sum, each) => sum + each + 2, 0) - width;
  const longest = Math.max(...textColumns.map((at) => widest[at]!));
  const widths = widest.map((each, at) =>
    textColumns.includes(at) && each === longest && tooWide > 0
      ? Math.max(Math.min(leastText, each), each - tooWide)
      : each,
  );
  let used = 0;
  const count = widths.filter((each) => (used += each + 2) <= width).length;
  const lineOf = (row: readonly string[]): string =>
    row
      .slice(0, count)
      .map((cell, at) => aligned(cell, widths[at]!, textColumns.includes(at)))
      .join('');
  const below = [...notes, ...sentences];
  return [
    { text: title, tone: 'bold' },
    ...(rows.length === 0 ? [] : [{ text: lineOf(heads), tone: 'dim' as const }]),
    ...rows.map((row) => ({ text: lineOf(row) })),
    ...below.flatMap((text) => wrapped(`  ${text}`, width, '    ')),
  ];
}

/** Texts begin on the left. What is too long loses its middle: names of machines differ at their ends. */
function aligned(cell: string, width: number, isText: boolean): string {
  const wide = textWidth(cell);
  const half = Math.floor(width / 2);
  const fitting = wide <= width ? cell : `${cut(cell, half)}…${cell.slice(half + 1 - width)}`;
  const blanks = ' '.repeat(Math.max(0, width - textWidth(fitting)));
  return `  ${isText ? fitting + blanks : blanks + fitting}`;
}
