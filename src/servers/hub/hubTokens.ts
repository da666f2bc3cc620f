import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { objectIn } from '../../wire/message/jsonScan';
import { splitUrl, type Refusal } from '../http/loopbackServer';

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
    const { authorization = '' } = request.headers;
    const inHeader = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    const token = inHeader ?? splitUrl(request).query.get('access_token') ?? '';
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
