import assert from 'node:assert/strict';
import { interpolateLimit } from '../../../src/capacity/tables/publishedLimits';
import { cellName, ends, knownNames, published, rowOf, type DataTable } from './publishedData';

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
