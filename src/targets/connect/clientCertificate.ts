import { createSecureContext } from 'node:tls';
import { ExpectedError } from '../../base/expectedError';
import type { ClientCertificate } from '../../base/endpoint';
import type { Scenario } from '../../scenario/scenario';
import type { TargetContext } from '../target';

/**
 * The client's certificate that a scenario names, read and tried.
 *
 * @param passphrase of the key, resolved
 *
 * @throws ExpectedError `client-certificate` when the files do not hold what they should
 */
export async function clientCertificate(
  { certFile, keyFile }: Pick<Scenario, 'certFile' | 'keyFile'>,
  passphrase: string | undefined,
  context: TargetContext,
): Promise<ClientCertificate | undefined> {
  if (certFile === undefined) {
    if (keyFile === undefined) return undefined;
    throw wrong('keyFile is given without certFile, the certificate it belongs to.');
  }
  const cert = await context.readFile(certFile);
  const key = keyFile === undefined ? cert : await context.readFile(keyFile);
  if (!cert.includes('-----BEGIN CERTIFICATE-----'))
    throw wrong(`certFile ${certFile} holds no certificate in PEM form.`);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
    throw wrong(
      keyFile === undefined
        ? `certFile ${certFile} holds no private key; name the file that does as keyFile.`
        : `keyFile ${keyFile} holds no private key in PEM form.`,
    );
  }
  const found = { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
  try {
    createSecureContext(found);
  } catch {
    throw wrong(
      `certFile ${certFile} and its key cannot be used: they do not belong together, or keyPassword is missing or wrong.`,
    );
  }
  return found;
}

const wrong = (message: string): ExpectedError => new ExpectedError('client-certificate', message);
