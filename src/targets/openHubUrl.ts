import { ExpectedError } from '../base/expectedError';
import { isOneReference, looksLikeConnectionString } from '../scenario/target/connectionString';
import type { Scenario } from '../scenario/scenario';
import { serviceEndpointProblem } from '../scenario/target/hubUrl';
import { shownUrl } from '../wire/connect/shownUrl';
import { hostsBeyond } from '../wire/socket/isLoopback';
import { openConnection } from './openConnection';
import { isEmbeddedHub } from './isEmbeddedHub';
import { resolveEndpoint, resolveText, secretsOf } from './connect/resolveEndpoint';
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
  const { service } = scenario;
  const known = { ...scenario, service: service === 'hub' ? ('signalr' as const) : service };
  return openConnection(text, known, context);
}
