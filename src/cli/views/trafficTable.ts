import { trafficRows } from '../../measure/show/traffic';
import type { Line } from './line';

const head: Line = {
  text: ' step  in: payload    on wire   MB/s  out: payload    on wire   MB/s',
  tone: 'dim',
};
const widths = [5, 13, 11, 7, 14, 11, 7];

/** Bytes of each step in both directions, 80 columns; empty where nothing was sent. */
export function trafficLines(steps: Parameters<typeof trafficRows>[0]): Line[] {
  const lines = trafficRows(steps).map((cells) => ({
    text: cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join(''),
  }));
  return lines.length === 0 ? [] : [head, ...lines];
}
