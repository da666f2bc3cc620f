import { inBackground, Emitter } from '../../base/async';
import type { SignedInPass, Endpoint, ServiceHub } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { services, type AzureTraits } from '../../base/serviceTraits';
import type { EntraSignIn } from '../../scenario/target/targetKinds';
import { AccessTokens } from '../../wire/connect/accessTokens';
import { RestCalls, type ServiceFailure } from '../../wire/rest/restCalls';
import type { SignInPasses, EntraToken, TargetContext, EditorAccount } from '../target';

/** az and others return the old token until 5 minutes before its end. */
const marginMs = 4 * 60_000;
/** Lent keys end after 90 minutes; their document advises to renew them hourly. */
const longestMs = 55 * 60_000;
const shortestMs = 10_000;

export function renewalDelayMs(expiresAtMs: number, nowMs: number): number {
  const leftMs = expiresAtMs - nowMs - marginMs;
  return leftMs > 0 ? Math.min(longestMs, leftMs) : shortestMs;
}

export class SignIn implements SignInPasses {
  private readonly renewals = new Emitter<SignedInPass>();
  private readonly problems = new Emitter<string>();
  readonly onRenewed = this.renewals.event;
  readonly onProblem = this.problems.event;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  private constructor(
    private pass: SignedInPass,
    expiresAtMs: number,
    private readonly ways: SignInWays,
  ) {
    this.note(pass);
    this.renewLater(renewalDelayMs(expiresAtMs, Date.now()));
  }

  /** @throws ExpectedError `sign-in`, or as the service answers */
  static async open(ways: SignInWays): Promise<SignIn> {
    const { pass, expiresAtMs } = await passOf(ways);
    return new SignIn(pass, expiresAtMs, ways);
  }

  get current(): SignedInPass {
    return this.pass;
  }

  dispose(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.renewals.dispose();
    this.problems.dispose();
  }

  private renewLater(inMs: number): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => inBackground(this.renew()), inMs);
    // The timer must not keep the process alive.
    this.timer.unref();
  }

  private async renew(): Promise<void> {
    let inMs = shortestMs;
    try {
      const { pass, expiresAtMs } = await passOf(this.ways);
      if (this.isOver) return;
      this.note(pass);
      this.pass = pass;
      this.renewals.fire(pass);
      inMs = renewalDelayMs(expiresAtMs, Date.now());
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      this.problems.fire(`The sign-in could not be renewed. ${error.message}`);
    }
    this.renewLater(inMs);
  }

  private note({ bearer, signingKey }: SignedInPass): void {
    const { secrets } = this.ways;
    const values = [bearer, ...(signingKey === undefined ? [] : [signingKey.text])];
    for (const value of values.flatMap((each) => [each, encodeURIComponent(each)]))
      if (!secrets.includes(value)) secrets.push(value);
  }
}

async function passOf({ token: fetch, passFor, secrets }: SignInWays) {
  const { token, expiresAtMs } = await fetch();
  secrets.push(token);
  return { pass: await passFor(token), expiresAtMs };
}

interface SignInWays {
  readonly token: () => Promise<EntraToken>;
  readonly passFor: (bearer: string) => Promise<SignedInPass>;
  readonly secrets: string[];
}

const answerMs = 60_000;

export type SignInPurpose = keyof AzureTraits['identityRoles'];

/** @param secrets grows with tokens and keys @throws ExpectedError `sign-in`; `target-unreachable`; `service` */
export async function openSignIn(
  signIn: EntraSignIn,
  { hub, endpoint, purpose }: { hub: ServiceHub; endpoint: Endpoint; purpose: SignInPurpose },
  context: TargetContext,
  secrets: string[],
): Promise<SignIn> {
  const { clientCertificateFile } = signIn;
  const certificate =
    clientCertificateFile === undefined ? undefined : await context.readFile(clientCertificateFile);
  const identity = async (scope: string): Promise<EntraToken> => {
    const { credentialToken } = await import('./credential.js');
    return inTime(credentialToken(signIn, certificate, scope), signIn);
  };
  let mustCheck = true;
  return SignIn.open({
    token: chooseTokenSource(signIn, services[hub.kind].scope, context.editorAccount, identity),
    passFor: (bearer) => {
      const checks = mustCheck && purpose === 'rest';
      mustCheck = false;
      return withCalls(endpoint, { ...hub, bearer }, purpose, checks);
    },
    secrets,
  });
}

/** Some ways to sign in never end when nobody answers. */
async function inTime(answer: Promise<EntraToken>, signIn: EntraSignIn): Promise<EntraToken> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const message = `Microsoft Entra ID did not answer within ${answerMs / 1000} s.`;
    timer = setTimeout(() => reject(new ExpectedError('sign-in', message)), answerMs);
  });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    throw error instanceof ExpectedError ? error : signInFailure(error, signIn);
  } finally {
    clearTimeout(timer);
  }
}

/** Fetches a lent key, and checks once that the service accepts the token. */
async function withCalls(
  endpoint: Endpoint,
  access: ServiceHub & { readonly bearer: string },
  purpose: SignInPurpose,
  checks: boolean,
): Promise<SignedInPass> {
  const { bearer, kind } = access;
  const { lendsKey } = services[kind];
  const calls = new RestCalls(endpoint, access, new AccessTokens(access), () => undefined);
  const good = <T extends object | string>(answer: T | ServiceFailure): T => {
    if (typeof answer === 'object' && 'errorClass' in answer)
      throw refusal(answer, access, purpose);
    return answer;
  };
  try {
    const key = lendsKey ? { signingKey: good(await calls.signingKey()) } : {};
    if (checks) {
      const absent = await calls.groupExists('signalr-bench-sign-in');
      if (absent !== undefined && absent.errorClass !== 'notFound') good(absent);
      if (!lendsKey) good(await calls.clientToken(0));
    }
    return { bearer, ...key };
  } finally {
    calls.close();
  }
}

function refusal(failure: ServiceFailure, hub: ServiceHub, purpose: SignInPurpose): ExpectedError {
  const { errorClass, text } = failure;
  const { kind, restUrl } = hub;
  const { host } = new URL(restUrl);
  const { name, identityRoles } = services[kind];
  const said = text.replace(/\.$/, '');
  if (errorClass === 'notFound')
    return new ExpectedError('service', `${host} answers, but not as ${name} (${said}).`);
  if (errorClass !== 'unauthorized')
    return new ExpectedError('target-unreachable', `${host} cannot be signed in to: ${said}.`);
  return new ExpectedError(
    'sign-in',
    `${host} does not let in who is signed in (${said}): assign the role ${identityRoles[purpose]} to the identity in the access control of the resource, which may take up to 30 minutes to have effect, and see that the tenant is the resource's own.`,
  );
}

/**
 * For `AuthType=azure` without an identity: first the editor's account without a question, then @azure/identity, then the
 * editor's account with one question.
 */
export function chooseTokenSource(
  { kind, clientId, tenantId }: EntraSignIn,
  scope: string,
  account: EditorAccount | undefined,
  identity: (scope: string) => Promise<EntraToken>,
): () => Promise<EntraToken> {
  const editors = kind === 'default' && clientId === undefined ? account : undefined;
  let isFirst = true;
  return async () => {
    const mayAsk = isFirst;
    isFirst = false;
    const known = await editors?.(scope, tenantId, false);
    if (known !== undefined) return known;
    try {
      return await identity(scope);
    } catch (error) {
      if (!mayAsk || !(error instanceof ExpectedError)) throw error;
      const asked = await editors?.(scope, tenantId, true);
      if (asked === undefined) throw error;
      return asked;
    }
  };
}

/** Source: "Microsoft Entra authentication error codes". */
const byCode: readonly (readonly [codes: readonly number[], says: string])[] = [
  [[90002, 900023], 'does not know the tenant: correct TenantId, or AZURE_TENANT_ID'],
  [
    [700016],
    'does not know the application in this tenant: correct ClientId or TenantId (AZURE_CLIENT_ID, AZURE_TENANT_ID)',
  ],
  [
    [7000215, 7000222],
    'does not take the client secret, which is wrong or has expired: make a new one for the application',
  ],
  [
    [700027],
    'does not know the certificate: add it to the application, under certificates & secrets',
  ],
  [
    [500011, 65001],
    'does not know the service in this tenant: sign in to the tenant that the resource belongs to (`az login --tenant TENANT`, or TenantId in the connection string)',
  ],
  [
    [50076, 50078, 50079, 50173, 70043, 700082],
    'wants this account to sign in again: run `az login`',
  ],
];

export function signInFailure(error: unknown, signIn: EntraSignIn): ExpectedError {
  const text = textOf(error);
  return new ExpectedError('sign-in', sentence(text, signIn), { cause: error });
}

function textOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return '';
  const { cause, message } = error;
  const errors = (error as { errors?: unknown }).errors;
  const inner: readonly unknown[] = Array.isArray(errors) ? errors.slice(0, 20) : [];
  return [message, ...[...inner, cause].map((each) => textOf(each, depth + 1))].join('\n');
}

function sentence(text: string, { kind, clientId }: EntraSignIn): string {
  const code = /\bAADSTS(\d{4,8})\b/.exec(text)?.[1];
  if (code !== undefined) {
    const known = byCode.find(([codes]) => codes.includes(Number(code)));
    const says = known?.[1] ?? 'refuses the sign-in: look up its code in the documentation';
    return `Microsoft Entra ID ${says} (AADSTS${code}).`;
  }
  if (/Invalid tenant id/i.test(text))
    return 'The TenantId, or AZURE_TENANT_ID, is neither the id nor the domain of a tenant: correct it.';
  if (/Invalid value for AZURE_TOKEN_CREDENTIALS/.test(text))
    return 'The environment variable AZURE_TOKEN_CREDENTIALS names no way to sign in: write dev, prod or the name of a credential, or remove it.';
  if (kind === 'managedIdentity')
    return clientId === undefined
      ? 'This machine has no managed identity: AuthType=azure.msi is for machines of Azure; elsewhere write AuthType=azure and run `az login`. Where HTTP_PROXY is set, NO_PROXY must name 169.254.169.254.'
      : 'This machine has no managed identity with the ClientId of the connection string: assign it to the machine, or correct ClientId.';
  if (kind === 'application')
    return /certificate|PEM|key/i.test(text) && !networkError.test(text)
      ? 'The certificate of the application (ClientCert) cannot be used: the file has to hold the certificate and its key, in PEM form.'
      : 'Microsoft Entra ID cannot be reached to sign the application in: see whether login.microsoftonline.com can be reached from here, and correct TenantId.';
  return `Nobody is signed in to Microsoft Entra ID: ${azAdvice(text)}, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or use a machine with a managed identity.`;
}

const networkError =
  /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|network_error|endpoints_resolution|openid_config/;

function azAdvice(text: string): string {
  return /Azure CLI could not be found/.test(text)
    ? 'the Azure CLI is not installed; install it and run `az login`'
    : 'run `az login`';
}
