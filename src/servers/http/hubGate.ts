import type { IncomingMessage } from 'node:http';
import { isProbe } from '../../wire/connect/probeMark';
import type { BenchHubKnobs } from '../hub/benchHubOptions';

/** An HTTP answer that turns a client away. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the gate has turned away. */
export interface GateCounts {
  refused: number;
  throttled: number;
}

/** Turns the first connects away as the knobs `refuse` and `throttle` say. */
export class HubGate {
  readonly counts: GateCounts = { refused: 0, throttled: 0 };

  constructor(private readonly knobs: BenchHubKnobs) {}

  /** To be asked once per connect; undefined lets it in, as it does with those who only ask before a run. */
  refusal({ headers }: Pick<IncomingMessage, 'headers'>): Refusal | undefined {
    if (isProbe(headers)) return undefined;
    const { refuse = 0, throttle } = this.knobs;
    if (this.counts.refused < refuse) {
      this.counts.refused++;
      return { status: 503, text: 'This connect is refused on purpose (--refuse).' };
    }
    if (throttle !== undefined && this.counts.throttled < throttle.count) {
      this.counts.throttled++;
      return {
        status: 429,
        text: 'This connect is throttled on purpose (--throttle).',
        headers: { 'Retry-After': String(throttle.retryAfterS) },
      };
    }
    return undefined;
  }
}
