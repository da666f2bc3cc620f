import { ExpectedError } from '../base/expectedError';
import type { Plan } from '../plan/plan';
import { measureProblem, needsContract, ticksProblem } from '../scenario/check/measureProblem';
import { behindOf } from '../scenario/target/targetKinds';
import type { OpenTarget } from '../targets/target';
import type { Endpoint } from '../base/endpoint';
import { shownUrl } from '../wire/connect/shownUrl';
import type { HubDialect } from '../base/benchContract';
import type { HubAnswer } from '../wire/connect/probeHub';
import { MissingMethods, methodsToAskFor, missingOf } from './missingMethods';

/** Asks a hub for its dialect, and whether it has the methods; undefined when it cannot be asked. */
export type AskHub = (
  endpoint: Endpoint,
  methods: readonly string[],
) => Promise<HubAnswer | undefined>;

/** Hubs of a list that are asked, all at the same time. */
const mostAsked = 32;

/**
 * The plan in the dialect that the hubs speak, found out before anything is started.
 *
 * @throws ExpectedError `dialect` when an entry, or the driver, cannot run in it, or the hubs of a list
 *   speak different ones; {@link MissingMethods} when a hub shows no dialect and has not what the run calls
 */
export async function agreedDialect(
  plan: Plan,
  { kind, endpoint }: OpenTarget,
  ask: AskHub,
): Promise<Plan> {
  const needsOne = plan.entries.some(({ run }) => needsContract(run));
  if (plan.dialect !== 'auto' || behindOf({ kind }) !== 'userHub' || !needsOne) return plan;
  const dialect = (await commonDialect(plan, endpoint, ask)) ?? 'recordLatency';
  const { driver } = endpoint;
  const unsent = dialect === 'measure' && ticksProblem({ driver, protocol: plan.protocol });
  if (typeof unsent === 'string')
    throw new ExpectedError('dialect', `The hub speaks the dialect measure. ${unsent}`);
  for (const { useCase: name, run, payload } of dialect === 'measure' ? plan.entries : []) {
    const problem = measureProblem({ name, run, payload });
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
  plan: Plan,
  endpoint: Endpoint,
  ask: AskHub,
): Promise<HubDialect | undefined> {
  const urls = [...new Set(endpoint.urls)].slice(0, mostAsked);
  const wanted = methodsToAskFor(plan);
  const answers = await Promise.all(urls.map((url) => ask({ ...endpoint, urls: [url] }, wanted)));
  answers.forEach((answer, at) => {
    const missing = missingOf(plan, answer?.lacks ?? []);
    if (missing.length > 0) throw new MissingMethods(missing, shownUrl(urls[at]!));
  });
  const dialects = answers.map((answer) => answer?.dialect);
  const [first, other] = [...new Set(dialects)].filter((dialect) => dialect !== undefined);
  if (first === undefined || other === undefined) return first;
  const shown = (dialect: HubDialect): string => shownUrl(urls[dialects.indexOf(dialect)]!);
  throw new ExpectedError(
    'dialect',
    `The hubs of the list speak different dialects: ${shown(first)} speaks ${first}, ${shown(other)} ${other}. Measure them in runs of their own.`,
  );
}
