import { request } from 'node:http';
import { emulatorHeader } from '../base/endpoint';
import { ExpectedError } from '../base/expectedError';
import { azureServiceOf } from '../base/services';
import type { Scenario } from '../scenario/scenario';
import { isOneReference, looksLikeConnectionString } from '../scenario/target/connectionString';
import { serviceEndpointProblem } from '../scenario/target/hubUrl';
import { shownUrl } from '../wire/connectFailure';
import { hostsBeyond, isLoopback } from '../wire/socket/isLoopback';
import { resolveEndpoint, resolveText, secretsOf } from './resolveEndpoint';
import { openConnection } from './openConnection';
import type { OpenTarget, Target, TargetContext } from './target';

/** The user's own hubs, by URL. */
export const hubUrl: Target = {
  kind: 'hubUrl',
  open: async (scenario, context) => {
    const spec = scenario.target;
    if (spec?.kind !== 'hubUrl') throw new Error('not a hub URL target');
    const [only] = spec.urls;
    if (only !== undefined && spec.urls.length === 1 && isOneReference(only)) {
      const text = resolveText(only, context);
      if (looksLikeConnectionString(text)) return openReferred(text, scenario, context);
    }
    const endpoint = await resolveEndpoint(spec.urls, scenario, context);
    const problem = endpoint.urls.map(serviceEndpointProblem).find((text) => text !== undefined);
    if (problem !== undefined) throw new ExpectedError('target-url', problem);
    const embedded = await Promise.all(endpoint.urls.map(isEmbeddedHub));
    return {
      kind: 'hubUrl',
      ...(embedded.every(Boolean) && { emulated: true as const }),
      endpoint,
      secrets: secretsOf(endpoint),
      url: endpoint.urls.map(shownUrl).join(', '),
      hostsBeyond: hostsBeyond(endpoint.urls),
      dispose: () => Promise.resolve(),
    };
  },
};

/** What a reference holds shows only now: a connection string, which needs no key that says so. */
function openReferred(
  text: string,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  return openConnection(text, { ...scenario, service: azureServiceOf(scenario.service) }, context);
}

/** An answer from this machine takes a millisecond; one that does not come must not hold up a run. */
const timeoutMs = 1000;

/**
 * Whether the server behind a hub URL is the hub of `serve hub`: only one on this machine is asked, by a GET
 * of `/`, which opens no connection. Whatever goes wrong there is for the run to find out.
 */
export function isEmbeddedHub(hubUrl: string): Promise<boolean> {
  const { protocol, origin } = new URL(hubUrl);
  if (protocol !== 'http:' || !isLoopback(hubUrl)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asked = request(`${origin}/`, { agent: false, timeout: timeoutMs }, (response) => {
      resolve(response.headers[emulatorHeader.toLowerCase()] !== undefined);
      response.destroy();
    });
    const no = (): void => {
      asked.destroy();
      resolve(false);
    };
    asked.once('timeout', no);
    asked.once('error', no);
    asked.once('upgrade', no);
    asked.end();
  });
}
