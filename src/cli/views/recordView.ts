import { plural, formatCount } from '../../base/units';
import { trafficRows, trafficText, type RecordProgress } from '../../record/watchRecording';
import { formatClock } from '../../run/runWords';
import { widthOf, type Output } from '../io';
import { cut, paint, paintAll, printable, textWidth, wrapped, type Line } from './line';

export interface RecordTitle {
  readonly target: string;
  readonly url: string;
  readonly ending: string;
}

export interface RecordView {
  update(progress: RecordProgress): void;
  message(text: string): void;
  close(): void;
}

/** `2 clients, 3 were seen; out 120 messages, 25 KB, 3.1/s; in 412 messages, 96 KB, 12.0/s`. */
function recordedText(progress: RecordProgress): string {
  const { clients, everSeen, unknown } = progress.counts;
  const { dropped } = progress;
  const seen = everSeen > clients ? `, ${formatCount(everSeen)} were seen` : '';
  return [
    everSeen === 0 ? 'no client yet' : `${plural(clients, 'client')}${seen}`,
    ...(everSeen === 0
      ? []
      : [`out ${trafficText(progress, 'out')}`, `in ${trafficText(progress, 'in')}`]),
    ...(unknown > 0 ? [`${formatCount(unknown)} not understood`] : []),
    ...(dropped > 0 ? [`${formatCount(dropped)} left out, the disk is too slow`] : []),
  ].join('; ');
}

const linesOfTables = 6;
const mostNames = 12;

export function recordLines(
  title: RecordTitle,
  progress: RecordProgress,
  terminalRows = 24,
  width = 80,
): Line[] {
  const { counts, atS } = progress;
  const passed = recordedText(progress).split('; ');
  const ending = wrapped(title.ending, width, '  ', 'dim');
  const others = passed.length + ending.length + linesOfTables + 5;
  const room = Math.max(2, Math.min(2 * mostNames, terminalRows - others));
  const callRoom = Math.max(room - counts.callbacks.length, Math.ceil(room / 2));
  const calls = trafficRows(progress, 'calls', callRoom);
  const callbacks = trafficRows(progress, 'callbacks', room - calls.rows.length);
  const table = (heading: string, { rows, more }: ReturnType<typeof trafficRows>): Line[] => {
    if (rows.length === 0) return [];
    return [
      { text: '' },
      { text: rowText(width, heading, ['seen', 'per s', 'size']), tone: 'dim' },
      ...rows.map(({ name, seen, perS, size }) => ({
        text: rowText(width, name, [seen, perS, size]),
      })),
      ...(more > 0 ? [{ text: `… ${formatCount(more)} more`, tone: 'dim' as const }] : []),
    ];
  };
  return [
    { text: `recording ${title.target}`, tone: 'bold' },
    { text: `point clients at ${title.url}` },
    { text: '' },
    ...passed.map((text, at) => ({
      text: at === 0 ? `${formatClock(atS)}  ${text}` : `      ${text}`,
    })),
    ...table('call', calls),
    ...table('callback', callbacks),
    { text: '' },
    ...ending,
  ];
}

const columnWidths = [10, 9, 10];

function rowText(width: number, name: string, cells: readonly string[]): string {
  const nameWidth = Math.max(12, Math.min(50, width - columnWidths.reduce((a, b) => a + b, 0)));
  const clean = printable(name);
  const shown = textWidth(clean) > nameWidth ? `${cut(clean, nameWidth - 1)}…` : clean;
  const gap = ' '.repeat(nameWidth - textWidth(shown));
  return `${shown}${gap}${cells.map((cell, at) => cell.padStart(columnWidths[at]!)).join('')}`;
}

export function createLiveRecordView(
  output: Output,
  title: RecordTitle,
  colour: boolean,
): RecordView {
  let drawn = 0;
  let latest: RecordProgress | undefined;
  const erase = (): string => (drawn === 0 ? '' : `\x1b[${drawn}A\r\x1b[J`);
  const draw = (progress: RecordProgress): void => {
    latest = progress;
    const width = widthOf(output);
    const lines = recordLines(title, progress, output.rows ?? 24, width);
    const fitting = lines.map((line) => ({ ...line, text: cut(line.text, width) }));
    output.write(erase() + paintAll(fitting, colour));
    drawn = lines.length;
  };
  return {
    update: draw,
    message(text) {
      output.write(`${erase()}${paint({ text }, colour)}\n`);
      drawn = 0;
      if (latest !== undefined) draw(latest);
    },
    close() {
      output.write(erase());
      drawn = 0;
    },
  };
}

const everyS = 10;

/** For pipes and logs: now and then a line. */
export function createPlainRecordView(output: Output, title: RecordTitle): RecordView {
  const say = (text: string): void => output.write(`${printable(text)}\n`);
  let saidAtS = -Infinity;
  let said = '';
  say(`recording ${title.target}; point clients at ${title.url}`);
  say(title.ending);
  return {
    update(progress) {
      const { messages, clients } = progress.counts;
      const now = `${messages.out} ${messages.in} ${clients}`;
      if (now === said || progress.atS - saidAtS < everyS || progress.counts.everSeen === 0) return;
      said = now;
      saidAtS = progress.atS;
      say(`[${formatClock(progress.atS)}] ${recordedText(progress)}`);
    },
    message: say,
    close: () => undefined,
  };
}
