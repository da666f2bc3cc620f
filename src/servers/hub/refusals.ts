import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isProbe } from '../../wire/connect/probeMark';
import { objectIn } from '../../wire/message/jsonScan';
import { bearerToken, splitUrl } from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import type { BenchHubKnobs } from './benchHubOptions';

/** Users that are remembered: more connections nobody opens here. */
const mostUsers = 1_000_000;

const refused = (text: string): Refusal => ({
  status: 401,
  text,
  headers: { 'WWW-Authenticate': 'Bearer' },
});

/** Lets in who shows a JSON web token of the key (RFC 7519, HS256), in the header or, as browsers do, in the query. */
export class HubTokens {
  /** Users who were let in, by the claim `sub`. */
  readonly users = new Set<string>();

  constructor(
    private readonly key: string,
    private readonly nowMs: () => number = Date.now,
  ) {}

  refusal(request: IncomingMessage): Refusal | undefined {
    const token = bearerToken(request, splitUrl(request).query) ?? '';
    const [head = '', payload = '', signature = '', more] = token.split('.');
    if (token === '') return refused('This hub wants an access token (--token-key).');
    const claims = claimsOf(payload);
    if (more !== undefined || claims === undefined || claimsOf(head)?.['alg'] !== 'HS256')
      return refused('The access token is not a JSON web token signed by HS256.');
    const wanted = createHmac('sha256', this.key).update(`${head}.${payload}`).digest();
    const shown = Buffer.from(signature, 'base64url');
    if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted))
      return refused('The signature of the access token does not fit the key.');
    const { exp, sub } = claims;
    if (typeof exp !== 'number' || exp * 1000 <= this.nowMs())
      return refused('The access token has expired, or does not say when it will.');
    if (typeof sub === 'string' && this.users.size < mostUsers) this.users.add(sub);
    return undefined;
  }
}

const claimsOf = (part: string): Readonly<Record<string, unknown>> | undefined =>
  objectIn(Buffer.from(part, 'base64url').toString('utf8'));

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
