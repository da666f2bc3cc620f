import hdr from 'hdr-histogram-js';

/** Digits of a stamp: microseconds of the process's monotonic clock. */
export const stampDigits = 16;

/** Items of one stream, for every client that streams. */
export const itemsPerStream = 10;

export const nowUs = () => Math.floor(performance.now() * 1000);

/** A stamp as text of fixed length, so that it can be patched into a prepared message. */
export const stampText = (us) => String(us).padStart(stampDigits, '0');

/** A histogram as a load generator keeps it: every client of the bench records each round trip. */
export function latencyHistogram() {
  return hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  });
}
