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

/** A route of a REST API: `{…}` in its path is a name. */
export interface Route<Run> {
  readonly method: string;
  readonly path: readonly string[];
  readonly run: Run;
}

export const route = <Run>(method: string, path: string, run: Run): Route<Run> => ({
  method,
  path: path.split('/'),
  run,
});

/**
 * The route of a request, and the names in its path.
 * @param parts of the path, decoded
 * @returns the methods that the path has when this is none of them; none for no such path
 */
export function findRoute<Run>(
  routes: readonly Route<Run>[],
  method: string,
  parts: readonly string[],
): { readonly route: Route<Run>; readonly names: readonly string[] } | readonly string[] {
  const isName = (part: string): boolean => part.startsWith('{');
  const atPath = routes.filter(
    ({ path }) =>
      path.length === parts.length &&
      path.every((part, index) => isName(part) || part === parts[index]),
  );
  const found = atPath.find((candidate) => candidate.method === method);
  return found === undefined
    ? atPath.map((candidate) => candidate.method)
    : { route: found, names: parts.filter((_, index) => isName(found.path[index]!)) };
}

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

/**
 * What a registration names: one handler, or a list of them in `handlers`; undefined for anything else.
 * @param read one handler; undefined when it is none
 */
export function handlersIn<Handler>(
  body: unknown,
  read: (fields: Readonly<Record<string, unknown>>) => Handler | undefined,
): readonly Handler[] | undefined {
  const { handlers = [body] } = (body ?? {}) as { handlers?: unknown };
  if (!Array.isArray(handlers)) return undefined;
  const all = handlers.flatMap(
    (each: unknown) => read((each ?? {}) as Record<string, unknown>) ?? [],
  );
  return all.length === handlers.length ? all : undefined;
}
