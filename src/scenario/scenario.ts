import type { Service } from '../base/serviceTraits';
import type { Slo } from '../base/slo';
import type { SearchSummary } from '../base/searchSummary';
import type { Parameters } from '../usecases/parameters';
import type { Row } from '../base/rows';
import type { CalledIdentities, DataSpec, TokenRule } from './keys/identityKeys';
import type { ConfigFields, pushAudiences, UpstreamSpec } from './keys/configKeys';
import type { TargetSpec } from './target/targetKinds';

/** Names of the keys at the top of a file: all that it takes to recognise a scenario. */
export const topNames = [
  'mode',
  'kind',
  'config',
  'scenario',
  'scenarios',
  'slo',
  'search',
] as const;
export const kinds = ['perf', 'perf2', 'resultparser'] as const;

export type HubProtocol = Scenario['protocol'];
export type Subprotocol = Scenario['subprotocol'];
export type Dialect = Scenario['dialect'];
export type BatchMode = NonNullable<Scenario['arrivingBatchMode']>;
export type ReconnectPolicy = Scenario['reconnectPolicy'];
export type TargetChoice = Scenario['targetChoice'];

/** How many senders of a step belong to one entry of a mix. */
export type SenderShare =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'share'; readonly share: number };

export interface ScenarioEntry {
  readonly name: string;
  readonly parameters: Parameters;
  /** Absent: an equal part of the senders that the other entries leave. */
  readonly senders?: SenderShare;
}

/** Senders that come and go within one step, all entries together. */
export interface StagesSpec {
  readonly from: number;
  readonly stages: readonly StageSpec[];
}

export interface StageSpec {
  readonly to: number;
  readonly overMs: number;
  readonly holdMs: number;
}

/** What a hub sends on its own, in calls of one client method. */
export interface PushSpec {
  readonly name: string;
  readonly perSecond: number;
  /** Its arguments as JSON text. */
  readonly bytes: number;
  readonly to: (typeof pushAudiences)[number];
}

/** Where metrics of the server are read beside the load. References such as `${secret:name}` stay. */
export type ObserveSpec =
  | {
      readonly kind: 'prometheus';
      readonly url: string;
      readonly authorization?: string;
      /** Names of further series, with `*` for any part. */
      readonly series: readonly string[];
    }
  | { readonly kind: 'azureMonitor'; readonly resource: string; readonly region: string };

/** A capacity search instead of fixed steps. */
export type SearchSpec = Pick<
  SearchSummary,
  'of' | 'from' | 'to' | 'precision' | 'budgetMs' | 'ceiling'
>;

/** Who the connections are. Texts have their references and placeholders still in them. */
export type IdentitiesSpec =
  | { readonly kind: 'list'; readonly rows: readonly Row[] }
  | { readonly kind: 'file'; readonly file: string }
  | TokenRule
  | CalledIdentities;

/** Every default filled in; keys of `config` are described in `keys/configKeys.ts`. References such as `${secret:name}` stay. */
export interface Scenario extends ConfigFields {
  readonly kind: (typeof kinds)[number];
  readonly service: Service;
  readonly target?: TargetSpec;
  readonly upstream?: UpstreamSpec;
  readonly identities?: IdentitiesSpec;
  readonly data?: DataSpec;
  /** IP addresses that sockets come from; never empty. */
  readonly localAddresses?: readonly string[];
  /** `baseSending` is the highest number of them, and the only step lasts as long as they do. */
  readonly stages?: StagesSpec;
  /** Absent: nothing. */
  readonly observe?: readonly ObserveSpec[];
  /** For the estimate alone. Absent: nothing is known of it. */
  readonly pushes?: readonly PushSpec[];
  /** One entry for `scenario:`, several for `scenarios:`; never empty. */
  readonly entries: readonly ScenarioEntry[];
  readonly slo: Slo;
  readonly search?: SearchSpec;
}

const names = `
  target webAppTarget targetChoice connectionString service hub unit sku connectionType
  headers query accessToken identities data caFile certFile keyFile keyPassword insecureTls
  appServers serverConnections serverStickyMode upstream transport protocol subprotocol acks
  skipNegotiation connections arrivingRate arrivingBatchMode arrivingBatchWait connectTimeout
  connectInFlight repair reconnectPolicy reconnectDelay lifetime dropAllAfter baseSending step
  senderOrder sendingSteps singleStepDuration warmup drain pacing arrivals stages observe
  pushes timeToAll driver dialect workers processes localAddresses agents repeat
  unlikeRecording seed connectionFailPercentage latencyPercentage resultFilePath debug
`;

/** Names of all keys of `config`, for who must know them before what they mean is loaded: a test compares them. */
export const configNames: ReadonlySet<string> = new Set(names.trim().split(/\s+/));
