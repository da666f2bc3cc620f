/**
 * A connection that we close takes part no more a second before: what was sent to it until then is
 * still counted, and whoever is slower than the guides' second misses its objective anyway.
 */
export const leavingUs = 1_000_000;
