/**
 * From this share on people are told which size leaves room. It borrows the Server Load rule of the
 * guides ("latency … remains low if the Server Load is below 70%") and the autoscale advice for
 * connections; neither says what Server Load was during the measurements.
 */
export const cautionFrom = 0.7;
