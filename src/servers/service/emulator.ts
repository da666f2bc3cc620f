/** What both emulators share: keys and tokens, routes, quotas and calls of upstream handlers. */
import { SignJWT } from 'jose';
import { ConnectionServer, loopbackHost, type Terminable } from '../http/loopbackServer';
import { ConnectionQuota } from './connectionQuota';
import type { EmulatorOptions } from './emulatorOptions';
import { TokenCheck, type TokenClaims } from './tokenCheck';

/** The key that Microsoft's emulator has: known to everyone, for nothing here is worth a secret. */
const publicAccessKey = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGH';
/** Under which this machine may be asked for. */
const names = [loopbackHost, 'localhost', '[::1]'];

/** What the emulators of both services have in common: keys, tokens, quota. */
export abstract class Emulator<Connection extends Terminable> extends ConnectionServer<Connection> {
  /** Tokens of applications and of clients. */
  readonly accessTokens: TokenCheck;
  readonly quota: ConnectionQuota;
  protected accessKeys: readonly string[];

  constructor({ accessKeys, signIns, ...quota }: EmulatorOptions, maxMessageBytes: number) {
    super(maxMessageBytes);
    this.accessKeys = accessKeys ?? [publicAccessKey];
    this.accessTokens = new TokenCheck({ accessKeys: this.accessKeys, signIns });
    this.quota = new ConnectionQuota(quota);
  }

  /** From now on these access keys are accepted, and no others; the first one is the primary. */
  rotateKeys(accessKeys: readonly string[]): void {
    this.accessKeys = accessKeys;
    this.accessTokens.rotate(accessKeys);
  }

  /** All URLs under which a path of this server can be asked for. */
  urlsOf(path: string): readonly string[] {
    return names.map((name) => `http://${name}:${this.port}${path}`);
  }

  /** A token for a client, signed with the primary key. */
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

/** Longest names, as in the validators of Microsoft's emulator. */
const maxNameChars = 1024;

/** Names of groups: up to 1,024 characters that are not all blank. */
export const isGroupName = (name: string): boolean =>
  name.length <= maxNameChars && name.trim() !== '';

/** Whether the groups of a user with this id are remembered. */
export const isUserId = (id: string): boolean => id.length <= maxNameChars && id !== '';

/** The parts of a path, decoded; undefined when it cannot be. */
export function partsOf(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** The value that a text in JSON stands for; undefined when it is none. */
export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
