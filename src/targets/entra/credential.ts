import {
  ClientCertificateCredential,
  ClientSecretCredential,
  DefaultAzureCredential,
  ManagedIdentityCredential,
  type TokenCredential,
} from '@azure/identity';
import type { EntraSignIn } from '../../scenario/target/targetKinds';
import type { EntraToken } from '../target';

/** Programs such as az start slowly on some machines. */
const programMs = 30_000;

/** The one file that imports @azure/identity, and a bundle of its own. */
export async function credentialToken(
  signIn: EntraSignIn,
  certificate: string | undefined,
  scope: string,
): Promise<EntraToken> {
  const issued = await credentialOf(signIn, certificate).getToken(scope);
  if (issued === null) throw new Error('no credential has a token');
  return { token: issued.token, expiresAtMs: issued.expiresOnTimestamp };
}

function credentialOf(
  { kind, clientId, tenantId, clientSecret }: EntraSignIn,
  certificate: string | undefined,
): TokenCredential {
  switch (kind) {
    case 'default':
      return new DefaultAzureCredential({
        processTimeoutInMs: programMs,
        tenantId,
        managedIdentityClientId: clientId,
      });
    case 'managedIdentity':
      return new ManagedIdentityCredential(clientId === undefined ? {} : { clientId });
    case 'application':
      return certificate === undefined
        ? new ClientSecretCredential(tenantId!, clientId!, clientSecret!)
        : new ClientCertificateCredential(tenantId!, clientId!, { certificate });
  }
}
