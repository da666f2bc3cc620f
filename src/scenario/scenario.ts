import type { Service } from '../base/serviceTraits';
import type { Slo } from '../base/slo';
import type { SearchSummary } from '../base/searchSummary';
import type { Parameters } from '../usecases/parameters';
import type { Row } from '../base/personalText';
import type { CalledIdentities, DataSpec, TokenRule } from './keys/identityKeys';
import type { ConfigFields, pushAudiences, UpstreamSpec } from './keys/configKeys';
import type { TargetSpec } from './target/targetKinds';

/** Enough to recognise a scenario file. */
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

/** The senders of one entry of a mix. */
export type SenderShare =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'share'; readonly share: number };

export interface ScenarioEntry {
  readonly name: string;
  readonly parameters: Parameters;
  /** Absent: an equal part of the rest. */
  readonly senders?: SenderShare;
}

export interface StagesSpec {
  readonly from: number;
  readonly stages: readonly StageSpec[];
}

export interface StageSpec {
  readonly to: number;
  readonly overMs: number;
  readonly holdMs: number;
}

/** What a hub sends on its own. */
export interface PushSpec {
  readonly name: string;
  readonly perSecond: number;
  /** Its arguments as JSON text. */
  readonly bytes: number;
  readonly to: (typeof pushAudiences)[number];
}

export type ObserveSpec =
  | {
      readonly kind: 'prometheus';
      readonly url: string;
      readonly authorization?: string;
      readonly series: readonly string[];
    }
  | { readonly kind: 'azureMonitor'; readonly resource: string; readonly region: string };

export type SearchSpec = Pick<
  SearchSummary,
  'of' | 'from' | 'to' | 'precision' | 'budgetMs' | 'ceiling'
>;

export type IdentitiesSpec =
  | { readonly kind: 'list'; readonly rows: readonly Row[] }
  | { readonly kind: 'file'; readonly file: string }
  | TokenRule
  | CalledIdentities;

/**
 * With all defaults; `keys/configKeys.ts` describes the keys of `config`. References such as
 * `${secret:name}` stay.
 */
export interface Scenario extends ConfigFields {
  readonly kind: (typeof kinds)[number];
  readonly service: Service;
  readonly target?: TargetSpec;
  readonly upstream?: UpstreamSpec;
  readonly identities?: IdentitiesSpec;
  readonly data?: DataSpec;
  readonly localAddresses?: readonly string[];
  /** `baseSending` is their peak, `singleStepDurationMs` their length. */
  readonly stages?: StagesSpec;
  readonly observe?: readonly ObserveSpec[];
  /** For the estimate alone. */
  readonly pushes?: readonly PushSpec[];
  /** Never empty. */
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

/** Recognises a scenario file before the descriptions of keys are loaded; a test compares them. */
export const configNames: ReadonlySet<string> = new Set(names.trim().split(/\s+/));
