import type { Slo } from '../base/slo';
import type { Parameters } from '../usecases/parameterSpec';
import type { Service } from '../usecases/traffic';
import type { TargetSpec } from './target/targetKinds';

/**
 * Text that may hold references `${env:NAME}` and `${secret:name}`. They stay references in the model
 * and are resolved at one place only, when the target is opened.
 */
export type ReferenceText = string;

export const transports = ['Websockets', 'ServerSentEvents', 'LongPolling'] as const;
export type Transport = (typeof transports)[number];
export const protocols = ['json', 'messagepack'] as const;
export type HubProtocol = (typeof protocols)[number];
/** How clients of Azure Web PubSub talk; the names are ours, the service's are longer. */
export const subprotocols = [
  'json',
  'reliableJson',
  'protobuf',
  'reliableProtobuf',
  'none',
] as const;
export type Subprotocol = (typeof subprotocols)[number];

export const ackChoices = ['first', 'all'] as const;
/** Which messages of clients ask for an acknowledgement. */
export type Acks = (typeof ackChoices)[number];
export const dialects = ['auto', 'recordLatency', 'measure'] as const;
export type Dialect = (typeof dialects)[number];
/** Whether a client is served by the app server it has negotiated with. */
export const stickyModes = ['disabled', 'preferred', 'required'] as const;

export const skus = ['free', 'standard', 'premium'] as const;
export type Sku = (typeof skus)[number];
export const batchModes = ['HighPress', 'LowPress', 'LimitRatePress', 'ExtLimitRatePress'] as const;
export type BatchMode = (typeof batchModes)[number];
export const reconnectPolicies = ['atOnce', 'fixed', 'exponential', 'signalr'] as const;
export type ReconnectPolicy = (typeof reconnectPolicies)[number];
export const targetChoices = ['roundRobin', 'random'] as const;
export type TargetChoice = (typeof targetChoices)[number];

/** How many senders of a step belong to one entry of a mix. */
export type SenderShare =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'share'; readonly share: number };

/** One use case of a scenario with its parameters, all filled in. */
export interface ScenarioEntry {
  /** Name of the use case in the registry. */
  readonly name: string;
  readonly parameters: Parameters;
  /** Absent: an equal part of the senders that the other entries leave. */
  readonly senders?: SenderShare;
}

/** Our handler for the service's calls (upstream), as configured. */
export interface UpstreamSpec {
  readonly port: number;
  readonly publicUrl?: ReferenceText;
}

/**
 * A scenario as read from a file: every default filled in, units are those in the names. Plain data,
 * safe to clone and to write as JSON.
 */
export interface Scenario {
  readonly kind: 'perf' | 'perf2' | 'resultparser';
  readonly service: Service;
  /** Absent when the file names no target. */
  readonly target?: TargetSpec;
  /** How connections are spread over several URLs. */
  readonly targetChoice: TargetChoice;
  /** Hub name for service targets. */
  readonly hub: string;
  /** Units the user has or plans. */
  readonly unit?: number;
  readonly sku?: Sku;
  readonly connectionType: 'Core' | 'AspNet';
  readonly connections: number;
  /** Connections opened per second. */
  readonly arrivingRate: number;
  /** Absent: a true rate. */
  readonly arrivingBatchMode?: BatchMode;
  readonly arrivingBatchWaitMs: number;
  /** Connections that were dropped are opened again. */
  readonly repair: boolean;
  readonly reconnectPolicy: ReconnectPolicy;
  readonly reconnectDelayMs: number;
  /** Mean life of a connection; absent: they stay. */
  readonly lifetimeMs?: number;
  /** All connections are dropped so long after each step's measuring began; absent: never. */
  readonly dropAllAfterMs?: number;
  readonly baseSending: number;
  readonly step: number;
  readonly sendingSteps: number;
  readonly singleStepDurationMs: number;
  readonly warmupMs: number;
  readonly drainMs: number;
  readonly pacing: 'open' | 'closed';
  readonly driver: 'native' | 'sdk';
  readonly dialect: Dialect;
  readonly transport: Transport;
  readonly protocol: HubProtocol;
  /** Of Azure Web PubSub; others do not look at it. */
  readonly subprotocol: Subprotocol;
  /** Of Azure Web PubSub. */
  readonly acks: Acks;
  readonly skipNegotiation: boolean;
  /** Negotiate + upgrade + handshake, retries included. */
  readonly connectTimeoutMs: number;
  readonly connectInFlight: number;
  /** Absent: chosen by the machine. */
  readonly workers?: number;
  readonly seed: number;
  readonly headers: Readonly<Record<string, ReferenceText>>;
  readonly query: Readonly<Record<string, ReferenceText>>;
  readonly accessToken?: ReferenceText;
  readonly caFile?: string;
  /** PEM files of the client's certificate and its key; without the second, both are in the first. */
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly keyPassword?: ReferenceText;
  readonly insecureTls: boolean;
  readonly appServers: number;
  readonly serverConnections: number;
  readonly serverStickyMode?: (typeof stickyModes)[number];
  readonly upstream?: UpstreamSpec;
  /** The Azure SignalR benchmark's counter file; written only when the file names it. */
  readonly resultFilePath?: string;
  readonly debug: boolean;
  /** One entry for `scenario:`, several for `scenarios:`; never empty. */
  readonly entries: readonly ScenarioEntry[];
  readonly slo: Slo;
}
