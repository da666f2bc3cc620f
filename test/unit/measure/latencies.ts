import { LatencyHistogram } from '../../../src/measure/histogram';

export const noLatency = new LatencyHistogram().summary();
