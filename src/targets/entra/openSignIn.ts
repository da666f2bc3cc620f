import { ExpectedError } from '../../base/expectedError';
import type { EntraSignIn } from '../../scenario/target/connectionString';
import { AccessTokens } from '../../wire/connect/accessTokens';
import type { Endpoint, ServiceHub, SignedInPass } from '../../base/endpoint';
import { RestCalls } from '../../wire/rest/restCalls';
import type { ServiceFailure } from '../../wire/rest/serviceFailure';
import type { TargetContext } from '../target';
import type { EntraCredential, EntraToken } from './entraToken';
import { SignIn } from './signIn';
import { signInFailure } from './signInFailure';
import { tokenSource } from './tokenSource';

/** Sources: "Authorize access with Microsoft Entra ID" of either service; @azure/web-pubsub. */
const scopes = {
  signalr: 'https://signalr.azure.com/.default',
  webpubsub: 'https://webpubsub.azure.com/.default',
} as const;

/** Longer than each of the ways to sign in may take, all together. */
const answerMs = 60_000;

/** What the application is going to do at the service. */
export type SignInPurpose = 'appServer' | 'rest';

/**
 * Signs in for a hub, and sees whether the service lets the identity do what the run needs.
 *
 * @param secrets grows with all that must not be shown
 * @throws ExpectedError `sign-in`; `target-unreachable`; `service` when the host is not that service
 */
export async function openSignIn(
  signIn: EntraSignIn,
  { hub, endpoint, purpose }: { hub: ServiceHub; endpoint: Endpoint; purpose: SignInPurpose },
  context: TargetContext,
  secrets: string[],
): Promise<SignIn> {
  const { clientCertificateFile } = signIn;
  const certificate =
    clientCertificateFile === undefined ? undefined : await context.readFile(clientCertificateFile);
  let opened: Promise<EntraCredential> | undefined;
  const credential = (): Promise<EntraCredential> => {
    opened ??= import('./credential.js').then(({ openCredential }) => ({
      token: (scope) => inTime(openCredential(signIn, certificate).token(scope), signIn),
    }));
    return opened;
  };
  let mustCheck = true;
  return SignIn.open({
    token: tokenSource(signIn, scopes[hub.kind], context.editorAccount, credential),
    passFor: (bearer) => {
      const checks = mustCheck && purpose === 'rest';
      mustCheck = false;
      return withCalls(endpoint, { ...hub, bearer }, purpose, checks);
    },
    secrets,
  });
}

/** A token, or why there is none; not every way to sign in ends by itself when nobody answers. */
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

/** Asks the service for what a token alone does not give, and whether it takes the token. */
async function withCalls(
  endpoint: Endpoint,
  access: ServiceHub & { readonly bearer: string },
  purpose: SignInPurpose,
  checks: boolean,
): Promise<SignedInPass> {
  const { bearer, kind } = access;
  const calls = new RestCalls(endpoint, access, new AccessTokens(access), () => undefined);
  const good = <T extends object | string>(answer: T | ServiceFailure): T => {
    if (typeof answer === 'object' && 'errorClass' in answer)
      throw refusal(answer, access, purpose);
    return answer;
  };
  try {
    const key = kind === 'signalr' ? { signingKey: good(await calls.signingKey()) } : {};
    if (checks) {
      const absent = await calls.groupExists('signalr-bench-sign-in');
      if (absent !== undefined && absent.errorClass !== 'notFound') good(absent);
      if (kind === 'webpubsub') good(await calls.clientToken(0));
    }
    return { bearer, ...key };
  } finally {
    calls.close();
  }
}

/** Lets an identity both borrow a key and make REST calls. */
export const restRole = 'SignalR Service Owner';
const roles = {
  appServer: 'SignalR App Server (or SignalR Service Owner)',
  rest: restRole,
} as const;

function refusal(
  { errorClass, text }: ServiceFailure,
  { kind, restUrl }: ServiceHub,
  purpose: SignInPurpose,
): ExpectedError {
  const { host } = new URL(restUrl);
  const said = text.replace(/\.$/, '');
  if (errorClass === 'notFound') {
    const name = kind === 'webpubsub' ? 'Azure Web PubSub' : 'Azure SignalR Service';
    return new ExpectedError('service', `${host} answers, but not as ${name} (${said}).`);
  }
  if (errorClass !== 'unauthorized')
    return new ExpectedError('target-unreachable', `${host} cannot be signed in to: ${said}.`);
  const role = kind === 'webpubsub' ? 'Web PubSub Service Owner' : roles[purpose];
  return new ExpectedError(
    'sign-in',
    `${host} does not let in who is signed in (${said}): assign the role ${role} to the identity in the access control of the resource, which may take up to 30 minutes to have effect, and see that the tenant is the resource's own.`,
  );
}
