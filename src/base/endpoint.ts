import type { ErrorClass } from './errorClass';
import type { PersonalPart } from './personalText';
import type { Row, RowValue } from './rows';
import type { AzureService } from './serviceTraits';

/** Everything a connection needs to get in, with all references resolved. Never stored, never shown. */
export interface Endpoint {
  /** `http:` or `https:` hub URLs; of `classic` hubs with the hub's name behind the server's URL. */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** What differs from one connection to the next. */
  readonly personal?: PersonalEndpoint;
  readonly accessToken?: string;
  /** PEM text of the certificate authorities to trust, in place of those that Node knows. */
  readonly ca?: string;
  /** PEM text of the client's certificate and key, where the server wants them. */
  readonly clientCertificate?: ClientCertificate;
  /** Addresses of this machine that sockets come from in turn; absent: the system chooses. */
  readonly localAddresses?: readonly string[];
  /** Absent: every way is direct. */
  readonly proxies?: ProxySettings;
  readonly insecureTls: boolean;
  readonly skipNegotiation: boolean;
  /** How messages travel; over WebSockets when absent. */
  readonly transport?: HttpTransport;
  /** The client that opens the connections; our own when absent. */
  readonly driver?: 'sdk';
  /** The hubs are of ASP.NET SignalR, not of ASP.NET Core. */
  readonly classic?: true;
  /** Names of other machines that redirects may lead to, `*.` for all below a domain; absent: any. */
  readonly allowedHosts?: readonly string[];
  /** A service of Azure, where each connection signs a token of its own. */
  readonly service?: ServiceAccess;
}

/** What is filled when a connection opens, and where the values come from. Plain data. */
export interface PersonalEndpoint {
  readonly headers: Readonly<Record<string, readonly PersonalPart[]>>;
  readonly query: Readonly<Record<string, readonly PersonalPart[]>>;
  /** Absent: the token of the identity, where it has one. */
  readonly accessToken?: readonly PersonalPart[];
  /** Connection i is the one at i mod their number. */
  readonly identities?: Identities;
  readonly data?: DataRows;
}

export type Identities =
  | { readonly kind: 'rows'; readonly rows: readonly IdentityRow[] }
  | SigningRule;

/** Its values; `failed` where nobody has given it any, in a sentence. */
export interface IdentityRow {
  readonly values: Row;
  /** When its token expires, milliseconds since 1970, where it is renewed before. */
  readonly expiresMs?: number;
  readonly failed?: {
    readonly errorClass: ErrorClass;
    readonly message: string;
    /** Nobody answers where tokens come from, or what answers says that it cannot. */
    readonly isDown?: boolean;
  };
}

/** Makes a JSON web token for each identity. */
export interface SigningRule {
  readonly kind: 'rule';
  readonly count: number;
  /** Text, or a private key in PEM form. */
  readonly key: string;
  readonly head: { readonly alg: string; readonly typ: 'JWT'; readonly kid?: string };
  readonly user: readonly PersonalPart[];
  readonly userClaim: string;
  readonly claims: Readonly<Record<string, PersonalValue>>;
  readonly audience?: string;
  readonly issuer?: string;
  readonly lifetimeMs: number;
}

/** A value whose texts are filled. */
export type PersonalValue =
  | { readonly parts: readonly PersonalPart[] }
  | { readonly items: readonly PersonalValue[] }
  | { readonly members: Readonly<Record<string, PersonalValue>> }
  | { readonly value: RowValue };

export interface DataRows {
  readonly rows: readonly Row[];
  /** Each call takes the next one; else connection i has the one at i mod their number. */
  readonly shared: boolean;
}

/** Azure SignalR Service (serverless) or Azure Web PubSub. */
export type ServiceAccess = ServiceHub & ServicePass;

export interface ServiceHub {
  readonly kind: AzureService;
  readonly hub: string;
  /** `http(s)://host` without a port: what access tokens are made out to. */
  readonly audience: string;
  /** `http(s)://host[:port]` of REST calls; behind a gateway with the path before theirs, without a slash at the end. */
  readonly restUrl: string;
}

/** Its access key, or for a while a sign-in. */
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

/** For `http:` and `https:` hubs; hosts of `except` are reached without. */
export interface ProxySettings {
  readonly http?: string;
  readonly https?: string;
  /** In lower case. */
  readonly except: readonly string[];
}

/** What opening a connection consists of, in the order in which it happens but for negotiate, which comes first. */
export const connectPhases = ['dns', 'tcp', 'tls', 'negotiate', 'upgrade', 'handshake'] as const;
export type ConnectPhase = (typeof connectPhases)[number];

/** Microseconds that each phase took; phases that did not happen are absent. */
export type PhaseTimes = Partial<Record<ConnectPhase, number>>;

/** In each HTTP answer of the embedded hub and the emulators. */
export const emulatorHeader = 'X-SignalR-Bench';
