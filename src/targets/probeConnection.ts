import type { AzureService } from '../base/services';
import { isOneReference, looksLikeConnectionString } from '../scenario/target/connectionString';
import { serviceConnection } from './openConnection';
import type { ServiceProbe } from './service/probeService';
import { resolveText } from './resolveEndpoint';
import { startLocalServer } from './local';
import type { TargetContext } from './target';

/**
 * Asks a service whether it can be reached and takes the key; undefined where the text is no connection string.
 * @param text connection string, or one reference that stands for it
 * @throws ExpectedError `missing-reference`, `connection-string` in words that repeat none of it, `sign-in`
 */
export async function probeConnection(
  text: string,
  context: TargetContext,
): Promise<ServiceProbe | undefined> {
  if (!looksLikeConnectionString(text) && !isOneReference(text)) return undefined;
  const resolved = resolveText(text, context);
  if (!looksLikeConnectionString(resolved)) return undefined;
  const connection = serviceConnection(resolved);
  const { probeService } = await import(
    /* webpackChunkName: "azure" */ './service/probeService.js'
  );
  return probeService(connection, context);
}

/** Asks the emulator of a service, started for it. @throws ExpectedError `local-hub` when it does not start */
export async function probeEmulator(
  service: AzureService,
  context: TargetContext,
): Promise<ServiceProbe> {
  const { value, dispose } = await startLocalServer(service, context.serverScript);
  try {
    const probe = await probeConnection(value, context);
    if (probe === undefined) throw new Error('an emulator without a connection string');
    return probe;
  } finally {
    await dispose();
  }
}
