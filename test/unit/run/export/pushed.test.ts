import assert from 'node:assert/strict';
import { pushedLines } from '../../../../src/cli/views/runTables';
import { pushedRows } from '../../../../src/measure/show/stepColumns';
import { rowTable } from '../../../../src/measure/show/panelTables';
import { panelStrings } from '../../../../src/messages/panelStrings';
import { htmlReport } from '../../../../src/run/export/htmlReport';
import { summaryMarkdown } from '../../../../src/run/export/summaryMarkdown';
import { sampleResult, sampleStep } from '../../results/sampleResult';

const price = { name: 'price|<b>', messages: 1180, bytes: 257_240, perSecond: 196.667 };
const hidden = { name: 'presence', messages: 60, bytes: null, perSecond: 10 };
const step = { ...sampleStep(1), pushed: [price, hidden] };
const result = sampleResult({ steps: [step] });

describe('what hubs push', () => {
  it('is a table by names in Markdown, the page and the terminal, and none where nothing was pushed', () => {
    assert.ok(
      summaryMarkdown(result).includes(
        [
          '| step | pushed by the hub | per second | messages | bytes |',
          '| ---: | ---: | ---: | ---: | ---: |',
          '| 1 | price\\|\\<b\\> | 196.7 | 1,180 | 251.2 KB |',
          '| 1 | presence | 10.0 | 60 | – |',
        ].join('\n'),
      ),
      summaryMarkdown(result),
    );
    const page = htmlReport(result, []);
    assert.match(page, /<h2>Pushed by the hub<\/h2>/);
    assert.ok(page.includes('price|&lt;b&gt;') && page.includes('251.2 KB'));
    assert.deepEqual(
      pushedLines([step], 80).map(({ text }) => text),
      [
        '  pushed by the hub                        per second    messages       bytes',
        '  price|<b>                                     196.7       1,180    251.2 KB',
        '  presence                                       10.0          60           –',
      ],
    );
    const without = sampleResult();
    assert.doesNotMatch(summaryMarkdown(without), /pushed/);
    assert.doesNotMatch(htmlReport(without, []), /Pushed/);
    assert.deepEqual(pushedLines(without.steps, 80), []);
  });

  it('has at most twenty names of a step, those that came most often, and says how many more', () => {
    const pushed = Array.from({ length: 101 }, (_, at) => ({ ...price, name: `callback ${at}` }));
    const many = { ...sampleStep(2), pushed };
    const table = rowTable('pushed', pushedRows([step, many]), panelStrings, 1000);
    assert.equal(table.rows.length, 22);
    const lines = pushedLines([step, many], 80, 5).map(({ text }) => text);
    assert.equal(lines.length, 7);
    assert.match(lines[1]!, /callback 0 /);
    assert.equal(lines.at(-1), '  … 96 more');
  });
});
