import type { EntraSignIn } from '../scenario/target/targetKinds';
import type { TargetContext } from './target';

/** What the environment says of proxies and sign-ins, which no scenario refers to. */
export const environmentSetting = (
  { setting, reference }: Pick<TargetContext, 'setting' | 'reference'>,
  name: string,
): string | undefined => (setting === undefined ? reference('env', name) : setting(name));

/** Where somebody is signed in. Sources: documentation of @azure/identity, and of the instance metadata service. */
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
