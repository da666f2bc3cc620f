import assert from 'node:assert/strict';
import { finalScreen } from '../../../src/cli/views/finalScreen';
import { textWidth } from '../../../src/cli/views/line';
import { liveLines } from '../../../src/cli/views/liveView';
import { createPlainView } from '../../../src/cli/views/plainView';
import { noProgress, withSnapshot } from '../../../src/cli/views/runProgress';
import { stepsCsv } from '../../../src/cli/views/stepsCsv';
import { summaryMarkdown } from '../../../src/cli/views/summaryMarkdown';
import { columnTexts, stepColumns, type StepColumn } from '../../../src/measure/show/stepColumns';
import { entriesTable, stepsTable } from '../../../src/webview/tables/tables';
import { mixedStep, sampleResult, sampleScenario, sampleSnapshot } from '../results/sampleResult';
import { finishedRun, shownRun } from '../webview/shownRun';

/*
 * Each contract is one file and one line in a registry. What is made up here stands in its registry while a test
 * runs, and nothing else is changed: it must be found wherever the registered ones are.
 */

/** With `entry` in the registry while `test` runs. */
function registered<T>(registry: readonly T[], entry: T, test: () => void): void {
  const entries = registry as T[];
  entries.push(entry);
  try {
    test();
  } finally {
    entries.splice(entries.indexOf(entry), 1);
  }
}

describe('a step column', () => {
  const column: StepColumn = {
    id: 'madeUp',
    head: 'Made up',
    unit: 'count',
    views: ['terminal', 'log', 'markdown', 'csv', 'panel'],
    value: ({ index, senders }) => index * 1_000_000 + senders,
    terminal: { width: 11 },
  };
  const result = sampleResult();
  const title = { file: 'a.yaml', url: 'http://localhost/hub', scenario: sampleScenario };
  const live = [sampleSnapshot(80, 1), sampleSnapshot(150, 2)];

  it('is in the tables of the terminal, in those of mixes too', () => {
    registered(stepColumns, column, () => {
      const screen = finalScreen(result, 100).map(({ text }) => text);
      assert.ok(screen.some((line) => / err generator +made up$/.test(line)));
      assert.ok(screen.some((line) => / ok 21 % +1,000,700$/.test(line)));
      const mix = finalScreen(sampleResult({ steps: [mixedStep(2)] }), 100);
      assert.ok(mix.some(({ text }) => / lost +made up use case$/.test(text)));
      const lines = liveLines(title, live.reduce(withSnapshot, noProgress), 24, 100);
      assert.ok(lines.some(({ text }) => text.endsWith(' 2,001,300')));
    });
  });

  it('leaves the last columns no room where it stands before them', () => {
    const heads = (width: number): string =>
      finalScreen(result, width).find(({ text }) => text.startsWith(' step'))!.text;
    registered(stepColumns, { ...column, place: 8.5 }, () => {
      assert.match(heads(80), / max +made up +lost +err$/);
      assert.ok(textWidth(heads(80)) < 80);
      assert.match(heads(91), / max +made up +lost +err generator$/);
    });
    registered(stepColumns, column, () => assert.match(heads(80), / err generator$/));
    assert.match(heads(91), / max +lost +err generator$/);
  });

  it('is in the log of a run', () => {
    const log: string[] = [];
    const output = {
      isTerminal: false,
      columns: 80,
      rows: 24,
      write: (text: string) => void log.push(text),
    };
    registered(stepColumns, column, () => {
      const view = createPlainView(output, title);
      for (const snapshot of live) view.update(snapshot);
    });
    assert.match(log.join(''), /step 1 done: 700 senders, .*, 1,000,700 made up$/m);
  });

  it('is in Markdown and CSV', () => {
    registered(stepColumns, column, () => {
      assert.match(summaryMarkdown(result), /\| step \|.*\| lost \| made up \|\n/);
      assert.match(summaryMarkdown(result), /\| 2 \| 1,300 \|.*\| 2,001,300 \|\n/);
      const [head, first] = stepsCsv(result).split('\r\n');
      assert.match(head!, /,madeUp$/);
      assert.match(first!, /,1000700$/);
    });
  });

  it('is in the tables of the panel, and its head among the texts that are translated', () => {
    registered(stepColumns, column, () => {
      assert.equal(columnTexts()['column.madeUp'], 'Made up');
      const strings = { 'column.madeUp': 'Erfunden' };
      for (const [state, head] of [
        [finishedRun(), 'Made up'],
        [shownRun(live, { strings }), 'Erfunden'],
      ] as const) {
        const { heads, rows } = stepsTable(state);
        assert.equal(heads.at(-1), head);
        assert.equal(rows[1]!.at(-1), '2,001,300');
      }
      const mix = entriesTable(finishedRun({ steps: [mixedStep(2)] }));
      assert.deepEqual([mix.heads.at(-1), mix.rows[0]!.at(-1)], ['Made up', '2,000,975']);
    });
  });
});
