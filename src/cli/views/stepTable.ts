import { formatCount, formatLatencyUs } from '../../base/units';
import { stepNotes } from '../../measure/report/reportModel';
import { panelStrings } from '../../measure/show/panelStrings';
import {
  visibleColumns,
  lowercaseHead,
  type RowKind,
  type StepColumn,
  type StepRow,
} from '../../measure/show/stepColumns';
import { wrapped, type Line, type Tone } from './line';

export interface StepTable {
  readonly head: Line;
  readonly line: (row: StepRow) => Line;
}

const defaultWidth = 8;
const noteColumns = 80;

const titleOf = (column: StepColumn): string => column.terminal?.head ?? lowercaseHead(column);

const widthOf = (column: StepColumn): number =>
  column.terminal?.width ?? Math.max(defaultWidth, titleOf(column).length + 1);

/** Columns that fit, usual ones first; one character stays for the mark of the current step. */
function fitting(of: RowKind, width: number, rows: readonly StepRow[]): StepColumn[] {
  let used = 1;
  const fits = (column: StepColumn): boolean => (used += widthOf(column)) < width;
  const isReplay = rows.some(({ recorded }) => recorded !== undefined);
  // In a replay, recorded calls say more than expected answers; one of them fits.
  const all = visibleColumns('terminal', of, rows).filter(
    ({ id }) => !isReplay || id !== 'call.expected',
  );
  const isUsual = ({ whereMeasured }: StepColumn): boolean => whereMeasured !== true;
  const shown = [
    ...all.filter(isUsual).filter(fits),
    ...all.filter((column) => !isUsual(column)).filter(fits),
  ];
  return all.filter((column) => shown.includes(column));
}

export function createStepTable(width = 80, rows: readonly StepRow[] = []): StepTable {
  const columns = fitting('steps', Math.max(80, width), rows);
  return {
    head: { text: headOf(columns).trimEnd(), tone: 'dim' },
    line: (row) => {
      const tone = toneOf(row);
      return { text: textOf(columns, row).trimEnd(), ...(tone && { tone }) };
    },
  };
}

const longestName = 22;
const nameRoom = 20;

export function createEntryTable(width = 80, rows: readonly StepRow[] = []): StepTable {
  const columns = fitting('entries', Math.max(80, width) - nameRoom, rows);
  return {
    head: { text: `${headOf(columns)} use case`, tone: 'dim' },
    line: ({ name = '', ...row }) => ({
      text: `${textOf(columns, row)} ${name.slice(0, longestName)}`,
    }),
  };
}

export function createRowTable(
  kind: 'calls' | 'pushed',
  width = 80,
  rows: readonly StepRow[] = [],
): StepTable {
  const columns = fitting(kind, Math.max(80, width), rows);
  return {
    head: { text: headOf(columns).trimEnd(), tone: 'dim' },
    line: (row) => {
      const tone = (row.lost ?? 0) > 0 || (row.errors ?? 0) > 0 ? 'bad' : undefined;
      return { text: textOf(columns, row).trimEnd(), ...(tone && { tone }) };
    },
  };
}

const headOf = (columns: readonly StepColumn[]): string => ` ${columns.map(headCell).join('')}`;

function headCell(column: StepColumn): string {
  const head = titleOf(column);
  const width = widthOf(column);
  return column.unit === 'word' && column.id.endsWith('.name')
    ? ` ${head.padEnd(width - 1)}`
    : head.padStart(width);
}

const textOf = (columns: readonly StepColumn[], row: StepRow): string =>
  `${row.current ? '▸' : ' '}${columns.map((column) => cellOf(column, row)).join('')}`;

function cellOf(column: StepColumn, row: StepRow): string {
  const width = widthOf(column);
  const value = column.value(row);
  if (column.unit === 'word')
    return ` ${String(value ?? '-')
      .slice(0, width - 1)
      .padEnd(width - 1)}`;
  if (value === null) return 'lost'.padStart(width);
  if (typeof value === 'string') return value.padStart(width);
  if (column.unit !== 'latency') return fit(value, width, column.terminal?.decimals);
  return (value === undefined ? '-' : latencyCell(value)).padStart(width);
}

function latencyCell(us: number): string {
  return us < 999_500_000 ? formatLatencyUs(us) : '>999s';
}

function toneOf({ generator, verdict, current }: StepRow): Tone | undefined {
  if (generator && !generator.valid) return 'warn';
  if (verdict === 'fail') return 'bad';
  return current ? 'bold' : undefined;
}

/** Right-aligned after a blank, shortened to `12.3K` where too long. */
function fit(value: number | undefined, width: number, decimals = 0): string {
  if (value === undefined) return '-'.padStart(width);
  for (const places of decimals > 0 ? [decimals, 0] : [0]) {
    const text = formatCount(value, places);
    if (text.length < width) return text.padStart(width);
  }
  for (const [divisor, suffix] of [
    [1e3, 'K'],
    [1e6, 'M'],
    [1e9, 'G'],
    [1e12, 'T'],
  ] as const) {
    const scaled = value / divisor;
    const text = `${scaled < 99.95 ? scaled.toFixed(1) : scaled.toFixed(0)}${suffix}`;
    if (scaled < 999.5 && text.length < width) return text.padStart(width);
    const whole = `${scaled.toFixed(0)}${suffix}`;
    if (scaled < 999.5 && whole.length < width) return whole.padStart(width);
  }
  return '∞'.padStart(width);
}

/** Notes below the rows. */
export function noteLines(rows: readonly StepRow[]): Line[] {
  const notes = [...stepNotes(rows, panelStrings), warmupNote(rows) ?? []].flat();
  return notes.flatMap((text) => wrapped(` ${text}`, noteColumns, ' ', 'dim'));
}

function warmupNote(rows: readonly StepRow[]): string | undefined {
  const had = rows.filter(({ warmupErrors = 0 }) => warmupErrors > 0);
  const [first, more] = had;
  if (first === undefined) return undefined;
  const sum = had.reduce((total, { warmupErrors = 0 }) => total + warmupErrors, 0);
  const place = more ? 'warm-ups' : `the warm-up of step ${formatCount(first.index)}`;
  return `${formatCount(sum)} more ${sum === 1 ? 'error' : 'errors'} in ${place}, which err leaves out`;
}
