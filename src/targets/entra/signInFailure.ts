import { ExpectedError } from '../../base/expectedError';
import type { EntraSignIn } from '../../scenario/target/connectionString';

/** What a person can do about codes of Microsoft Entra ID. Source: "Microsoft Entra authentication error codes". */
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
    'wants this account to sign in anew: run `az login`',
  ],
];

/** Why nobody could be signed in, in a sentence that repeats no secret. */
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
    const says = known?.[1] ?? 'refuses the sign-in: look its code up in its documentation';
    return `Microsoft Entra ID ${says} (AADSTS${code}).`;
  }
  if (/Invalid tenant id/i.test(text))
    return 'The TenantId, or AZURE_TENANT_ID, is neither the id nor the domain of a tenant: correct it.';
  if (/Invalid value for AZURE_TOKEN_CREDENTIALS/.test(text))
    return 'The environment variable AZURE_TOKEN_CREDENTIALS names no way to sign in: write dev, prod or the name of a credential, or take it away.';
  if (kind === 'managedIdentity') {
    return clientId === undefined
      ? 'This machine has no managed identity: AuthType=azure.msi is for machines of Azure; elsewhere write AuthType=azure and run `az login`. Where HTTP_PROXY is set, NO_PROXY must name 169.254.169.254.'
      : 'This machine has no managed identity with the ClientId of the connection string: assign it to the machine, or correct ClientId.';
  }
  if (kind === 'application') {
    return /certificate|PEM|key/i.test(text) && !networkError.test(text)
      ? 'The certificate of the application (ClientCert) cannot be used: the file has to hold the certificate and its key, in PEM form.'
      : 'Microsoft Entra ID cannot be reached to sign the application in: see whether login.microsoftonline.com can be reached from here, and correct TenantId.';
  }
  return `Nobody is signed in to Microsoft Entra ID: ${azAdvice(text)}, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or use a machine with a managed identity.`;
}

const networkError =
  /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|network_error|endpoints_resolution|openid_config/;

function azAdvice(text: string): string {
  return /Azure CLI could not be found/.test(text)
    ? 'the Azure CLI is not installed; install it and run `az login`'
    : 'run `az login`';
}
