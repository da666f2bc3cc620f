import type { Endpoint } from '../base/endpoint';
import { ExpectedError } from '../base/expectedError';
import { isAzure, type Service } from '../base/serviceTraits';
import { hideSecrets } from '../base/secrets';
import type { ServiceProbe, TargetContext } from '../targets/target';
import type { HubProbe } from '../wire/connect/probeHub';
import { allowedRedirects } from '../wire/socket/hosts';
import type { Override } from '../scenario/read/overrides';
import type { Scenario } from '../scenario/scenario';
import type { RunParts } from './prepareRun';
import type { ScenarioParser } from './scenarioFile';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { HubDialect } from '../base/message';

export interface ProbeParts extends Pick<RunParts, 'openTarget'> {
  readonly parseScenario: ScenarioParser;
  readonly probeHub: (endpoint: Endpoint) => Promise<HubProbe>;
  readonly probeTargetOf: (
    scenario: Scenario,
    context: TargetContext,
  ) => Promise<ServiceProbe | undefined>;
}

export type ProbedHub = HubProbe & { readonly url: string };

type Probed =
  | { readonly of: 'hub'; readonly probe: ProbedHub }
  | { readonly of: 'service'; readonly probe: ServiceProbe };

interface ProbedTarget {
  readonly text: string;
  readonly service?: Service;
  readonly overrides?: readonly Override[];
}

/** The shortest scenario with this target. @throws ExpectedError `bad-target` */
export function scenarioForTarget(
  { text, service, overrides = [] }: ProbedTarget,
  parseScenario: ScenarioParser,
): Scenario {
  const { scenario, problems } = parseScenario('mode: simple\n', {
    overrides: [
      ...overrides,
      { path: 'config.target', value: text },
      ...(service !== undefined && isAzure(service)
        ? [{ path: 'config.service', value: service }]
        : []),
    ],
  });
  const error = problems.find(({ severity }) => severity === 'error');
  if (error || !scenario)
    throw new ExpectedError('bad-target', error?.message ?? `${text} is not a target.`);
  return scenario;
}

/**
 * Connects to a hub, or asks a service whether it accepts the key.
 * @param agree to the host of a redirect; absent: nobody is asked
 * @returns undefined after a no
 * @throws ExpectedError `bad-target`, and as opening fails
 */
export async function probeTarget(
  wanted: ProbedTarget,
  context: TargetContext,
  { parseScenario, openTarget, probeHub, probeTargetOf }: ProbeParts,
  agree?: (host: string, url: string) => Promise<boolean>,
): Promise<Probed | undefined> {
  const scenario = scenarioForTarget(wanted, parseScenario);
  const own = await probeTargetOf(scenario, context);
  if (own !== undefined) return { of: 'service', probe: own };
  const target = await openTarget(scenario, context);
  const { url, secrets, endpoint } = target;
  try {
    const allowedHosts = allowedRedirects(target.hostsBeyond);
    let probe = await probeHub(agree ? { ...endpoint, allowedHosts } : endpoint);
    if (agree !== undefined && !probe.reachable && probe.redirectsTo !== undefined) {
      if (!(await agree(probe.redirectsTo, url))) return undefined;
      probe = await probeHub(endpoint);
    }
    if (probe.reachable) return { of: 'hub', probe: { url, ...probe } };
    const message = hideSecrets(probe.message, secrets);
    return { of: 'hub', probe: { url, ...probe, message } };
  } finally {
    await target.dispose();
  }
}

/** C# of a hub for every use case of a dialect. @param serverScript a bundle; the code is in `../media/hub` beside it */
export function readHubCode(serverScript: string, dialect: HubDialect, classic = false): string {
  const name = `${classic ? 'classic.' : ''}${dialect}.cs`;
  return readFileSync(path.join(path.dirname(serverScript), '..', 'media', 'hub', name), 'utf8');
}
