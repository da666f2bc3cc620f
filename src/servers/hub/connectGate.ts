import type { IncomingMessage } from 'node:http';
import { isProbe } from '../../wire/connect/probeMark';
import type { Refusal } from '../http/loopbackServer';
import type { BenchHubKnobs } from './benchHubOptions';

/** Turns the first connects away as the knobs say; not those of somebody who only asks before a run. */
export class ConnectGate {
  readonly counts = { refused: 0, throttled: 0 };

  constructor(private readonly knobs: Pick<BenchHubKnobs, 'refuse' | 'throttle'>) {}

  refusal({ headers }: IncomingMessage): Refusal | undefined {
    if (isProbe(headers)) return undefined;
    const { refuse = 0, throttle } = this.knobs;
    if (this.counts.refused < refuse) {
      this.counts.refused++;
      return { status: 503, text: 'This connect is refused on purpose (--refuse).' };
    }
    if (throttle === undefined || this.counts.throttled >= throttle.count) return undefined;
    this.counts.throttled++;
    return {
      status: 429,
      text: 'This connect is throttled on purpose (--throttle).',
      headers: { 'Retry-After': String(throttle.retryAfterS) },
    };
  }
}
