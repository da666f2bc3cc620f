import { services } from '../../base/services';
import type { ServiceLoad } from '../load/serviceLoad';
import type { PublishedTable, TableName } from '../tables/publishedEdition';
import { isRest, tableOf } from '../tables/tables';
import type { Demand } from './search';

/** App servers (web apps for ASP.NET) for a size; both null where nothing is published. */
export interface AppServers {
  readonly count: number | null;
  readonly serverConnections: number | null;
}

export const noServers: AppServers = { count: null, serverConnections: null };

/** ASP.NET has no web-app row for big groups and single connections: the rows they share elsewhere. */
const webAppRow: Readonly<Partial<Record<TableName, TableName>>> = {
  big_group: 'broadcast',
  send_to_connection: 'echo',
};

/** Loads that go through app servers. */
export const servedLoads = ({ edition, loads }: Demand): readonly ServiceLoad[] =>
  services[edition.product].appServers === 'none' ? [] : loads.filter(({ kind }) => !isRest(kind));

/** Whether the edition counts the servers of this stack at all. */
export function countsServers({ edition, stack }: Demand): boolean {
  const row: keyof PublishedTable = stack === 'aspnet' ? 'webApps' : 'appServers';
  return Object.values(edition.tables).some((table) => table[row] !== undefined);
}

/**
 * The largest count any of the loads needs at that size, from the next listed size. The maximum is
 * enough for a mix: each count is for its use case alone at full load, and the shares add up to at most 1.
 */
export function appServersAt(demand: Demand, unit: number): AppServers {
  const { edition, stack } = demand;
  const served = servedLoads(demand);
  const position = edition.listedUnits.findIndex((listed) => listed >= unit);
  if (served.length === 0 || position < 0 || !countsServers(demand)) return noServers;
  const counts = served.map(({ table }) => {
    const row =
      stack === 'aspnet'
        ? tableOf(edition, webAppRow[table] ?? table).webApps
        : tableOf(edition, table).appServers;
    return row?.values[position] ?? 0;
  });
  const connections = served.map(({ table }) => tableOf(edition, table).serverConnections ?? 0);
  return { count: Math.max(...counts), serverConnections: Math.max(...connections) };
}
