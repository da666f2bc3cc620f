// Writes src/capacity/tables/resolved.json from src/capacity/published. With --check nothing is written; the
// exit code is 1 when the file is not what it should be.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { generatedFile } from './generatedFile.mjs';
import { root } from './nodeProgram.mjs';

const published = path.join(root, 'src/capacity/published');
const read = (name) => parse(readFileSync(path.join(published, name), 'utf8'));
const guides = read('guides.yaml');
const further = read('furtherSources.yaml');
const tables = new Map([...guides.tables, ...further.tables].map((table) => [table.id, table]));

/** A published table by id; a missing one is an error in the data. */
function tableOf(id) {
  const table = tables.get(id);
  if (table === undefined) throw new Error(`no table ${id}`);
  return table;
}

/** Line of the first of the fields that the table has. */
function lineOf(table, ...fields) {
  const row = table.rows.find((candidate) => fields.includes(candidate.field));
  if (row === undefined) throw new Error(`${table.id} has none of the rows ${fields.join(', ')}`);
  return row.line;
}

/** The limits of one use case with the places they are printed at. */
function publishedTable(resolved, useCase) {
  const dashed = useCase.replaceAll('_', '-');
  const table = tableOf(`${resolved.from}/${dashed}`);
  const limits = resolved.limits[useCase];
  const limitRow = (direction) =>
    limits[`${direction}_messages`] && {
      values: limits[`${direction}_messages`],
      line: lineOf(table, `${direction}_messages_per_second`, 'in_out_messages_per_second'),
    };
  const countRow = (counts, id) =>
    counts?.[useCase] && {
      values: counts[useCase],
      line: lineOf(tableOf(id), 'app_server_count'),
    };
  return {
    heading: table.heading,
    units: resolved.listed_units_of?.[useCase],
    in: limitRow('in'),
    out: limitRow('out'),
    appServers: countRow(resolved.app_servers, `${resolved.from}/${dashed}/app-servers`),
    webApps: countRow(resolved.aspnet_web_apps, `${resolved.from}/aspnet-${dashed}/web-apps`),
    serverConnections: resolved.server_connections_per_app_server?.[useCase],
    sendersAtMost: resolved.benchmarked_senders_at_most?.[useCase],
  };
}

/** One edition: its limits and its document. */
function publishedEdition(name, product, resolved, file) {
  const document = resolved.document ?? resolved.from;
  const { title, edition, label } = file.sources[document];
  const connections = file.facts
    .find((fact) => fact.id === 'ceiling.connections')
    .from.find((place) => place.source === document);
  return {
    name,
    product,
    title,
    edition,
    label,
    connectionsPerUnit: resolved.connections_per_unit,
    connectionsFrom: { heading: connections.heading, line: connections.line },
    listedUnits: resolved.listed_units,
    tables: Object.fromEntries(
      Object.keys(resolved.limits).map((useCase) => [useCase, publishedTable(resolved, useCase)]),
    ),
    // A note can name a misprint of one limit at one size; the others are in docs/capacity.md alone.
    errata: resolved.departures_from_print
      .filter(({ limit, unit }) => limit in resolved.limits && Number.isInteger(unit))
      .map(({ item, limit, unit, printed, used }) => ({ item, table: limit, unit, printed, used })),
  };
}

/** Sizes by tier and the limits of the Free tier. */
function offer(product) {
  const units = further.units_allowed[product];
  const quotas = further.quotas[product];
  return {
    units: {
      free: units.Free_F1,
      standard: units.Standard_S1,
      premium: [...new Set([...units.Premium_P1, ...units.Premium_P2])],
    },
    freeConnections: quotas.connections_per_unit.Free_F1,
    freeMessagesPerDay: quotas.messages_included_per_unit_per_day.Free_F1,
  };
}

const { signalr, webpubsub } = guides.resolved;
const resolved = {
  sr2023: publishedEdition('sr2023', 'signalr', signalr, guides),
  later: publishedEdition('later', 'signalr', further.resolved.signalr.later, further),
  wps: publishedEdition('wps', 'webpubsub', webpubsub, guides),
  offers: { signalr: offer('signalr'), webpubsub: offer('webpubsub') },
};

await generatedFile('src/capacity/tables/resolved.json', JSON.stringify(resolved));
