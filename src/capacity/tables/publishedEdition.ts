import type { Product } from '../model';

/** Tables that limits are taken from. */
export type TableName =
  | 'echo'
  | 'broadcast'
  | 'small_group'
  | 'big_group'
  | 'send_to_connection'
  | 'rest_broadcast'
  | 'rest_send_to_user'
  | 'upstream_echo';

/** Seen from the service: `in` is client → service, `out` is service → client. */
export type Direction = 'in' | 'out';

/** One row of a table, one value per listed size. */
export interface PublishedRow {
  readonly values: readonly number[];
  /** Line in the document, where it was recorded. */
  readonly line?: number;
}

/** What one edition publishes for one kind of traffic. */
export interface PublishedTable {
  /** Headings above the table, outermost first. */
  readonly heading: string;
  /** Sizes the limits are listed for, rising. */
  readonly units: readonly number[];
  /** Messages per second at 2,048 bytes; absent where the printed row is no limit. */
  readonly in?: PublishedRow;
  readonly out?: PublishedRow;
  /** App servers, one count per `listedUnits` of the edition. */
  readonly appServers?: PublishedRow;
  /** Web apps of ASP.NET SignalR, likewise. */
  readonly webApps?: PublishedRow;
  readonly serverConnections?: number;
  /** Senders the table was measured with, at most. */
  readonly sendersAtMost?: number;
}

/** A place where the value computed with is not the printed one. */
export interface Erratum {
  /** Item of docs/capacity.md. */
  readonly item: string;
  /** What it is about: a table's name where it concerns one table's limits. */
  readonly limit: string;
  /** Size or sizes. */
  readonly unit: string;
  readonly printed: string;
  readonly used: string;
}

/** One edition of one guide, ready to compute with. Editions are never mixed. */
export interface PublishedEdition {
  readonly name: 'sr2023' | 'later' | 'wps';
  readonly product: Product;
  readonly title: string;
  /** Date or description of the edition. */
  readonly edition: string;
  /** The document in two or three words, for people. */
  readonly label: string;
  readonly connectionsPerUnit: number;
  /** Where the limit of connections is stated. */
  readonly connectionsFrom: { readonly heading: string; readonly line: number };
  /** Sizes that nearly all tables list. */
  readonly listedUnits: readonly number[];
  /** Sizes that can be bought and that the tables reach, rising. */
  readonly candidates: readonly number[];
  readonly tables: Readonly<Partial<Record<TableName, PublishedTable>>>;
  readonly errata: readonly Erratum[];
}

/** What can be bought, and what the Free tier allows. */
export interface Offer {
  /** Sizes by tier, rising. */
  readonly units: {
    readonly free: readonly number[];
    readonly standard: readonly number[];
    readonly premium: readonly number[];
  };
  /** Connections and messages a day of the Free tier's unit. */
  readonly freeConnections: number;
  readonly freeMessagesPerDay: number;
}
