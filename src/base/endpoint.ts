import type { ErrorClass } from './errorClass';
import type { PersonalPart, Row, RowValue } from './personalText';
import type { AzureService } from './serviceTraits';

/** What a connection needs to get in, all references resolved. Never stored, never shown. */
export interface Endpoint {
  /** `http:` or `https:` hub URLs; for `classic`, the hub's name follows the server's URL. */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly personal?: PersonalEndpoint;
  readonly accessToken?: string;
  readonly ca?: string;
  readonly clientCertificate?: ClientCertificate;
  /** Local addresses that sockets use in turn; absent: the system chooses. */
  readonly localAddresses?: readonly string[];
  readonly proxies?: ProxySettings;
  readonly insecureTls: boolean;
  readonly skipNegotiation: boolean;
  /** Absent: WebSockets. */
  readonly transport?: HttpTransport;
  readonly driver?: 'sdk';
  readonly classic?: true;
  /** Other hosts that redirects may lead to, `*.` for all below a domain; absent: any. */
  readonly allowedHosts?: readonly string[];
  readonly service?: ServiceAccess;
}

/** What differs from one connection to the next. Plain data. */
export interface PersonalEndpoint {
  readonly headers: Readonly<Record<string, readonly PersonalPart[]>>;
  readonly query: Readonly<Record<string, readonly PersonalPart[]>>;
  readonly accessToken?: readonly PersonalPart[];
  /** Connection i uses the one at i mod their number. */
  readonly identities?: Identities;
  readonly data?: DataRows;
}

export type Identities =
  | { readonly kind: 'rows'; readonly rows: readonly IdentityRow[] }
  | SigningRule;

/** `failed` says why the identity has no values. */
export interface IdentityRow {
  readonly values: Row;
  /** When its token expires, milliseconds since 1970, if it is renewed before. */
  readonly expiresMs?: number;
  readonly failed?: {
    readonly errorClass: ErrorClass;
    readonly message: string;
    /** The token endpoint does not answer, or says that it cannot. */
    readonly isDown?: boolean;
  };
}

export interface SigningRule {
  readonly kind: 'rule';
  readonly count: number;
  readonly key: string;
  readonly head: { readonly alg: string; readonly typ: 'JWT'; readonly kid?: string };
  readonly user: readonly PersonalPart[];
  readonly userClaim: string;
  readonly claims: Readonly<Record<string, PersonalValue>>;
  readonly audience?: string;
  readonly issuer?: string;
  readonly lifetimeMs: number;
}

export type PersonalValue =
  | { readonly parts: readonly PersonalPart[] }
  | { readonly items: readonly PersonalValue[] }
  | { readonly members: Readonly<Record<string, PersonalValue>> }
  | { readonly value: RowValue };

export interface DataRows {
  readonly rows: readonly Row[];
  /** Each call takes the next row; otherwise connection i has the one at i mod their number. */
  readonly shared: boolean;
}

export type ServiceAccess = ServiceHub & ServicePass;

export interface ServiceHub {
  readonly kind: AzureService;
  readonly hub: string;
  /** `http(s)://host` without a port: the audience of access tokens. */
  readonly audience: string;
  /** `http(s)://host[:port]` of REST calls, with a gateway's path if any, without a slash at the end. */
  readonly restUrl: string;
}

export type ServicePass = AccessKeyPass | SignedInPass;

interface AccessKeyPass {
  readonly accessKey: string;
}

export interface SignedInPass {
  /** Token of Microsoft Entra ID, for REST calls and server connections. */
  readonly bearer: string;
  /** Signs tokens of clients: lent by Azure SignalR Service. Azure Web PubSub signs them itself. */
  readonly signingKey?: SigningKey;
}

export interface SigningKey {
  readonly id: string;
  readonly text: string;
}

export type HttpTransport = 'ServerSentEvents' | 'LongPolling';

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
  readonly passphrase?: string;
}

export interface ProxySettings {
  readonly http?: string;
  readonly https?: string;
  /** Hosts that are reached directly, in lower case. */
  readonly except: readonly string[];
}

/** What opening a connection consists of; in order, except negotiate, which comes first. */
export const connectPhases = ['dns', 'tcp', 'tls', 'negotiate', 'upgrade', 'handshake'] as const;
export type ConnectPhase = (typeof connectPhases)[number];

export type PhaseTimes = Partial<Record<ConnectPhase, number>>;

/** Header of each HTTP response of the embedded hub and the emulators. */
export const emulatorHeader = 'X-SignalR-Bench';

/** Whether a host, as it stands in a URL, is this machine: its names, 127.0.0.0/8 and ::1 (RFC 6761, RFC 1122, RFC 4291). */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (/^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host)) return true;
  return host === '::1' || /^::ffff:(?:7f[0-9a-f]{2}:|127\.)/.test(host);
}

/** Whether a client that connects there reaches this machine: at unspecified addresses, too. */
export const isThisMachine = (hostname: string): boolean =>
  isLoopbackHost(hostname) ||
  /^(?:0\.0\.0\.0|::|::ffff:(?:0:0|0\.0\.0\.0))$/i.test(hostname.replace(/^\[|\]$/g, ''));
