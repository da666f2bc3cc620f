/** Asks a hub which methods of a benchmark it has, and which dialect it speaks. */
import { idMethods, type ContractMethods, type HubDialect } from '../../base/message';
import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import type { AzureService } from '../../base/serviceTraits';
import { ConnectFailure, shownUrl } from '../connectFailure';
import { negotiateEach, serviceBehind } from './hubRedirects';
import { probeMethod, withProbe, type ProbedMethod, type UnreachableHub } from './probeConnection';

export type HubProbe =
  | {
      readonly reachable: true;
      readonly methods: readonly ProbedMethod[];
      /** Absent when unknown; `methods` are those of the dialect, else those of `recordLatency`. */
      readonly dialect?: HubDialect;
      /** It is a hub of ASP.NET SignalR. */
      readonly classic?: true;
      readonly connectMs: number;
    }
  | UnreachableHub;

/** What a hub is found to be before a run. */
export interface HubTraits {
  /** Absent where only the kind of hub was asked for. */
  readonly dialect?: HubDialect;
  /** Methods that were asked about and that the hub does not have; only hubs that do not show a dialect are asked. */
  readonly lacks: readonly string[];
  /** The kind of the hub, where it is not the one that the endpoint says: its clients would not be let in. */
  readonly otherKind?: ConnectionType;
  /** The service that it sends its clients to. */
  readonly service?: AzureService;
}

type ConnectionType = 'Core' | 'AspNet';

const connectTimeoutMs = 8000;
const answerTimeoutMs = 4000;
const greetingMs = 1000;

/** Nobody writes a hub method with so many parameters; empty objects are what a careless server stumbles over least. */
const tooMany: readonly unknown[] = Array.from({ length: 32 }, () => ({}));

/**
 * Asks which methods of the bench contract the hub has, within 12 s. They are called without their arguments: the
 * refusal says whether the method exists.
 */
export async function probeHub(endpoint: Endpoint, contracts: ContractMethods): Promise<HubProbe> {
  const probe = await probeAs(endpoint, contracts);
  if (probe.reachable || endpoint.classic === true || !mayBeOther(probe.errorClass)) return probe;
  const urls = endpoint.urls.map(withHubName);
  const other = await probeAs({ ...endpoint, urls, classic: true }, contracts);
  if (!other.reachable && !hubMissing.test(other.message)) return probe;
  const isNamed = urls.every((url, at) => url === endpoint.urls[at]);
  if (isNamed) return { ...other, classic: true };
  const message = `a server of ASP.NET SignalR answers there: write the name of the hub as the last part of the URL, with no slash behind it, such as ${shownUrl(urls[0]!)}`;
  return { reachable: false, errorClass: 'notFound', message, classic: true };
}

/** A server of ASP.NET SignalR answers only who names a hub. @returns the URL as it is where it ends in a name */
function withHubName(target: string): string {
  const url = new URL(target);
  if (!url.pathname.endsWith('/')) return target;
  const parts = url.pathname.split('/').filter((part) => part !== '');
  url.pathname = parts.join('/') || 'signalrbench';
  return url.href;
}

/** Source: SignalR/SignalR, `Resources.resx`, "Error_HubCouldNotBeResolved"; recorded of the official server. */
const hubMissing = /Hub could not be resolved/;

/** Whether a server answers so that speaks another protocol at that URL. */
const mayBeOther = (errorClass: ErrorClass): boolean =>
  errorClass === 'notFound' || errorClass === 'negotiate';

function probeAs(endpoint: Endpoint, contracts: ContractMethods): Promise<HubProbe> {
  const isThere = (name: string): boolean =>
    endpoint.classic !== true || !contracts.streams.includes(name);
  const recordLatency = contracts.recordLatency.filter(isThere);
  const measure = contracts.measure.filter(isThere);
  return withProbe(endpoint, connectTimeoutMs, async (connection, listener, connectMs) => {
    const names = [...new Set([...recordLatency, ...measure])];
    const greeting = listener.greetedWithin(greetingMs);
    const asked = await Promise.all(
      names.map((name) => probeMethod(name, connection, listener, answerTimeoutMs)),
    );
    const greeted = await greeting;
    const all = (wanted: ErrorClass): boolean =>
      asked.every(({ errorClass }) => errorClass === wanted);
    if (all('closed')) {
      const message = 'the hub takes connections, but closes them before it answers a call';
      return { reachable: false as const, errorClass: 'closed' as const, message };
    }
    if (!greeted && all('timeout')) {
      const message = `the hub takes connections, but answered none of ${asked.length} calls within ${answerTimeoutMs / 1000} s`;
      return { reachable: false as const, errorClass: 'timeout' as const, message };
    }
    const found = asked.map(({ errorClass: _known, ...method }) => method);
    const has = (wanted: string): boolean =>
      found.some(({ name, present }) => name === wanted && present);
    const dialect =
      greeted || has(idMethods.result)
        ? 'recordLatency'
        : measure.some((name) => !recordLatency.includes(name) && has(name))
          ? 'measure'
          : undefined;
    const expected = dialect === 'measure' ? measure : recordLatency;
    const methods = expected.map((wanted) => found.find(({ name }) => name === wanted)!);
    return { reachable: true as const, methods, ...(dialect && { dialect }), connectMs };
  });
}

/**
 * Finds out which dialect the hub speaks: one of `recordLatency` greets with OnConnected or answers
 * GetConnectionId. A hub that shows none is asked about methods by calls that every hub refuses: with more
 * arguments than any method takes. No bench method runs; undefined when the hub cannot be asked.
 * @param methods `kindOnly` asks which kind of hub it is and nothing else: no connection is opened
 * @param withinMs time the hub has in all
 */
export async function askHub(
  endpoint: Endpoint,
  methods: readonly string[] | 'kindOnly' = [],
  withinMs = 10_000,
): Promise<HubTraits | undefined> {
  const untilMs = performance.now() + withinMs;
  const leftMs = (): number => Math.max(1, Math.min(answerTimeoutMs, untilMs - performance.now()));
  const negotiating = negotiateEach(endpoint, withinMs);
  if (methods === 'kindOnly') {
    const [negotiated] = await negotiating;
    if (!(negotiated instanceof ConnectFailure)) {
      const behind = serviceBehind(negotiated);
      return behind && { lacks: [], ...behind };
    }
    return otherKindOf(endpoint, negotiated, async (other) => {
      const [outcome] = await negotiateEach(other, leftMs());
      return outcome instanceof ConnectFailure ? outcome : undefined;
    });
  }
  const finding = withProbe(endpoint, withinMs, async (connection, listener) => {
    const recordLatency = { dialect: 'recordLatency' as const, lacks: [] };
    if (await listener.greetedWithin(Math.min(greetingMs, leftMs()))) return recordLatency;
    const outcome = await listener.invocations.invoke(connection, idMethods.result, [], leftMs());
    if (outcome.ok) return recordLatency;
    if (outcome.errorClass !== 'invocation') return undefined;
    const asked = await Promise.all(
      methods.map((name) => probeMethod(name, connection, listener, leftMs(), tooMany)),
    );
    const lacks = asked.filter(({ isMissing }) => isMissing === true).map(({ name }) => name);
    // Hubs of ASP.NET SignalR do not greet by themselves, and those of the older contract may lack GetConnectionId.
    return {
      dialect: endpoint.classic === true ? ('recordLatency' as const) : ('measure' as const),
      lacks,
    };
  });
  const [found, [negotiated]] = await Promise.all([finding, negotiating]);
  if (found === undefined) return undefined;
  if (!('reachable' in found)) return { ...found, ...serviceBehind(negotiated) };
  return otherKindOf(endpoint, found, (other) =>
    withProbe(other, leftMs(), () => Promise.resolve(undefined)),
  );
}

/** @param failureOf asks the hub as one of the other kind */
async function otherKindOf(
  endpoint: Endpoint,
  { errorClass }: { readonly errorClass: ErrorClass },
  failureOf: (other: Endpoint) => Promise<unknown>,
): Promise<HubTraits | undefined> {
  if (!mayBeOther(errorClass)) return undefined;
  const { classic: isClassic = false, ...core } = endpoint;
  const other = isClassic ? core : { ...endpoint, classic: true as const };
  if ((await failureOf(other)) !== undefined) return undefined;
  return { lacks: [], otherKind: isClassic ? 'Core' : 'AspNet' };
}
