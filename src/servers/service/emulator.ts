import { compactVerify, decodeProtectedHeader, errors } from 'jose';
import { ConnectionServer, loopbackHost, type Terminable } from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import type { EmulatorOptions, QuotaOptions, SignInCheck } from './emulatorOptions';
import { randomBytes } from 'node:crypto';
import type { SigningKey } from '../../base/endpoint';
import { signToken } from '../../wire/connect/accessTokens';
import { isNestedTooDeep, parseObject } from '../../wire/message/jsonScan';
import { decodeOrKeep } from '../../wire/socket/proxy';
import { connectionLimit, connectRateLimit } from '../../base/serviceTraits';

/** The public key of Microsoft's emulator. */
const publicAccessKey = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGH';
const names = [loopbackHost, 'localhost', '[::1]'];

export abstract class Emulator<Connection extends Terminable> extends ConnectionServer<Connection> {
  readonly accessTokens: TokenCheck;
  readonly quota: ConnectionQuota;
  accessKeys: readonly string[];

  constructor({ accessKeys, signIns, ...quota }: EmulatorOptions, maxMessageBytes: number) {
    super(maxMessageBytes);
    this.accessKeys = accessKeys ?? [publicAccessKey];
    this.accessTokens = new TokenCheck({ accessKeys: this.accessKeys, signIns });
    this.quota = new ConnectionQuota(quota);
  }

  abstract readonly upstream: { dispose(): void };

  override async dispose(): Promise<void> {
    await super.dispose();
    this.upstream.dispose();
  }

  urlsOf(path: string): readonly string[] {
    return names.map((name) => `http://${name}:${this.port}${path}`);
  }

  clientToken(path: string, claims: TokenClaims, minutes: number): Promise<string> {
    const { accessKey } = this;
    const nowS = Math.floor(Date.now() / 1000);
    return signToken({ accessKey }, this.urlsOf(path)[0]!, claims, nowS, 60 * minutes);
  }

  protected get accessKey(): string {
    return this.accessKeys[0] ?? '';
  }
}

const maxNameChars = 1024;

/** A group name has 1 to 1,024 characters and is not blank. */
export const isGroupName = (name: string): boolean =>
  name.length <= maxNameChars && name.trim() !== '';

export const isUserId = (id: string): boolean => id.length <= maxNameChars && id !== '';

export function decodePath(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

export function parseJson(body: Buffer): unknown {
  const text = body.toString('utf8');
  if (isNestedTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export class ConnectionQuota {
  refused = 0;
  private used = 0;
  private readonly limit: number;
  private readonly perSecond: number;
  private free: number;
  private filledMs = 0;

  constructor({ unit, limitConnectRate }: QuotaOptions) {
    this.limit = connectionLimit(unit);
    this.perSecond = limitConnectRate === true ? connectRateLimit(unit) : Infinity;
    this.free = this.perSecond;
  }

  refusal(nowMs = performance.now()): Refusal | undefined {
    if (this.used >= this.limit) {
      this.refused++;
      const text = `The quota of ${this.limit} connections is used up.`;
      return { status: 429, text };
    }
    if (this.perSecond === Infinity) return undefined;
    const passedS = Math.max(0, nowMs - this.filledMs) / 1000;
    this.free = Math.min(this.perSecond, this.free + passedS * this.perSecond);
    this.filledMs = nowMs;
    if (this.free >= 1) return undefined;
    this.refused++;
    const text = `More than ${this.perSecond} new connections per second.`;
    return { status: 429, text, headers: { 'Retry-After': '1' } };
  }

  take(): void {
    this.used++;
    this.free--;
  }

  release(): void {
    this.used--;
  }
}

export type TokenClaims = Readonly<Record<string, unknown>>;

/** The claims of an accepted token, or the HTTP status and text that refuse it; never the token itself. */
type TokenOutcome = AcceptedToken | { readonly status: 401 | 403 | 413; readonly text: string };

interface AcceptedToken {
  readonly claims: TokenClaims;
  readonly expiresMs: number;
}

interface TokenCheckOptions {
  readonly accessKeys: readonly string[];
  readonly signIns?: SignInCheck | undefined;
  readonly nowMs?: () => number;
}

const maxTokenChars = 4096;
const maxRemembered = 10_000;
const algorithms = ['HS256', 'HS512'];
const toleranceMs = 30_000;
const maxIssuedKeys = 2;

const malformed = 'The access token is not a signed JSON web token.';

function refused(text: string, status: 401 | 403 | 413 = 401): TokenOutcome {
  return { status, text };
}

/** Checks bearer tokens signed with an access key: signature, expiry, audience. */
export class TokenCheck {
  private keys: readonly Uint8Array[] = [];
  private issuedKeys: readonly SigningKey[] = [];
  private readonly signIns: SignInCheck | undefined;
  private readonly verifiedTokens = new Map<string, AcceptedToken>();
  private readonly lastUrls = new WeakMap<AcceptedToken, string>();
  private readonly nowMs: () => number;

  constructor({ accessKeys, signIns, nowMs = Date.now }: TokenCheckOptions) {
    this.signIns = signIns;
    this.nowMs = nowMs;
    this.rotate(accessKeys);
  }

  rotate(accessKeys: readonly string[]): void {
    // The key is the text: it looks like base64 but is not decoded.
    this.keys = accessKeys.map((key) => new TextEncoder().encode(key));
    this.verifiedTokens.clear();
  }

  /** Creates a key for an application that has signed in; older keys stop working. */
  issueKey(): SigningKey {
    const key = { id: randomBytes(8).toString('hex'), text: randomBytes(32).toString('base64') };
    this.issuedKeys = [key, ...this.issuedKeys].slice(0, maxIssuedKeys);
    this.verifiedTokens.clear();
    return key;
  }

  async checkApplication(
    token: string | undefined,
    urls: readonly string[],
  ): Promise<TokenOutcome> {
    const outcome = await this.check(token, urls);
    if (!('status' in outcome) || this.signIns === undefined || token === undefined) return outcome;
    switch (this.signIns(token)) {
      case 'accepted':
        return { claims: {}, expiresMs: Infinity };
      case 'forbidden':
        return refused('The identity has no role for this.', 403);
      case 'unauthorized':
        return refused('The token of Microsoft Entra ID is not valid here.');
    }
  }

  async check(token: string | undefined, urls: readonly string[]): Promise<TokenOutcome> {
    if (token === undefined || token === '') return refused('An access token is required.');
    if (token.length > maxTokenChars)
      return refused(`An access token has at most ${maxTokenChars} characters.`, 413);
    const known = this.verifiedTokens.get(token) ?? (await this.verified(token));
    if ('status' in known) return known;
    if (known.expiresMs + toleranceMs <= this.nowMs())
      return refused('The access token has expired.');
    if (urls[0] !== undefined && this.lastUrls.get(known) === urls[0]) return known;
    const audiences = stringClaims(known.claims['aud']);
    if (audiences.some((audience) => urls.some((url) => isAudience(audience, url)))) {
      if (urls[0] !== undefined) this.lastUrls.set(known, urls[0]);
      return known;
    }
    return refused(`The audience of the access token is not ${shownAudience(urls[0] ?? '')}.`);
  }

  private async verified(token: string): Promise<TokenOutcome> {
    const { keys } = this;
    const lent = this.issuedKeyFor(token);
    for (const key of lent === undefined ? keys : [lent]) {
      try {
        const { payload } = await compactVerify(token, key, { algorithms });
        const outcome = readClaims(payload);
        // A key taken away meanwhile must not be remembered.
        if (!('status' in outcome) && keys === this.keys) this.remember(token, outcome);
        return outcome;
      } catch (error) {
        if (error instanceof errors.JWSSignatureVerificationFailed) continue;
        if (error instanceof errors.JOSEError || error instanceof TypeError) {
          return refused(malformed);
        }
        throw error;
      }
    }
    return refused('The signature of the access token does not fit the access key.');
  }

  private issuedKeyFor(token: string): Uint8Array | undefined {
    if (this.issuedKeys.length === 0) return undefined;
    try {
      const { kid } = decodeProtectedHeader(token);
      const key = this.issuedKeys.find(({ id }) => id === kid);
      return key === undefined ? undefined : new TextEncoder().encode(key.text);
    } catch {
      return undefined;
    }
  }

  private remember(token: string, outcome: AcceptedToken): void {
    if (this.verifiedTokens.size >= maxRemembered) {
      const [oldest = ''] = this.verifiedTokens.keys();
      this.verifiedTokens.delete(oldest);
    }
    this.verifiedTokens.set(token, outcome);
  }
}

function readClaims(payload: Uint8Array): TokenOutcome {
  const claims = parseObject(new TextDecoder().decode(payload));
  if (claims === undefined) return refused(malformed);
  const { exp } = claims;
  // `nbf` and `iat` are written by the libraries, and not looked at by the services.
  if (typeof exp !== 'number') return refused('The access token has no expiry.');
  return { claims, expiresMs: exp * 1000 };
}

export const claimToStrings = (claim: unknown): string[] =>
  (Array.isArray(claim) ? claim : [claim]).map((value: unknown) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );

/** The strings of a claim that may be a list: roles, groups, audiences. */
export function stringClaims(claim: unknown): string[] {
  return (Array.isArray(claim) ? claim : [claim]).filter((text) => typeof text === 'string');
}

function segments({ pathname }: URL): string[] {
  return pathname.split('/').filter((part, index, all) => part !== '' || index < all.length - 1);
}

/**
 * Scheme, host and path must be equal, the port too unless it is missing; the query may ask for less than the URL.
 */
function isAudience(audience: string, url: string): boolean {
  if (!URL.canParse(audience) || !URL.canParse(url)) return false;
  const [asked, own] = [new URL(audience), new URL(url)];
  if (asked.protocol !== own.protocol || asked.hostname !== own.hostname) return false;
  if (asked.port !== '' && asked.port !== own.port) return false;
  const [askedPath, ownPath] = [segments(asked), segments(own)];
  if (askedPath.length !== ownPath.length) return false;
  if (askedPath.some((part, index) => decodeOrKeep(part) !== decodeOrKeep(ownPath[index]!)))
    return false;
  const ownQuery = own.searchParams;
  return [...asked.searchParams].every(([name, value]) => ownQuery.getAll(name).includes(value));
}

function shownAudience(url: string): string {
  if (!URL.canParse(url)) return 'what this server expects';
  const { protocol, hostname, pathname, searchParams } = new URL(url);
  const hub = searchParams.get('hub');
  const query = hub === null ? '' : `?hub=${encodeURIComponent(hub)}`;
  return `${protocol}//${hostname}${pathname}${query}`.slice(0, 300);
}
