import { idMethods, type ContractMethods, type HubDialect } from '../../base/message';
import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { serviceOfHost, usualService, type AzureService } from '../../base/serviceTraits';
import {
  type HubConnection,
  type HubListener,
  Invocations,
  type InvocationOutcome,
} from '../hub/clientConnection';
import type { Span } from '../message/hubCodec';
import { hubMessageType } from '../message/hubMessage';
import { SocketAgents } from '../socket/socket';
import { ConnectFailure, LeavesHosts, shownText, shownUrl } from '../connectFailure';
import { connectHub, negotiate, negotiationOf } from './connectHub';
import { PersonalEndpoints } from './personalEndpoints';
import { asProbe } from './probeMark';

interface ProbedMethod {
  readonly name: string;
  readonly present: boolean;
  readonly detail?: string;
}

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
  | {
      readonly reachable: false;
      readonly errorClass: ErrorClass;
      readonly message: string;
      /** A server of ASP.NET SignalR answers there, and has no hub of that name. */
      readonly classic?: true;
      /** Host that the hub redirects to, where that was as far as one may go. */
      readonly redirectsTo?: string;
    };

export interface HubAnswer {
  /** Absent where only the kind of hub was asked for. */
  readonly dialect?: HubDialect;
  /** Methods that were asked about and that the hub does not have; only hubs that do not show a dialect are asked. */
  readonly lacks: readonly string[];
  /** What the hub is, where that is not what the endpoint says: its clients would not be let in. */
  readonly isRather?: ConnectionType;
  /** The service that it sends its clients to. */
  readonly service?: AzureService;
}

type ConnectionType = 'Core' | 'AspNet';

const connectTimeoutMs = 8000;
const answerTimeoutMs = 4000;
const greetingMs = 1000;

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
  return connected(endpoint, connectTimeoutMs, async (connection, listener, connectMs) => {
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
): Promise<HubAnswer | undefined> {
  const untilMs = performance.now() + withinMs;
  const leftMs = (): number => Math.max(1, Math.min(answerTimeoutMs, untilMs - performance.now()));
  const negotiating = negotiations(endpoint, withinMs);
  if (methods === 'kindOnly') {
    const [negotiated] = await negotiating;
    if (!(negotiated instanceof ConnectFailure)) {
      const behind = serviceBehind(negotiated);
      return behind && { lacks: [], ...behind };
    }
    return rather(endpoint, negotiated, async (other) => {
      const [outcome] = await negotiations(other, leftMs());
      return outcome instanceof ConnectFailure ? outcome : undefined;
    });
  }
  const finding = connected(endpoint, withinMs, async (connection, listener) => {
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
  return rather(endpoint, found, (other) =>
    connected(other, leftMs(), () => Promise.resolve(undefined)),
  );
}

/** @param failureOf asks the hub as one of the other kind */
async function rather(
  endpoint: Endpoint,
  { errorClass }: { readonly errorClass: ErrorClass },
  failureOf: (other: Endpoint) => Promise<unknown>,
): Promise<HubAnswer | undefined> {
  if (!mayBeOther(errorClass)) return undefined;
  const { classic: isClassic = false, ...core } = endpoint;
  const other = isClassic ? core : { ...endpoint, classic: true as const };
  if ((await failureOf(other)) !== undefined) return undefined;
  return { lacks: [], isRather: isClassic ? 'Core' : 'AspNet' };
}

/** Nobody writes a hub method with so many parameters; empty objects are what a careless server stumbles over least. */
const tooMany: readonly unknown[] = Array.from({ length: 32 }, () => ({}));

async function connected<T>(
  endpoint: Endpoint,
  withinMs: number,
  ask: (connection: HubConnection, listener: ProbeListener, connectMs: number) => Promise<T>,
): Promise<T | (HubProbe & { readonly reachable: false })> {
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
    const redirected = error instanceof LeavesHosts && { redirectsTo: error.host };
    return { reachable: false, errorClass, message, ...redirected };
  } finally {
    connection?.close();
    agents.destroy();
  }
}

/** @returns beside the method: why there was no answer, and whether the hub says that it has no such method */
async function probeMethod(
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
 * Hosts that hubs redirect to and that may get no load yet, as an app server with Azure SignalR does: absent in the
 * endpoint, all beyond this machine. Each hub is asked once; what else keeps it from answering is left to the run.
 * @param withinMs time all hubs have together
 */
export async function redirectHosts(
  endpoint: Endpoint,
  withinMs = 10_000,
): Promise<readonly string[]> {
  const outcomes = await negotiations({ allowedHosts: [], ...endpoint }, withinMs);
  const hosts = outcomes.map((outcome) =>
    outcome instanceof LeavesHosts ? outcome.host : undefined,
  );
  return [...new Set(hosts)].filter((host) => host !== undefined);
}

/** By its host, or the path of its clients where a gateway or an emulator has another host. */
function serviceBehind(
  negotiated: URL | ConnectFailure | undefined,
): Pick<HubAnswer, 'service'> | undefined {
  if (!(negotiated instanceof URL)) return undefined;
  const { hostname, pathname, searchParams } = negotiated;
  const isClientPath = /\/(?:aspnet)?client\/?$/i.test(pathname) && searchParams.has('hub');
  return serviceOfHost(hostname) === usualService || isClientPath
    ? { service: usualService }
    : undefined;
}

/** Negotiates once with each hub as the first client does, which opens no connection. @returns where it leads, or why it failed */
async function negotiations(
  endpoint: Endpoint,
  withinMs: number,
): Promise<readonly (URL | ConnectFailure)[]> {
  if (endpoint.skipNegotiation) return [];
  const first = await new PersonalEndpoints(endpoint).of(0).catch(() => undefined);
  // Who cannot be asked for is left to the run.
  if (first === undefined) return [];
  const probing = asProbe(first.endpoint);
  const agents = new SocketAgents(probing, 1);
  const signal = AbortSignal.timeout(Math.ceil(withinMs));
  const outcomeOf = async (url: string): Promise<URL | ConnectFailure> => {
    try {
      return (await negotiate(probing, negotiationOf(probing, url), agents, signal)).url;
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
