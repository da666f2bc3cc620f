import assert from 'node:assert/strict';
import { summarizeObserved } from '../../../../src/measure/observed';
import { verdictSentence } from '../../../../src/measure/show/verdictSentence';
import { htmlReport } from '../../../../src/run/export/htmlReport';
import {
  LiveNumbers,
  createRunMetrics,
  formatOpenMetrics,
} from '../../../../src/run/export/runMetrics';
import { summaryMarkdown } from '../../../../src/run/export/summaryMarkdown';
import { observedResult, observedSnapshots, sampleResult } from '../../results/sampleResult';

const result = observedResult();
const grew = "the server's thread-pool queue grew from second";

describe('what was seen of the server in what is shown', () => {
  it('ends the sentence of the verdict where it reached a bound', () => {
    assert.match(
      verdictSentence(result),
      new RegExp(`^✓ passed; step 1: .* none lost; ${grew} \\d+ on$`),
    );
    assert.doesNotMatch(verdictSentence(sampleResult()), /server/);
  });

  it('has charts under the latency in the page', () => {
    const page = htmlReport(result, observedSnapshots(1));
    const charts = [...page.matchAll(/class="card chart-(\w+)"/g)].map(([, id]) => id);
    assert.deepEqual(charts.slice(0, 3), [
      ...['observedShares', 'observedCounts', 'observedBytes'],
    ]);
    for (const text of [summaryMarkdown(sampleResult()), htmlReport(sampleResult(), [])])
      assert.doesNotMatch(text, /thread-pool|The server beside/);
  });

  it('is a chart in HTML also where it came when the run was over, flat for each minute', () => {
    const minutes = [0, 1].map((at) => [at * 60_000, 0.4 + at / 4] as const);
    const snapshots = observedSnapshots(1, 80).map((snapshot) => ({ ...snapshot, observed: {} }));
    const late = [{ name: 'serverLoad @ chat', points: minutes }];
    const observed = summarizeObserved(snapshots, [], late)!;
    const page = htmlReport({ ...result, observed }, snapshots);
    const [chart = ''] = /<figure[^>]*chart-observedShares.*?<\/figure>/s.exec(page) ?? [];
    assert.match(chart, /<title>Server: shares, %: server load @ chat 65\./);
    const rows = [...chart.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1);
    const values = rows.map(
      ([, row = '']) =>
        row
          .replace(/<[^>]*>/g, ' ')
          .trim()
          .split(/\s+/)[1],
    );
    assert.deepEqual(values, [...Array<string>(40).fill('40'), ...Array<string>(40).fill('65')]);
  });

  it('is a metric with the series as a label while the run goes on', () => {
    const live = new LiveNumbers();
    for (const snapshot of observedSnapshots(1, 13)) live.update(snapshot);
    assert.ok(
      formatOpenMetrics(createRunMetrics(live.numbers)).includes(
        'signalr_bench_observed{series="queue"} 50\n',
      ),
    );
  });
});
