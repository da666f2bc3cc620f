import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  interpolateLimit,
  rounded,
  offeredUnits,
  offers,
  sr2023,
  wps,
} from '../../../../src/capacity/tables/publishedLimits';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A printed cell as a number, or a printed range as its two ends. */
type Cell = number | readonly [number, number];
type Numbers = readonly number[];
type By<Value> = Readonly<Record<string, Value>>;
type DataRow = Readonly<{ field: string; line?: number; printed?: string[]; value: Cell[] }>;
type DataTable = Readonly<
  Record<'id' | 'source' | 'heading' | 'kind' | 'use_case', string> & {
    header_line?: number;
    units: Numbers;
    rows: DataRow[];
  }
>;
type KnownCell = Readonly<{ table: string; field: string; unit?: number | 'all'; units?: Numbers }>;
type ResolvedBlock = Readonly<{
  from: string;
  base_message_bytes: number;
  listed_units: Numbers;
  listed_units_of?: By<Numbers>;
  limits: By<By<Numbers>>;
  departures_from_print: { limit: string; unit: number | string }[];
  app_servers?: By<Numbers>;
  aspnet_web_apps?: By<Numbers>;
}>;
type KnownCells = Readonly<Record<'bandwidth' | 'groups' | 'ceiling', readonly KnownCell[]>>;
type DataFile = Readonly<{ sources: By<object>; tables: DataTable[]; known_cells: KnownCells }>;

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
const published = {
  sources: { ...guides.sources, ...further.sources },
  tables: [...guides.tables, ...further.tables],
  known: (group: keyof KnownCells): readonly KnownCell[] => [
    ...guides.known_cells[group],
    ...further.known_cells[group],
  ],
  editions: [guides.resolved.signalr, further.resolved.signalr.later, guides.resolved.webpubsub],
};

/** Row of a table by field. */
function rowOf(table: DataTable, ...fields: readonly string[]): DataRow | undefined {
  return table.rows.find((row) => fields.includes(row.field));
}

/** Both ends of a cell. */
function ends(cell: Cell): readonly [number, number] {
  return typeof cell === 'number' ? [cell, cell] : cell;
}

/** `table field unit`, to compare lists of cells. */
function cellName(table: string, field: string, unit: number | string): string {
  return `${table} ${field} ${unit}`;
}

/** Names of known cells, one per unit. */
function knownNames(group: 'bandwidth' | 'groups' | 'ceiling'): string[] {
  return published
    .known(group)
    .flatMap(({ table, field, unit, units }) =>
      (units ?? [unit ?? 'all']).map((one) => cellName(table, field, one)),
    )
    .sort();
}

const units = [1, 2, 5, 10, 20, 50, 100];
const sendToConnection = [1000, 2000, 5000, 8000, 9000, 20000, 20000];
const restToUser = [300, 600, 900, 1300, 2000, 10000, 18000];

describe('interpolation', () => {
  it('is the printed value at a listed size and nothing outside', () => {
    assert.equal(interpolateLimit(units, sendToConnection, 20), 9000);
    assert.equal(interpolateLimit(units, sendToConnection, 0.5), undefined);
    assert.equal(interpolateLimit(units, sendToConnection, 200), undefined);
  });

  it('never does worse than the smaller neighbour, per unit never better than the worse one', () => {
    const between = (values: number[], unit: number): number | undefined =>
      interpolateLimit(units, values, unit);
    assert.deepEqual(
      [6, 7, 30, 40, 60].map((unit) => between(sendToConnection, unit)),
      [5000, 5600, 12000, 16000, 20000],
    );
    assert.deepEqual(
      [3, 4, 8, 30, 60].map((unit) => between(restToUser, unit)),
      [600, 720, 1040, 3000, 10800],
    );
  });

  it('stays between the neighbours and under the straight line', () => {
    const row = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(row, fc.integer({ min: 1, max: 100 }), (steps, unit) => {
        let sum = 0;
        const values = steps.map((step) => (sum += step));
        const limit = interpolateLimit(units, values, unit)!;
        const above = units.findIndex((listed) => listed >= unit);
        const below = Math.max(0, above - 1);
        const [low, high] = [values[below]!, values[above]!];
        const [a, b] = [units[below]!, units[above]!];
        const line = a === b ? high : low + ((high - low) * (unit - a)) / (b - a);
        assert.ok(limit >= low - 1e-6 && limit <= high + 1e-6 && limit <= line + 1e-6);
      }),
      { numRuns: 200 },
    );
  });

  it('reproduces the sizes that only the Web PubSub guide of 2021 prints', () => {
    const wps = published.editions.find((edition) => edition.from === 'wps')!;
    let reproduced = 0;
    for (const table of published.tables) {
      if (!table.id.startsWith('wps-2021/') || table.use_case === 'small_group') continue;
      for (const [direction, values] of Object.entries(wps.limits[table.use_case]!)) {
        const printed = rowOf(table, `${direction}_per_second`, 'in_out_messages_per_second')!;
        table.units.forEach((unit, position) => {
          assert.equal(interpolateLimit(wps.listed_units, values, unit), printed.value[position]);
          if (!wps.listed_units.includes(unit)) reproduced += 1;
        });
      }
    }
    assert.equal(reproduced, 12);
  });
});

describe('rounded', () => {
  it('keeps four decimals, halves to even', () => {
    const values = [1 / 3, 2 / 3, 1, 0.03125, 0.09375, 0.00625, 17_476_266.666_666];
    assert.equal(values.map(rounded).join(), '0.3333,0.6667,1,0.0312,0.0938,0.0063,17476266.6667');
  });
});

describe('resolved limits', () => {
  it('have the sizes that can be bought and the limits of the Free tier', () => {
    assert.deepEqual(offeredUnits(sr2023).slice(8), [9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    assert.equal(offeredUnits(wps).at(-1), 1000);
    assert.equal(offers.signalr.freeConnections, 20);
    assert.equal(offers.webpubsub.freeMessagesPerDay, 20_000);
  });

  it('name the misprints that are not computed with', () => {
    assert.deepEqual(
      sr2023.errata.map((erratum) => `${erratum.item} ${erratum.unit}`),
      ['I-08 10', 'I-02 1', 'I-04 50'],
    );
  });
});

const { tables, editions } = published;
const tableById = new Map(tables.map((table) => [table.id, table]));
const rates = ['in', 'out', 'in_out'];

function number(table: DataTable, field: string, position: number): number {
  return rowOf(table, field)!.value[position] as number;
}

describe('published tables: as printed', () => {
  it('are all there, with document, heading and line', () => {
    assert.equal(new Set(tables.map((table) => table.id)).size, tables.length);
    assert.equal(tables.length, 69);
    for (const table of tables) {
      assert.ok(table.heading.length > 0, table.id);
      assert.ok(published.sources[table.source], table.id);
      if (table.id.startsWith('wps-2021/')) continue;
      for (const row of table.rows) {
        assert.ok(row.line! > table.header_line!, `${table.id} ${row.field}`);
      }
    }
  });

  it('have the printed cells and the same as numbers', () => {
    const amount = (text: string): number => {
      const [, digits = '', scale] = /^([\d,.]+)\s*([KM]?)(?:Bps|B)?$/.exec(text.trim()) ?? [];
      return Number((Number(digits.replaceAll(',', '')) * (scale === 'M' ? 1000 : 1)).toFixed(4));
    };
    for (const table of tables) {
      for (const row of table.rows) {
        assert.equal(row.value.length, table.units.length, `${table.id} ${row.field}`);
        row.printed?.forEach((text, position) => {
          const [low, high = low] = text.replaceAll('\\', '').split('~').map(amount);
          const where = `${table.id} ${row.field} ${text}`;
          assert.deepEqual(ends(row.value[position]!), [low, high], where);
        });
      }
    }
  });

  it('have bandwidth = messages × 2 KB in all cells but the known ones', () => {
    const off: string[] = [];
    let compared = 0;
    for (const table of tables) {
      for (const rate of rates) {
        const messages = rowOf(table, `${rate}_messages_per_second`);
        const bandwidth = rowOf(table, `${rate}_bandwidth_kbps`);
        if (messages === undefined || bandwidth === undefined) continue;
        table.units.forEach((unit, position) => {
          compared += 1;
          const printed = ends(bandwidth.value[position]!);
          const wanted = ends(messages.value[position]!).map((value) => value * 2);
          if (printed.some((value, end) => value !== wanted[end])) {
            off.push(cellName(table.id, bandwidth.field, unit));
          }
        });
      }
    }
    assert.ok(compared > 288, String(compared));
    assert.deepEqual(off.sort(), knownNames('bandwidth'));
  });

  it('have members × groups = connections and outbound = inbound × members but for the known cells', () => {
    const off = new Set<string>();
    for (const table of tables) {
      if (!['small_group', 'big_group'].includes(table.use_case) || !rowOf(table, 'group_count')) {
        continue;
      }
      table.units.forEach((unit, position) => {
        const groups = number(table, 'group_count', position);
        if (!rowOf(table, 'group_member_count')) {
          if (groups !== 10) off.add(cellName(table.id, 'group_count', 'all'));
          return;
        }
        const members = number(table, 'group_member_count', position);
        const inbound = number(table, 'in_messages_per_second', position);
        const outbound = number(table, 'out_messages_per_second', position);
        if (
          members * groups !== number(table, 'connections', position) ||
          inbound * members !== outbound
        ) {
          off.add(cellName(table.id, 'group_member_count', unit));
        }
      });
    }
    assert.deepEqual([...off].sort(), knownNames('groups'));
  });

  it('keep every use case under echo inbound and broadcast outbound but for the known cells', () => {
    const off = new Set<string>();
    for (const document of ['sr2023', 'sr2019', 'sr-early', 'sr-p2']) {
      const ceiling = { in: `${document}/echo`, out: `${document}/broadcast` };
      for (const table of tables) {
        if (table.kind !== 'capacity' || !table.id.startsWith(`${document}/`)) continue;
        for (const row of table.rows) {
          const match = /^(in|in_out|out)_(messages_per_second|bandwidth_kbps)$/.exec(row.field);
          if (match === null) continue;
          const top = tableById.get(match[1] === 'out' ? ceiling.out : ceiling.in)!;
          const topRow = rowOf(top, row.field, `in_out_${match[2]}`, `out_${match[2]}`)!;
          table.units.forEach((unit, position) => {
            const most = interpolateLimit(top.units, topRow.value as number[], unit)!;
            if (ends(row.value[position]!)[1] > most) off.add(`${table.id} ${unit}`);
          });
        }
      }
    }
    const known = knownNames('ceiling').map((name) => name.replace(/ \S+ /, ' '));
    assert.deepEqual([...off].sort(), [...new Set(known)].sort());
  });
});

describe('published tables: resolved values', () => {
  for (const edition of editions) {
    const unitsOf = (useCase: string): readonly number[] =>
      edition.listed_units_of?.[useCase] ?? edition.listed_units;

    it(`${edition.from}: equal the print but for the named departures, and never fall`, () => {
      assert.equal(edition.base_message_bytes, 2048);
      for (const [useCase, limits] of Object.entries(edition.limits)) {
        const table = tableById.get(`${edition.from}/${useCase.replaceAll('_', '-')}`)!;
        assert.deepEqual(unitsOf(useCase), table.units);
        for (const [direction, values] of Object.entries(limits)) {
          const printed = rowOf(
            table,
            `${direction}_per_second`,
            'in_out_messages_per_second',
          )!.value;
          values.forEach((value, position) => {
            const unit = table.units[position]!;
            const named = edition.departures_from_print.some(
              (departure) => departure.limit === useCase && departure.unit === unit,
            );
            const where = `${useCase} ${direction} ${unit}`;
            if (value !== printed[position]) assert.ok(named, where);
            assert.ok(value >= (values[position - 1] ?? 0), `${where} falls`);
          });
        }
      }
    });

    it(`${edition.from}: app servers equal the print`, () => {
      const counts = [
        ...Object.entries(edition.app_servers ?? {}).map(
          ([useCase, row]) => [`${useCase.replaceAll('_', '-')}/app-servers`, row] as const,
        ),
        ...Object.entries(edition.aspnet_web_apps ?? {}).map(
          ([useCase, row]) => [`aspnet-${useCase.replaceAll('_', '-')}/web-apps`, row] as const,
        ),
      ];
      for (const [name, row] of counts) {
        const table = tableById.get(`${edition.from}/${name}`)!;
        assert.deepEqual(table.units, edition.listed_units);
        assert.deepEqual(row, rowOf(table, 'app_server_count')!.value, name);
      }
    });

    it(`${edition.from}: stay under the two ceilings at every listed size`, () => {
      const top =
        edition.from === 'wps'
          ? { in_messages: 'upstream_echo', out_messages: 'big_group' }
          : { in_messages: 'echo', out_messages: 'broadcast' };
      for (const [useCase, limits] of Object.entries(edition.limits)) {
        for (const [direction, values] of Object.entries(limits)) {
          const name = top[direction as keyof typeof top];
          const ceiling = edition.limits[name]![direction]!;
          unitsOf(useCase).forEach((unit, position) => {
            const most = interpolateLimit(unitsOf(name), ceiling, unit)!;
            assert.ok(values[position]! <= most, `${useCase} ${direction} ${unit}`);
          });
        }
      }
    });
  }
});
