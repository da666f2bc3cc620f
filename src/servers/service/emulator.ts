/** What both emulators share: keys and tokens, routes, quotas and calls of upstream handlers. */
import { SignJWT } from 'jose';
import { connectionLimit, connectRateLimit } from '../../base/serviceLimits';
import {
  ConnectionServer,
  loopbackHost,
  type Refusal,
  type Terminable,
} from '../http/loopbackServer';
import type { EmulatorOptions, QuotaOptions } from './emulatorOptions';
import { TokenCheck, type TokenClaims } from './tokenCheck';

/** The key that Microsoft's emulator has: known to everyone, for nothing here is worth a secret. */
const publicAccessKey = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGH';
const names = [loopbackHost, 'localhost', '[::1]'];

export abstract class Emulator<Connection extends Terminable> extends ConnectionServer<Connection> {
  readonly accessTokens: TokenCheck;
  readonly quota: ConnectionQuota;
  protected accessKeys: readonly string[];

  constructor({ accessKeys, signIns, ...quota }: EmulatorOptions, maxMessageBytes: number) {
    super(maxMessageBytes);
    this.accessKeys = accessKeys ?? [publicAccessKey];
    this.accessTokens = new TokenCheck({ accessKeys: this.accessKeys, signIns });
    this.quota = new ConnectionQuota(quota);
  }

  rotateKeys(accessKeys: readonly string[]): void {
    this.accessKeys = accessKeys;
    this.accessTokens.rotate(accessKeys);
  }

  urlsOf(path: string): readonly string[] {
    return names.map((name) => `http://${name}:${this.port}${path}`);
  }

  clientToken(path: string, claims: TokenClaims, minutes: number): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setAudience(this.urlsOf(path)[0]!)
      .setIssuedAt()
      .setExpirationTime(`${minutes} minutes`)
      .sign(Buffer.from(this.accessKey, 'utf8'));
  }

  protected get accessKey(): string {
    return this.accessKeys[0] ?? '';
  }
}

const maxNameChars = 1024;

/** Names of groups: up to 1,024 characters that are not all blank. */
export const isGroupName = (name: string): boolean =>
  name.length <= maxNameChars && name.trim() !== '';

export const isUserId = (id: string): boolean => id.length <= maxNameChars && id !== '';

export function partsOf(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Counts connections, those of app servers too, against what the resource's size allows. */
export class ConnectionQuota {
  refused = 0;
  private used = 0;
  private readonly limit: number;
  private readonly perSecond: number;
  /** Connections that may be opened at once: at most those of one second. */
  private free: number;
  private filledMs = 0;

  constructor({ unit, limitConnectRate }: QuotaOptions) {
    this.limit = connectionLimit(unit);
    this.perSecond = limitConnectRate === true ? connectRateLimit(unit) : Infinity;
    this.free = this.perSecond;
  }

  refusal(nowMs: number): Refusal | undefined {
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
