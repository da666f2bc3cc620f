import type { SearchStep, SearchSummary } from '../../src/base/searchSummary';

const p99 = { metric: 'p99', limit: 1_000_000, value: 1_060_000 } as const;

const step = (index: number, value: number, p50: number, latencyUs: number): SearchStep => ({
  ...{ index, value, p50, p99: latencyUs, lost: 0 },
  status: latencyUs > 1_000_000 ? 'fail' : 'pass',
  ...(latencyUs > 1_000_000 && { broken: { ...p99, value: latencyUs } }),
});

/** That of the drawing: passed at 681 senders, failed at 687. */
export const searchSample: SearchSummary = {
  ...{ of: 'senders', from: 100, to: 1000, precision: 0.05, budgetMs: 600_000 },
  ...{ low: 681, high: 687, unit: 5, ended: 'found', broken: p99, elapsedMs: 400_000 },
  steps: [
    step(1, 100, 1100, 4000),
    step(2, 200, 1200, 5000),
    step(3, 400, 1500, 9000),
    step(4, 800, 620_000, 1_900_000),
    step(5, 600, 3100, 38_000),
    step(6, 700, 41_000, 1_300_000),
    step(7, 650, 5400, 210_000),
    step(8, 675, 9000, 870_000),
    step(9, 687, 14_000, 1_060_000),
    step(10, 687, 14_100, 1_080_000),
    step(11, 681, 11_000, 940_000),
    step(12, 681, 11_200, 930_000),
  ],
};
