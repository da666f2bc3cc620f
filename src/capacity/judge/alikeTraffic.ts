import type { EstimateLoad } from '../model';

/** Messages whose mean sizes differ by more are another traffic: what they cost is not in proportion. */
const mostSizeRatio = 1.2;

/** The one of the same table, that goes the same ways, in messages of about the same size. */
export const alikeLoad = (
  loads: readonly EstimateLoad[],
  of: EstimateLoad,
): EstimateLoad | undefined =>
  loads.find((load) => {
    if (load.kind !== of.kind || load.table !== of.table) return false;
    const ways = ({ in_messages_per_s: into, out_messages_per_s: out }: EstimateLoad): string =>
      `${into > 0} ${out > 0}`;
    if (ways(load) !== ways(of)) return false;
    const ratio = meanBytes(load) / meanBytes(of);
    return Number.isNaN(ratio) || (ratio <= mostSizeRatio && ratio >= 1 / mostSizeRatio);
  });

/** Whether what is known of one tells of the other. */
export const isAlike = (known: readonly EstimateLoad[], loads: readonly EstimateLoad[]): boolean =>
  known.length === loads.length && loads.every((load) => alikeLoad(known, load) !== undefined);

const meanBytes = ({
  in_bytes_per_s: bytesIn,
  out_bytes_per_s: bytesOut,
  in_messages_per_s: messagesIn,
  out_messages_per_s: messagesOut,
}: EstimateLoad): number => (bytesIn + bytesOut) / (messagesIn + messagesOut);
