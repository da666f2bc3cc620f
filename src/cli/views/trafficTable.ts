import { formatBytes } from '../../base/units';
import type { StepSummary } from '../../measure/show/summary';
import type { Line } from './line';

type Bytes = Pick<
  StepSummary,
  'index' | 'seconds' | 'payloadBytesIn' | 'payloadBytesOut' | 'wireBytesIn' | 'wireBytesOut'
>;

/** Heads of the table; `in` is client to service, `out` service to client, as in the performance guides. */
const trafficHead: Line = {
  text: ' step  in: payload    on wire   MB/s  out: payload    on wire   MB/s',
  tone: 'dim',
};

/** Bytes of each step in both directions, 80 columns; empty where nothing was sent. */
export function trafficLines(steps: readonly Bytes[]): Line[] {
  const moved = steps.filter(({ wireBytesIn, wireBytesOut }) => wireBytesIn + wireBytesOut > 0);
  if (moved.length === 0) return [];
  return [trafficHead, ...moved.map((step) => ({ text: trafficLine(step) }))];
}

function trafficLine(step: Bytes): string {
  const cells = trafficCells(step);
  const widths = [5, 13, 11, 7, 14, 11, 7];
  return cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('');
}

/** Step, then payload, bytes on the wire and their rate, first in, then out. */
export function trafficCells(step: Bytes): string[] {
  const { index, seconds, payloadBytesIn, payloadBytesOut, wireBytesIn, wireBytesOut } = step;
  return [
    String(index),
    ...[bytes(payloadBytesIn), bytes(wireBytesIn), rate(wireBytesIn, seconds)],
    ...[bytes(payloadBytesOut), bytes(wireBytesOut), rate(wireBytesOut, seconds)],
  ];
}

function bytes(count: number): string {
  return count < 1024 ** 3 ? formatBytes(count) : `${(count / 1024 ** 3).toFixed(1)} GB`;
}

/** Megabytes (1,048,576 bytes, as the guides count) a second. */
function rate(count: number, seconds: number): string {
  const perSecond = count / seconds / 1024 / 1024;
  if (seconds <= 0 || perSecond === Infinity) return '–';
  return perSecond > 0 && perSecond < 0.01 ? '<0.01' : perSecond.toFixed(perSecond < 100 ? 2 : 0);
}
