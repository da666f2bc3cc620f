import { shownUrl } from '../wire/endpoint';
import { isLoopback, resolveEndpoint, secretsOf } from './resolveEndpoint';
import type { Target } from './target';

/** The user's own hubs, by URL. */
export const hubUrl: Target = {
  kind: 'hubUrl',
  open: async (scenario, context) => {
    const spec = scenario.target;
    if (spec?.kind !== 'hubUrl') throw new Error('not a hub URL target');
    const endpoint = await resolveEndpoint(spec.urls, scenario, context);
    return {
      kind: 'hubUrl',
      endpoint,
      secrets: secretsOf(endpoint),
      url: endpoint.urls.map(shownUrl).join(', '),
      loopback: endpoint.urls.every(isLoopback),
      dispose: () => Promise.resolve(),
    };
  },
};
