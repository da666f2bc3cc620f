import type { Endpoint, IdentityRow, SignedInPass } from '../base/endpoint';
import type { ErrorClass } from '../base/errorClass';
import type { Event } from '../base/async';
import type { EntraSignIn } from '../scenario/target/targetKinds';

export type ProblemListener = (text: string, count: number) => void;

const mostWaiting = 100;

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
  /** Environment variables for proxies and sign-ins; absent: as references. */
  readonly setting?: (name: string) => string | undefined;
  /** Other machines that may get load; absent: any. */
  readonly allowedHosts?: readonly string[];
  /** Why signing in is not allowed here; absent: it is. */
  readonly noSignIn?: string;
  readonly serverScript: string;
  readFile(path: string, mostBytes?: number): Promise<string>;
  /** Folder of the scenario file; absent: that of the process. */
  readonly folder?: string;
  readonly commandFolder?: string;
  readonly onProblem?: ProblemListener;
  readonly editorAccount?: EditorAccount;
}

export type EditorAccount = (
  scope: string,
  tenantId: string | undefined,
  mayAsk: boolean,
) => Promise<EntraToken | undefined>;

export interface SignInPasses {
  readonly current: SignedInPass;
  readonly onRenewed: Event<SignedInPass>;
  readonly onProblem: Event<string>;
}

export interface IdentityCalls {
  /** Those received so far, with their newest tokens. */
  readonly current: readonly IdentityRow[];
  /** Only the first, to probe the target. @throws ExpectedError `identities` */
  first(): Promise<readonly IdentityRow[]>;
  /** The others; afterwards tokens are renewed. Resolves with failures as a sentence. */
  all(progress: (done: number, count: number) => void): Promise<string | undefined>;
  readonly onRenewed: Event<readonly (readonly [position: number, row: IdentityRow])[]>;
  readonly onProblem: Event<string>;
  dispose(): void;
}

export const withIdentities = (endpoint: Endpoint, rows: readonly IdentityRow[]): Endpoint => ({
  ...endpoint,
  personal: { headers: {}, query: {}, ...endpoint.personal, identities: { kind: 'rows', rows } },
});

export interface OpenTarget {
  readonly kind: string;
  readonly endpoint: Endpoint;
  /** Never shown or stored. Renewed sign-ins add to it. */
  readonly secrets: readonly string[];
  /** Without query and secrets. */
  readonly url: string;
  readonly emulated?: true;
  /** Other machines that get load, each once; empty: none. */
  readonly hostsBeyond: readonly string[];
  readonly problems?: TargetProblems;
  readonly passes?: SignInPasses;
  /** The endpoint has no identities before they are requested. */
  readonly identityCalls?: IdentityCalls;
  readonly notice?: string;
  dispose(): Promise<void>;
}

/** `url` has no secrets. */
export type ServiceProbe = { readonly url: string } & (
  | {
      readonly reachable: true;
      readonly signedIn: boolean;
      readonly connectMs: number;
      /** Role that REST calls of serverless scenarios need. */
      readonly missingRestRole?: string;
    }
  | { readonly reachable: false; readonly errorClass: ErrorClass; readonly message: string }
);

export interface EntraToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

export function followPasses(
  passes: SignInPasses | undefined,
  take: (pass: SignedInPass) => void,
): void {
  if (passes === undefined) return;
  take(passes.current);
  passes.onRenewed(take);
}

/** Least lifetime of tokens without an expiry. */
const shortestMs = 5 * 60_000;

export function tokenExpiry(token: string, nowMs: number): number {
  return jwtExpiryMs(token) ?? nowMs + shortestMs;
}

/** Milliseconds since 1970; undefined where the token does not say. */
export function jwtExpiryMs(token: string): number | undefined {
  const [, payload = ''] = token.split('.', 3);
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      exp?: unknown;
    };
    if (typeof exp === 'number' && Number.isFinite(exp)) return exp * 1000;
  } catch {
    // Not a JSON web token.
  }
  return undefined;
}

export const environmentSetting = (
  { setting, reference }: Pick<TargetContext, 'setting' | 'reference'>,
  name: string,
): string | undefined => (setting === undefined ? reference('env', name) : setting(name));

/** Sources: documentation of @azure/identity, and of the instance metadata service. */
export function signInUrls(
  { kind }: Pick<EntraSignIn, 'kind'>,
  context: Pick<TargetContext, 'setting' | 'reference'>,
): string[] {
  const metadata = 'http://169.254.169.254';
  const own =
    environmentSetting(context, 'AZURE_AUTHORITY_HOST') || 'https://login.microsoftonline.com';
  const authority = own.includes('://') ? own : `https://${own}`;
  return kind === 'managedIdentity'
    ? [metadata]
    : [authority, ...(kind === 'default' ? [metadata] : [])];
}
