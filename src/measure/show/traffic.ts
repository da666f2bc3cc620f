import { formatBytes } from '../../base/units';
import type { StepSummary } from './summary';

type Bytes = Pick<
  StepSummary,
  'index' | 'seconds' | 'payloadBytesIn' | 'payloadBytesOut' | 'wireBytesIn' | 'wireBytesOut'
>;

/** Rows of the table of bytes, one for each step in which any moved: step, then payload, bytes on the wire and their
 * rate, first in (client to service), then out (service to client), as in the performance guides. */
export const trafficRows = (steps: readonly Bytes[]): string[][] =>
  steps
    .filter(({ wireBytesIn, wireBytesOut }) => wireBytesIn !== 0 || wireBytesOut !== 0)
    .map(trafficCells);

function trafficCells(step: Bytes): string[] {
  const { index, seconds, payloadBytesIn, payloadBytesOut, wireBytesIn, wireBytesOut } = step;
  return [
    String(index),
    ...[bytes(payloadBytesIn), bytes(wireBytesIn), rate(wireBytesIn, seconds)],
    ...[bytes(payloadBytesOut), bytes(wireBytesOut), rate(wireBytesOut, seconds)],
  ];
}

function bytes(count: number | null): string {
  if (count === null) return '–';
  return count < 1024 ** 3 ? formatBytes(count) : `${(count / 1024 ** 3).toFixed(1)} GB`;
}

/** Megabytes (1,048,576 bytes, as the guides count) a second. */
function rate(count: number | null, seconds: number): string {
  if (count === null) return '–';
  const perSecond = count / seconds / 1024 / 1024;
  if (seconds <= 0 || perSecond === Infinity) return '–';
  return perSecond > 0 && perSecond < 0.01 ? '<0.01' : perSecond.toFixed(perSecond < 100 ? 2 : 0);
}
