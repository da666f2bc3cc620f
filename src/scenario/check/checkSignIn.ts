import { connectionStringProblem, readConnectionString } from '../target/connectionString';
import { isLoopbackHost, hostOf } from '../target/hubUrl';
import { writtenPlace, type Sources } from '../text/problemPlaces';
import type { Place, Reading } from '../text/scenarioReading';
import { connectionStringOf } from '../target/targetKinds';
import { referencesIn } from '../target/references';
import type { Scenario } from '../scenario';
import { serviceOfHost } from '../target/serviceOfHost';

/** Variable of the environment with further hosts that tokens may go to, separated by commas. */
export const hostsVariable = 'SIGNALR_BENCH_SIGN_IN_HOSTS';

/** Why a token of Microsoft Entra ID is not shown to a server. */
export interface SignInRefusal {
  readonly why: 'http' | 'insecureTls' | 'caFile' | 'host';
  readonly message: string;
}

/** @param endpoint where the token would go, on another machine */
export function signInRefusal(
  endpoint: string,
  { insecureTls, caFile }: Pick<Scenario, 'insecureTls' | 'caFile'>,
): SignInRefusal | undefined {
  if (!/^https:/i.test(endpoint)) {
    const message =
      'AuthType needs an Endpoint with https: a token of Microsoft Entra ID must not be read on the way.';
    return { why: 'http', message };
  }
  if (insecureTls || caFile !== undefined) {
    const why = insecureTls ? 'insecureTls' : 'caFile';
    const message = `AuthType does not go with ${why}: whoever stands in between could take the token of Microsoft Entra ID. Name a certificate authority of your own in the environment variable NODE_EXTRA_CA_CERTS.`;
    return { why, message };
  }
  const host = hostOf(endpoint) ?? '';
  if (serviceOfHost(host) !== undefined) return undefined;
  const message = `${host} is no host of Azure SignalR Service or Azure Web PubSub, so the sign-in is not shown to it. If it is a gateway or a domain of yours, name it in the environment variable ${hostsVariable}.`;
  return { why: 'host', message };
}

/** Checks what a run would refuse of a sign-in or a certificate. */
export function checkSignIn(
  reading: Reading,
  { config }: Sources,
  scenario: Scenario,
  target: Place,
): void {
  const keyFile = writtenPlace(reading, config, 'keyFile');
  if (keyFile !== undefined && scenario.certFile === undefined) {
    const message = 'keyFile is given without certFile, the certificate it belongs to.';
    reading.report('error', 'client-certificate', keyFile, message);
  }
  const value = connectionStringOf(scenario.target);
  if (value === undefined) return;
  // What a reference stands for is not known when the file is read.
  if (referencesIn(value).length > 0 || connectionStringProblem(value) !== undefined) return;
  const { signIn, serverEndpoint } = readConnectionString(value);
  if (signIn === undefined || isLoopbackHost(hostOf(serverEndpoint) ?? '')) return;
  const refusal = signInRefusal(serverEndpoint, scenario);
  if (refusal === undefined) return;
  const { why, message } = refusal;
  // The environment may allow the host.
  const severity = why === 'host' ? 'warning' : 'error';
  reading.report(
    severity,
    'connection-string',
    writtenPlace(reading, config, why) ?? target,
    message,
  );
}
