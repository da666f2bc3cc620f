import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { useCases } from '../../../src/usecases/registry';
import { tableCells, tableRows } from '../../fakes/scenarioTable';

/** Cells of a line of a Markdown table. */
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

describe('the table of scenarios in docs/scenarios.md', () => {
  it('has a tick in each cell that a test runs, and none without', () => {
    const lines = readFileSync('docs/scenarios.md', 'utf8').split('\n');
    const expected = tableCells();
    const head = lines.findIndex((line) => cellsOf(line).join() === expected[0]!.join());
    assert.ok(head >= 0, `no table with the head | ${expected[0]!.join(' | ')} |`);
    const length = lines.slice(head).findIndex((line) => !line.startsWith('|'));
    const [top, , ...rows] = lines.slice(head, head + length).map(cellsOf);
    assert.deepEqual([top, ...rows], expected);
  });

  it('has a row for each use case of a hub without a service', () => {
    const titles = tableRows.map(({ title }) => title);
    for (const { name, services } of useCases) {
      // What a replay sends is in a recording.
      if (name === 'replay') continue;
      assert.equal(titles.includes(`\`${name}\``), services.includes('hub'), name);
    }
  });
});
