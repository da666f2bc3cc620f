import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A printed cell as a number, or a printed range as its two ends. */
export type Cell = number | readonly [number, number];

export interface DataRow {
  readonly field: string;
  readonly line?: number;
  readonly printed?: readonly string[];
  readonly value: readonly Cell[];
}

export interface DataTable {
  readonly id: string;
  readonly source: string;
  readonly heading: string;
  readonly kind: string;
  readonly use_case: string;
  readonly header_line?: number;
  readonly units: readonly number[];
  readonly rows: readonly DataRow[];
}

export interface KnownCell {
  readonly item: string;
  readonly table: string;
  readonly field: string;
  readonly unit?: number | 'all';
  readonly units?: readonly number[];
}

export interface ResolvedBlock {
  readonly from: string;
  readonly base_message_bytes: number;
  readonly listed_units: readonly number[];
  readonly listed_units_of?: Readonly<Record<string, readonly number[]>>;
  readonly limits: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
  readonly departures_from_print: readonly {
    readonly item: string;
    readonly limit: string;
    readonly unit: number | string;
  }[];
  readonly app_servers?: Readonly<Record<string, readonly number[]>>;
  readonly aspnet_web_apps?: Readonly<Record<string, readonly number[]>>;
}

type KnownCells = Readonly<Record<'bandwidth' | 'groups' | 'ceiling', readonly KnownCell[]>>;

interface DataFile {
  readonly sources: Readonly<Record<string, { readonly title?: string }>>;
  readonly tables: readonly DataTable[];
  readonly known_cells: KnownCells;
}

function read(name: string): unknown {
  return parse(readFileSync(`src/capacity/published/${name}.yaml`, 'utf8'));
}

const guides = read('guides') as DataFile & {
  resolved: Record<'signalr' | 'webpubsub', ResolvedBlock>;
};
const further = read('furtherSources') as DataFile & {
  resolved: { signalr: { later: ResolvedBlock } };
};

/** The data files as one: all tables, all known cells, the three editions to compute with. */
export const published = {
  sources: { ...guides.sources, ...further.sources },
  tables: [...guides.tables, ...further.tables],
  known: (group: keyof KnownCells): readonly KnownCell[] => [
    ...guides.known_cells[group],
    ...further.known_cells[group],
  ],
  editions: [guides.resolved.signalr, further.resolved.signalr.later, guides.resolved.webpubsub],
};

/** Row of a table by field. */
export function rowOf(table: DataTable, ...fields: readonly string[]): DataRow | undefined {
  return table.rows.find((row) => fields.includes(row.field));
}

/** Both ends of a cell. */
export function ends(cell: Cell): readonly [number, number] {
  return typeof cell === 'number' ? [cell, cell] : cell;
}

/** `table field unit`, to compare lists of cells. */
export function cellName(table: string, field: string, unit: number | string): string {
  return `${table} ${field} ${unit}`;
}

/** Names of known cells, one per unit. */
export function knownNames(group: 'bandwidth' | 'groups' | 'ceiling'): string[] {
  return published
    .known(group)
    .flatMap(({ table, field, unit, units }) =>
      (units ?? [unit ?? 'all']).map((one) => cellName(table, field, one)),
    )
    .sort();
}
