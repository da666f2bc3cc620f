/** Names of everything that is counted for a step; `in` is client → service. */
const countNames = [
  'offered',
  'sent',
  'expected',
  'received',
  'duplicated',
  'outOfOrder',
  'late',
  'extra',
  'payloadBytesIn',
  'payloadBytesOut',
  'wireBytesIn',
  'wireBytesOut',
] as const;

/** Counts of one step as plain data; their meaning: {@link import('../show/summary').StepSummary}. */
export type Counts = Readonly<Record<(typeof countNames)[number], number>>;

/** The same, being counted. Fields are written directly: this is the hot path of a worker. */
export class StepCounts implements Counts {
  offered = 0;
  sent = 0;
  expected = 0;
  received = 0;
  duplicated = 0;
  outOfOrder = 0;
  late = 0;
  extra = 0;
  payloadBytesIn = 0;
  payloadBytesOut = 0;
  wireBytesIn = 0;
  wireBytesOut = 0;

  addCounts(counts: Counts): void {
    for (const name of countNames) this[name] += counts[name];
  }

  /** What was counted since the last call. */
  takeCounts(): Counts {
    const taken = Object.fromEntries(countNames.map((name) => [name, this[name]])) as Counts;
    for (const name of countNames) this[name] = 0;
    return taken;
  }
}
