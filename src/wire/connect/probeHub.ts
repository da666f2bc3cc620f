import { idMethods, type ContractMethods, type HubDialect } from '../../base/message';
import { asProbe } from '../http/negotiationRequest';
import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { type AzureService, findServiceByHost, defaultService } from '../../base/serviceTraits';
import { ConnectFailure, shownUrl, RedirectNotAllowed, shownText } from '../connectFailure';
import {
  type HubConnection,
  type HubListener,
  Invocations,
  type InvocationOutcome,
} from '../hub/clientConnection';
import type { Span } from '../message/hubCodec';
import { hubMessageType } from '../message/hubMessage';
import { SocketAgents } from '../socket/socket';
import { connectHub, negotiate, hubAddress } from './connectHub';
import { PersonalEndpoints } from './personalEndpoints';

export type HubProbe =
  | {
      readonly reachable: true;
      readonly methods: readonly ProbedMethod[];
      /** Absent when unknown; `methods` are those of the dialect, else those of `recordLatency`. */
      readonly dialect?: HubDialect;
      readonly classic?: true;
      readonly connectMs: number;
    }
  | UnreachableHub;

export interface HubTraits {
  readonly dialect?: HubDialect;
  /** Missing methods; only hubs that do not show a dialect are asked. */
  readonly lacks: readonly string[];
  /** The kind of the hub, where it is not the endpoint's: its clients would be refused. */
  readonly otherKind?: ConnectionType;
  readonly service?: AzureService;
}

type ConnectionType = 'Core' | 'AspNet';

const connectTimeoutMs = 8000;
const answerTimeoutMs = 4000;
const greetingMs = 1000;

/** No hub method has so many parameters; empty objects are the least harmful arguments for a careless server. */
const tooMany: readonly unknown[] = Array.from({ length: 32 }, () => ({}));

/**
 * Calls the methods of the bench contract without arguments, within 12 s: the error says whether the method exists.
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

function withHubName(target: string): string {
  const url = new URL(target);
  if (!url.pathname.endsWith('/')) return target;
  const parts = url.pathname.split('/').filter((part) => part !== '');
  url.pathname = parts.join('/') || 'signalrbench';
  return url.href;
}

/** Source: SignalR/SignalR, `Resources.resx`, "Error_HubCouldNotBeResolved"; recorded of the official server. */
const hubMissing = /Hub could not be resolved/;

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
 * A hub of the `recordLatency` dialect greets with OnConnected or answers GetConnectionId. Others are asked about
 * methods with more arguments than any takes, so that none runs. @param methods `kindOnly` only finds the kind of
 * hub, without a connection @returns undefined when the hub cannot be asked
 */
export async function detectHubTraits(
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
    // Hubs of ASP.NET SignalR do not greet, and those of the older contract may lack GetConnectionId.
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

export interface ProbedMethod {
  readonly name: string;
  readonly present: boolean;
  readonly detail?: string;
}

export interface UnreachableHub {
  readonly reachable: false;
  readonly errorClass: ErrorClass;
  readonly message: string;
  /** ASP.NET SignalR, without a hub of that name. */
  readonly classic?: true;
  readonly redirectsTo?: string;
}

export async function withProbe<T>(
  endpoint: Endpoint,
  withinMs: number,
  ask: (connection: HubConnection, listener: ProbeListener, connectMs: number) => Promise<T>,
): Promise<T | UnreachableHub> {
  const probing = asProbe(endpoint);
  const agents = new SocketAgents(probing, 1);
  const listener = new ProbeListener();
  const options = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 1024 * 1024 };
  const startedMs = performance.now();
  let connection: HubConnection | undefined;
  try {
    connection = await connectHub(
      0,
      { endpoint: probing, agents, listener, options },
      AbortSignal.timeout(Math.ceil(withinMs)),
    );
    return await ask(connection, listener, performance.now() - startedMs);
  } catch (error) {
    if (!(error instanceof ConnectFailure)) throw error;
    const { errorClass, message } = error;
    const redirected = error instanceof RedirectNotAllowed && { redirectsTo: error.host };
    return { reachable: false, errorClass, message, ...redirected };
  } finally {
    connection?.close();
    agents.destroy();
  }
}

/** @returns also why there was no reply, and whether the hub says that the method is missing */
export async function probeMethod(
  name: string,
  connection: HubConnection,
  { invocations }: ProbeListener,
  withinMs: number,
  args: readonly unknown[] = [],
): Promise<ProbedMethod & { errorClass?: ErrorClass; isMissing?: boolean }> {
  const outcome: InvocationOutcome = await invocations.invoke(connection, name, args, withinMs);
  if (outcome.ok) return { name, present: true };
  const { errorClass, text } = outcome;
  if (errorClass !== 'invocation') {
    return { name, present: false, detail: shownText(text), errorClass };
  }
  const isMissing = /method does not exist|unknown hub method|no method found with that name/i.test(
    text,
  );
  const isHidden = /^There was an error invoking Hub method/i.test(text);
  return {
    ...{ name, present: !isMissing, isMissing },
    ...(isHidden && { detail: 'not certain' }),
  };
}

class ProbeListener implements HubListener {
  readonly invocations = new Invocations();
  private greeted = false;
  private greet: () => void = () => undefined;

  received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    const { codec } = connection;
    const span: Span = { start, end, next: start };
    while (span.next < end && !connection.stopped) {
      codec.find(buffer, span.next, end, span);
      const message = codec.read(buffer, span.start, span.end);
      if (message?.type === hubMessageType.completion)
        this.invocations.completed(connection, message);
      if (message?.type === hubMessageType.close)
        connection.closedByServer(message.error ?? '', message.allowReconnect === true);
      if (
        message?.type === hubMessageType.invocation &&
        message.target.toLowerCase() === 'onconnected'
      ) {
        this.greeted = true;
        this.greet();
      }
    }
  }

  lost(connection: HubConnection): void {
    this.invocations.lost(connection);
  }

  greetedWithin(ms: number): Promise<boolean> {
    if (this.greeted || ms <= 0) return Promise.resolve(this.greeted);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(this.greeted);
      }, ms);
      this.greet = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

/**
 * Hosts outside `allowedHosts` (absent: outside this machine) to which hubs redirect, as app servers with Azure
 * SignalR do. Each hub is negotiated with once; other failures are left to the run.
 */
export async function redirectHosts(
  endpoint: Endpoint,
  withinMs = 10_000,
): Promise<readonly string[]> {
  const outcomes = await negotiateEach({ allowedHosts: [], ...endpoint }, withinMs);
  const hosts = outcomes.map((outcome) =>
    outcome instanceof RedirectNotAllowed ? outcome.host : undefined,
  );
  return [...new Set(hosts)].filter((host) => host !== undefined);
}

/** Found by the host, or by the path for clients where a gateway or an emulator has another host. */
export function serviceBehind(
  negotiated: URL | ConnectFailure | undefined,
): { readonly service: AzureService } | undefined {
  if (!(negotiated instanceof URL)) return undefined;
  const { hostname, pathname, searchParams } = negotiated;
  const isClientPath = /\/(?:aspnet)?client\/?$/i.test(pathname) && searchParams.has('hub');
  return findServiceByHost(hostname) === defaultService || isClientPath
    ? { service: defaultService }
    : undefined;
}

/** Negotiates once with each hub without opening a connection. @returns where it leads, or why it failed */
export async function negotiateEach(
  endpoint: Endpoint,
  withinMs: number,
): Promise<readonly (URL | ConnectFailure)[]> {
  if (endpoint.skipNegotiation) return [];
  const first = await new PersonalEndpoints(endpoint).of(0).catch(() => undefined);
  if (first === undefined) return [];
  const probing = asProbe(first.endpoint);
  const agents = new SocketAgents(probing, 1);
  const signal = AbortSignal.timeout(Math.ceil(withinMs));
  const outcomeOf = async (url: string): Promise<URL | ConnectFailure> => {
    try {
      return (await negotiate(probing, hubAddress(probing, url), agents, signal)).url;
    } catch (error) {
      if (error instanceof ConnectFailure) return error;
      throw error;
    }
  };
  try {
    return await Promise.all(endpoint.urls.map(outcomeOf));
  } finally {
    agents.destroy();
  }
}
