import type { AzureService } from '../base/serviceTraits';
import type { TrafficKind, Traffic } from '../usecases/useCase';

export type Product = AzureService;
export const signalrEditions = ['sr2023', 'later'] as const;
export type Edition = (typeof signalrEditions)[number];

export interface EstimateInput {
  readonly product: Product;
  readonly connections: number;
  readonly useCases: readonly Traffic[];
  readonly stack?: 'aspnetcore' | 'aspnet';
  readonly serverConnections?: number;
  readonly serverless?: boolean;
  /** No room for the app servers that the guides advise. */
  readonly freeTier?: boolean;
  readonly assumptions?: readonly string[];
}

export interface EstimateOptions {
  readonly edition?: Edition;
  /** Share of the traffic limits to plan for, above 0 to 1; absent: 1. */
  readonly headroom?: number;
}

export type OrProblem<Found> = Found | { readonly problem: string };

export interface EstimateLoad {
  readonly kind: TrafficKind;
  readonly table: string;
  readonly in_messages_per_s: number;
  readonly out_messages_per_s: number;
  readonly in_bytes_per_s: number;
  readonly out_bytes_per_s: number;
}

export const undated = 'undated';

export interface TableSource {
  readonly document: string;
  readonly title: string;
  readonly edition: string;
  readonly heading: string;
  readonly line?: number;
}

/** Messages per second; bandwidth in messages of 2,048 bytes, the size behind every table. */
export interface LimitUse {
  readonly name: string;
  readonly table: string;
  readonly direction: 'in' | 'out';
  readonly measure: 'messages' | 'bandwidth';
  readonly load: number;
  readonly limit: number;
  readonly utilisation: number;
  readonly source: TableSource;
}

export interface NeighbourUse {
  readonly unit: number;
  readonly recommended: boolean;
  readonly connections: number;
  readonly inbound: number;
  readonly outbound: number;
}

export type BilledMessages = Readonly<
  Record<'messages_per_s' | 'messages_per_day' | 'messages_per_month', number>
>;

/** Outbound messages of 2 KB with envelopes, as the services bill them. */
export interface Billing extends BilledMessages {
  readonly payload_only: BilledMessages;
}

export interface OtherEdition {
  readonly edition: string;
  readonly unit: number | null;
}

export interface UnitVerdict {
  readonly exceeded: boolean;
  readonly offered: boolean;
  readonly sentence: string;
  readonly byServerConnections?: true;
}

/** Fields in snake case are those of the test vectors and of `estimate --json`. */
export interface Estimate {
  readonly loads: readonly EstimateLoad[];
  /** Smallest size on offer that fits; null when none does. */
  readonly unit: number | null;
  readonly unit_listed: number | null;
  readonly unit_strict: number | null;
  readonly unit_guide_sum: number | null;
  readonly unit_within_rounding: number | null;
  readonly at_unit: number;
  readonly traffic_utilisation: number;
  readonly connection_utilisation: number;
  readonly limiting: readonly string[];
  readonly app_servers: number | null;
  readonly server_connections_per_app_server: number | null;
  readonly warnings: readonly string[];
  /** Only where no size fits, and another edition has larger ones. */
  readonly other_edition?: OtherEdition;
  readonly planned?: UnitVerdict;

  /** Null where unknown. `unit` leaves them out, as the guides' tests did. */
  readonly server_connections: number | null;
  readonly server_connections_by: 'run' | 'guide';
  /** Null when no size has room for these connections too. */
  readonly unit_with_server_connections: number | null;
  readonly product: Product;
  readonly edition: string;
  readonly headroom: number;
  readonly limits: readonly LimitUse[];
  readonly binding: {
    readonly name: string;
    readonly utilisation: number;
    readonly text: string;
    readonly source?: TableSource;
  };
  readonly neighbours: readonly NeighbourUse[];
  readonly formula: readonly string[];
  readonly notes: readonly string[];
  readonly advice?: string;
  readonly billing?: Billing;
}

/** Fields by their unit. */
const unitsOf = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([unit, paths]) => paths.split(' ').map((path) => [path, unit])),
  );

export const estimateUnits = unitsOf({
  'messages/s': 'loads[].in_messages_per_s loads[].out_messages_per_s',
  'bytes/s': 'loads[].in_bytes_per_s loads[].out_bytes_per_s',
  Unit: 'unit unit_listed unit_strict unit_guide_sum unit_within_rounding unit_with_server_connections at_unit other_edition.unit neighbours[].unit',
  ratio:
    'traffic_utilisation connection_utilisation headroom limits[].utilisation binding.utilisation neighbours[].connections neighbours[].inbound neighbours[].outbound',
  'app servers': 'app_servers',
  connections: 'server_connections_per_app_server server_connections',
  'messages/s, for measure bandwidth of 2,048 bytes': 'limits[].load limits[].limit',
  line: 'limits[].source.line binding.source.line',
  'messages of 2 KB/s': 'billing.messages_per_s billing.payload_only.messages_per_s',
  'messages of 2 KB/day': 'billing.messages_per_day billing.payload_only.messages_per_day',
  'messages of 2 KB/30 days': 'billing.messages_per_month billing.payload_only.messages_per_month',
});

export const priceUnits = unitsOf({
  Unit: 'price.unit',
  hours: 'price.hours',
  money: 'price.units price.messages price.total price_per_month',
});

export type TableName =
  | 'echo'
  | 'broadcast'
  | 'small_group'
  | 'big_group'
  | 'send_to_connection'
  | 'rest_broadcast'
  | 'rest_send_to_user'
  | 'upstream_echo';

export type Direction = 'in' | 'out';

interface PublishedRow {
  readonly values: readonly number[];
  readonly line?: number;
}

export interface PublishedTable {
  readonly heading: string;
  /** Rising; absent: `listedUnits` of the edition. */
  readonly units?: readonly number[];
  /** Messages per second of 2,048 bytes; absent where the printed row is no limit. */
  readonly in?: PublishedRow;
  readonly out?: PublishedRow;
  readonly appServers?: PublishedRow;
  readonly webApps?: PublishedRow;
  readonly serverConnections?: number;
  readonly sendersAtMost?: number;
}

/** A misprint that is not used. */
interface Erratum {
  /** Item of docs/capacity.md. */
  readonly item: string;
  readonly table: TableName;
  readonly unit: number;
  readonly printed: string;
  readonly used: string;
}

export interface PublishedEdition {
  readonly name: 'sr2023' | 'later' | 'wps';
  readonly product: Product;
  readonly title: string;
  readonly edition: string;
  readonly label: string;
  readonly connectionsPerUnit: number;
  readonly connectionsFrom: { readonly heading: string; readonly line: number };
  readonly listedUnits: readonly number[];
  readonly tables: Readonly<Partial<Record<TableName, PublishedTable>>>;
  readonly errata: readonly Erratum[];
}

export interface Offer {
  readonly units: Readonly<Record<'free' | 'standard' | 'premium', readonly number[]>>;
  readonly freeConnections: number;
  readonly freeMessagesPerDay: number;
}
