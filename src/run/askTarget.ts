import { membershipMethods, type HubDialect } from '../base/message';
import type { Endpoint } from '../base/endpoint';
import { ExpectedError } from '../base/expectedError';
import type { AzureService } from '../base/serviceTraits';
import type { Plan } from '../plan/plan';
import { measureProblem, needsBenchContract, ticksProblem } from '../scenario/check/notRunnable';
import { targetRole } from '../scenario/target/targetKinds';
import type { OpenTarget } from '../targets/target';
import type { HubRun } from '../usecases/useCase';
import type { HubTraits } from '../wire/connect/probeHub';
import { shownUrl } from '../wire/connectFailure';
import { allowedRedirects } from '../wire/socket/hosts';

export interface TargetQuestions {
  readonly askHub: (
    endpoint: Endpoint,
    methods: readonly string[] | 'kindOnly',
    withinMs: number,
  ) => Promise<HubTraits | undefined>;
  readonly redirectHosts: (endpoint: Endpoint, withinMs: number) => Promise<readonly string[]>;
  readonly ready?: (target: OpenTarget) => Promise<OpenTarget>;
  /** Called when the target is silent; `over` settles when the wait ends. */
  readonly waiting?: (url: string, withinMs: number, over: Promise<void>) => void;
}

export interface AskedTarget {
  readonly target: OpenTarget;
  readonly plan: Plan;
  readonly service?: AzureService;
  /** Counts towards the time in which the target has to answer. */
  readonly askedMs: number;
}

const silenceMs = 1000;
const shortestMs = 3000;
const longestMs = 10_000;
/** Asking and one connect stay below the time after which a silent target is given up. */
const bothMs = 21_500;

export const askTimeoutMs = ({ connectTimeoutMs }: Pick<Plan, 'connectTimeoutMs'>): number =>
  Math.min(longestMs, Math.max(shortestMs, bothMs - connectTimeoutMs));

/**
 * Asks for redirects and dialect at once. `agree` is asked about hosts of redirects; absent: they are followed.
 * @returns undefined after a no
 */
export async function askTarget(
  opened: OpenTarget,
  plan: Plan,
  agree: ((hosts: readonly string[]) => Promise<boolean>) | undefined,
  questions: TargetQuestions,
): Promise<AskedTarget | undefined> {
  const withinMs = askTimeoutMs(plan);
  let askedMs = 0;
  let service: AzureService | undefined;
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    const timer = setTimeout(() => {
      questions.waiting?.(opened.url, withinMs, work.then(ignore, ignore));
    }, silenceMs);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      askedMs += performance.now() - startedMs;
    }
  };
  const { ready = (target) => Promise.resolve(target) } = questions;
  const planFor = (target: OpenTarget): Promise<Plan> =>
    withHubDialect(plan, target, async (endpoint, methods) => {
      const answer = await questions.askHub(endpoint, methods, withinMs);
      service ??= answer?.service;
      return answer;
    });
  const asked = (target: OpenTarget, planned: Plan): AskedTarget => ({
    target,
    plan: planned,
    askedMs,
    service,
  });
  opened = await ready(opened);
  const behind = targetRole(opened);
  if (agree === undefined || behind === 'ownServer')
    return asked(opened, await timed(planFor(opened)));
  const agreed = [...opened.hostsBeyond];
  for (;;) {
    const endpoint = { ...opened.endpoint, allowedHosts: allowedRedirects(agreed) };
    const target = { ...opened, endpoint };
    const [redirects, planned] = await timed(
      Promise.all([
        behind === 'userHub' ? questions.redirectHosts(endpoint, withinMs) : [],
        planFor(target),
      ]),
    );
    const fresh = redirects.filter((host) => !agreed.includes(host));
    if (fresh.length === 0) return asked(target, planned);
    if (!(await agree(fresh))) return undefined;
    // These may redirect, too.
    agreed.push(...fresh);
  }
}

const ignore = (): void => undefined;

type AskHub = (
  endpoint: Endpoint,
  methods: readonly string[] | 'kindOnly',
) => Promise<HubTraits | undefined>;

const mostAsked = 32;

/**
 * The plan in the dialect of the hubs.
 * @throws ExpectedError `connection-type` for a hub of the other SignalR, `dialect` where an entry or the driver does not fit,
 *   or hubs differ; {@link MissingMethods} for methods that the run calls
 */
export async function withHubDialect(
  plan: Plan,
  { kind, endpoint }: OpenTarget,
  ask: AskHub,
): Promise<Plan> {
  const needsOne = plan.entries.some(({ run }) => needsBenchContract(run));
  if (targetRole({ kind }) !== 'userHub') return plan;
  const isAsked = plan.dialect === 'auto' && needsOne;
  const spoken = await commonDialect(plan, endpoint, ask, isAsked);
  if (!isAsked) return plan;
  const dialect = spoken ?? 'recordLatency';
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
  isAsked: boolean,
): Promise<HubDialect | undefined> {
  const urls = [...new Set(endpoint.urls)].slice(0, mostAsked);
  const wanted = isAsked ? methodsToAskFor(plan) : 'kindOnly';
  const answers = await Promise.all(urls.map((url) => ask({ ...endpoint, urls: [url] }, wanted)));
  const isClassic = endpoint.classic === true;
  answers.forEach((answer, at) => {
    if (answer?.otherKind !== undefined)
      throw new ExpectedError('connection-type', otherHub(shownUrl(urls[at]!), isClassic));
    const missing = missingOf(plan, answer?.lacks ?? []);
    if (missing.length > 0) throw new MissingMethods(missing, shownUrl(urls[at]!), isClassic);
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

const otherHub = (url: string, isClassic: boolean): string =>
  isClassic
    ? `${url} is a hub of ASP.NET Core SignalR: remove connectionType: AspNet.`
    : `${url} is a hub of ASP.NET SignalR, the one of .NET Framework: write connectionType: AspNet under config.`;

export class MissingMethods extends ExpectedError {
  constructor(
    readonly methods: readonly string[],
    readonly url: string,
    readonly classic = false,
  ) {
    const named = methods.length === 1 ? `method ${methods[0]!}` : `methods ${methods.join(', ')}`;
    super(
      'hub-methods',
      `The hub has no ${named}. \`signalr-bench doctor --target ${url}\` prints C# of a hub that has them. To call a method of your own instead, use the use case invoke: \`signalr-bench init --use-case invoke\` writes a file to begin with.`,
    );
    this.name = 'MissingMethods';
  }
}

interface ContractMethods {
  readonly recordLatency: readonly string[];
  readonly measure: readonly string[] | undefined;
}

function methodsOf({
  message,
  streams,
  preparation,
  joinMethod,
  othersMove,
}: HubRun): ContractMethods {
  const beside = [
    ...(preparation === 'joinGroups' ? [joinMethod ?? membershipMethods.join] : []),
    ...(othersMove === true ? [membershipMethods.leave] : []),
  ];
  const sends = message?.method ?? streams?.method;
  const measureSends = message?.measureMethod;
  return {
    recordLatency: [...(sends === undefined ? [] : [sends]), ...beside],
    measure: measureSends === undefined ? undefined : [measureSends, ...beside],
  };
}

const contractsOf = (plan: Plan): ContractMethods[] =>
  plan.entries
    .map(({ run }) => run)
    .filter(needsBenchContract)
    .map(methodsOf);

function methodsToAskFor(plan: Plan): string[] {
  const all = contractsOf(plan).flatMap(({ recordLatency, measure = [] }) => [
    ...recordLatency,
    ...measure,
  ]);
  return [...new Set(all)];
}

/** Methods missing in both dialects, by the names of recordLatency. */
function missingOf(plan: Plan, lacks: readonly string[]): string[] {
  const missing = contractsOf(plan).flatMap(({ recordLatency, measure }) => {
    const lacking = recordLatency.filter((name) => lacks.includes(name));
    const measures = measure?.every((name) => !lacks.includes(name)) ?? false;
    return measures ? [] : lacking;
  });
  return [...new Set(missing)];
}
