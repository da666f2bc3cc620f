import { ExpectedError } from '../../base/expectedError';
import { decodeHistogram } from '../histogram';
import type { SpectrumPoint } from './percentileAxis';

const pointsPerNine = 10;

/** Latency over the share of the deliveries, from an encoded histogram; empty where it cannot be read. */
export function curveOf(text: string): SpectrumPoint[] {
  let histogram: ReturnType<typeof decodeHistogram>;
  try {
    histogram = decodeHistogram(text);
  } catch (error) {
    if (error instanceof ExpectedError) return [];
    throw error;
  }
  if (histogram.count === 0) return [];
  const last = 1 - 1 / Math.max(2, histogram.count);
  const points: SpectrumPoint[] = [];
  for (let at = 0; ; at++) {
    const share = 1 - 10 ** (-at / pointsPerNine);
    const latencyUs = Math.max(1, histogram.valueAtShare(Math.min(share, 1)));
    if (share >= last) break;
    points.push({ share, latencyUs });
  }
  points.push({ share: last, latencyUs: Math.max(1, histogram.valueAtShare(1)) });
  return points;
}
