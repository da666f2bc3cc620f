import assert from 'node:assert/strict';
import { panelStrings } from '../../../../src/messages/panelStrings';
import { toPanelResult } from '../../../../src/extension/panel/panelSession';
import { repeatsTable } from '../../../../src/webview/tables/tables';
import type { ShownRun } from '../../../../src/webview/panelState';
import { sampleResult, sampleScenario, sampleStep } from '../../results/sampleResult';

const shownWith = (repeat: number): ShownRun => {
  const scenario = { ...sampleScenario, baseSending: 1900, repeat };
  const steps = Array.from({ length: repeat }, (_, at) => ({
    ...sampleStep(1, { p99: 40_000 + 1000 * at }),
    index: at + 1,
  }));
  const result = toPanelResult(sampleResult({ steps }, scenario));
  return { result, strings: panelStrings } as unknown as ShownRun;
};

describe('table of repeats', () => {
  it('has a row for p50 and p99 of each step, with their spread and interval', () => {
    const { heads, rows } = repeatsTable(shownWith(3));
    assert.equal(heads.length, 6);
    assert.deepEqual(
      rows.map((cells) => cells.slice(0, 5)),
      [
        ['1', 'p50', '2.7 ms', '2.7 ms', '2.8 ms'],
        ['1', 'p99', '41 ms', '40 ms', '42 ms'],
      ],
    );
    assert.match(rows[1]![5]!, /^\d+ ms … \d+ ms$/);
  });

  it('is empty where nothing was repeated, and has a dash where two repeats say no interval', () => {
    assert.deepEqual(repeatsTable(shownWith(1)).rows, []);
    assert.equal(repeatsTable(shownWith(2)).rows[1]![5], '–');
  });
});
