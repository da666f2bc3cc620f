import type { Endpoint, IdentityRow, SignedInPass } from '../base/endpoint';
import type { ErrorClass } from '../base/errorClass';
import type { Event } from '../base/async';

export type ProblemListener = (text: string, count: number) => void;

const mostWaiting = 100;

/** What goes wrong with the servers that were started for a target, from its opening to the run's end. */
export class TargetProblems {
  private waiting: (readonly [string, number])[] = [];
  private listener: ProblemListener | undefined;

  readonly report: ProblemListener = (text, count) => {
    if (this.listener !== undefined) this.listener(text, count);
    else if (this.waiting.length < mostWaiting) this.waiting.push([text, count]);
  };

  listen(listener: ProblemListener): void {
    this.listener = listener;
    for (const [text, count] of this.waiting.splice(0)) listener(text, count);
  }
}

export interface TargetContext {
  reference(kind: 'env' | 'secret', name: string): string | undefined;
  /** What the environment says of proxies and sign-ins; absent: as references have it. */
  readonly setting?: (name: string) => string | undefined;
  /** Names of other machines that may get load; absent: any. */
  readonly allowedHosts?: readonly string[];
  /** Why nobody may be signed in with what this machine knows; absent: one may. */
  readonly noSignIn?: string;
  readonly serverScript: string;
  /** Reads a file the scenario names, relative to the scenario file. */
  readFile(path: string, mostBytes?: number): Promise<string>;
  /** Where the scenario file is, for files that are read piece by piece; absent: the folder of the process. */
  readonly folder?: string;
  /** Where commands of the scenario run; absent: none may be run. */
  readonly commandFolder?: string;
  readonly onProblem?: ProblemListener;
  readonly editorAccount?: EditorAccount;
}

/** @param tenantId in which it must be signed in, if that matters */
export type EditorAccount = (
  scope: string,
  tenantId: string | undefined,
  mayAsk: boolean,
) => Promise<EntraToken | undefined>;

export interface SignInPasses {
  readonly current: SignedInPass;
  readonly onRenewed: Event<SignedInPass>;
  /** Why it could not be renewed, in a sentence; it is tried again. */
  readonly onProblem: Event<string>;
}

/** Who is asked for identities: a command, or a token endpoint. */
export interface IdentityCalls {
  /** As far as they are had, and with their newest tokens. */
  readonly current: readonly IdentityRow[];
  /** The first of them alone, to ask the target with. @throws ExpectedError `identities` */
  first(): Promise<readonly IdentityRow[]>;
  /** The others, and from then on new ones before they expire; settles with what went wrong, in a sentence. */
  all(progress: (done: number, count: number) => void): Promise<string | undefined>;
  readonly onRenewed: Event<readonly (readonly [position: number, row: IdentityRow])[]>;
  readonly onProblem: Event<string>;
  dispose(): void;
}

/** An endpoint whose identities were asked for. */
export const withIdentities = (endpoint: Endpoint, rows: readonly IdentityRow[]): Endpoint => ({
  ...endpoint,
  personal: { headers: {}, query: {}, ...endpoint.personal, identities: { kind: 'rows', rows } },
});

export interface OpenTarget {
  readonly kind: string;
  readonly endpoint: Endpoint;
  /** Values that must not be shown or stored wherever they turn up. New ones come when a sign-in is renewed. */
  readonly secrets: readonly string[];
  /** For people and results: no query, no secrets. */
  readonly url: string;
  readonly emulated?: true;
  /** Names and ports of other machines that get load, each once; none: all of it stays on this one. */
  readonly hostsBeyond: readonly string[];
  readonly problems?: TargetProblems;
  readonly passes?: SignInPasses;
  /** Its endpoint has no identities before they are asked for. */
  readonly identityCalls?: IdentityCalls;
  /** What a person should know before the run, in a sentence. */
  readonly notice?: string;
  dispose(): Promise<void>;
}

/** What a service says to somebody with a connection string. `url` has no secrets. */
export type ServiceProbe = { readonly url: string } & (
  | {
      readonly reachable: true;
      /** Whether somebody has signed in; else it was the key. */
      readonly signedIn: boolean;
      readonly connectMs: number;
      /** What the identity lacks for REST calls, which only serverless scenarios need; absent when it may. */
      readonly missingRestRole?: string;
    }
  | { readonly reachable: false; readonly errorClass: ErrorClass; readonly message: string }
);

export interface EntraToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Gives the newest pass now, since it may have been renewed while somebody started, and each one after it. */
export function followPasses(
  passes: SignInPasses | undefined,
  take: (pass: SignedInPass) => void,
): void {
  if (passes === undefined) return;
  take(passes.current);
  passes.onRenewed(take);
}

/** A token that does not say when it expires is good for so long at least. */
const shortestMs = 5 * 60_000;

/** When a JSON web token expires, in milliseconds since 1970; soon after `nowMs` where it does not say. */
export function tokenExpiry(token: string, nowMs: number): number {
  return jwtExpiryMs(token) ?? nowMs + shortestMs;
}

/** When a JSON web token expires, in milliseconds since 1970; undefined where it does not say. */
export function jwtExpiryMs(token: string): number | undefined {
  const [, payload = ''] = token.split('.', 3);
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      exp?: unknown;
    };
    if (typeof exp === 'number' && Number.isFinite(exp)) return exp * 1000;
  } catch {
    // No JSON web token.
  }
  return undefined;
}
