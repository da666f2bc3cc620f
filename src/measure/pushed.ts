/** What a hub calls at its clients on its own, beyond what a run expects: by the names of callbacks, as many as anybody reads. */

/** Of the measured time of a step. */
export interface PushedSummary {
  /** Client method as the hub calls it; {@link otherPushes} for those beyond the first hundred names. */
  readonly name: string;
  readonly messages: number;
  /** Of the messages without what marks their ends; null where nobody sees them. */
  readonly bytes: number | null;
  readonly perSecond: number;
}

export interface PushedSample extends Pick<PushedSummary, 'name' | 'messages'> {
  /** NaN where nobody sees them. */
  readonly bytes: number;
}

/** Of all names beyond the first {@link mostPushedNames}: a hostile server may invent as many as it likes. */
export const otherPushes = '…';
export const mostPushedNames = 100;
const longestName = 100;

interface Counts {
  messages: number;
  bytes: number;
}

export class PushedCounts {
  private readonly counts = new Map<string, Counts>();

  /** Negative numbers take back what turned out to be expected. */
  add(name: string, messages: number, bytes: number): void {
    let own = this.counts.get(name);
    if (own === undefined) {
      const isFull = this.counts.size >= mostPushedNames;
      const key = isFull ? otherPushes : name.slice(0, longestName);
      own = this.counts.get(key) ?? { messages: 0, bytes: 0 };
      this.counts.set(key, own);
    }
    own.messages += messages;
    own.bytes += bytes;
  }

  /** What was counted since the last call; absent: nothing. */
  take(): PushedSample[] | undefined {
    if (this.counts.size === 0) return undefined;
    const taken = [...this.counts].flatMap(([name, counts]) =>
      counts.messages === 0 ? [] : [{ name, ...counts }],
    );
    this.counts.clear();
    return taken.length === 0 ? undefined : taken;
  }

  /** How often a client method was called, in whatever case: that of names of client methods does not matter. */
  times(method: string): number {
    let sum = 0;
    for (const [name, { messages }] of this.counts)
      if (name.toLowerCase() === method.toLowerCase()) sum += messages;
    return sum;
  }

  /** Those that came most often first. */
  summary(seconds: number): PushedSummary[] {
    return [...this.counts]
      .filter(([, { messages }]) => messages > 0)
      .map(([name, { messages, bytes }]) => ({
        ...{ name, messages, bytes: Number.isNaN(bytes) ? null : bytes },
        perSecond: seconds > 0 ? Math.round((messages / seconds) * 1000) / 1000 : 0,
      }))
      .sort((a, b) => b.messages - a.messages);
  }
}
