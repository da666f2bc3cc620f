import { ExpectedError } from '../base/expectedError';
import { entryRun } from '../plan/entryRun';
import type { Plan } from '../plan/plan';
import { measureProblem, needsContract, ticksProblem } from '../scenario/measureProblem';
import type { OpenTarget } from '../targets/target';
import { shownUrl, type Endpoint } from '../wire/endpoint';

/** Dialects of the bench contract. */
export type HubDialect = 'recordLatency' | 'measure';

/** Hubs of a list that are asked, all at the same time. */
const mostAsked = 32;

/**
 * The plan in the dialect that the hubs speak, found out before anything is started.
 *
 * @param ask dialect of a hub; undefined when it cannot be asked
 *
 * @throws ExpectedError `dialect` when an entry, or the driver, cannot run in it, or the hubs of a list
 *   speak different ones
 */
export async function agreedDialect(
  plan: Plan,
  { kind, endpoint }: OpenTarget,
  ask: (endpoint: Endpoint) => Promise<HubDialect | undefined>,
): Promise<Plan> {
  const needsOne = plan.entries.some((entry) => needsContract(entryRun(entry)));
  if (plan.dialect !== 'auto' || kind !== 'hubUrl' || !needsOne) return plan;
  const dialect = (await commonDialect(endpoint, ask)) ?? 'recordLatency';
  const { driver } = endpoint;
  const unsent = dialect === 'measure' && ticksProblem({ driver, protocol: plan.protocol });
  if (typeof unsent === 'string')
    throw new ExpectedError('dialect', `The hub speaks the dialect measure. ${unsent}`);
  for (const { useCase, parameters } of dialect === 'measure' ? plan.entries : []) {
    const problem = measureProblem({ name: useCase, parameters });
    if (problem !== undefined) {
      throw new ExpectedError(
        'dialect',
        `The hub neither greets with OnConnected nor has GetConnectionId, so it seems to speak the dialect measure. ${problem.message} If it does send RecordLatency, write \`dialect: recordLatency\`; \`signalr-bench doctor\` lists the methods it lacks.`,
      );
    }
  }
  return { ...plan, dialect };
}

async function commonDialect(
  endpoint: Endpoint,
  ask: Parameters<typeof agreedDialect>[2],
): Promise<HubDialect | undefined> {
  const urls = [...new Set(endpoint.urls)].slice(0, mostAsked);
  const dialects = await Promise.all(urls.map((url) => ask({ ...endpoint, urls: [url] })));
  const [first, other] = [...new Set(dialects)].filter((dialect) => dialect !== undefined);
  if (first === undefined || other === undefined) return first;
  const shown = (dialect: HubDialect): string => shownUrl(urls[dialects.indexOf(dialect)]!);
  throw new ExpectedError(
    'dialect',
    `The hubs of the list speak different dialects: ${shown(first)} speaks ${first}, ${shown(other)} ${other}. Measure them in runs of their own.`,
  );
}
