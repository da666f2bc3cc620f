import assert from 'node:assert/strict';
import { compareResults } from '../../../../src/results/compare/compareResults';
import { comparedRows } from '../../../../src/measure/compare/comparisonRows';
import { htmlReport } from '../../../../src/session/export/htmlReport';
import { junitReport } from '../../../../src/session/export/junitReport';
import { stepsCsv } from '../../../../src/session/export/stepsCsv';
import { summaryMarkdown } from '../../../../src/session/export/summaryMarkdown';
import { mixedStep, sampleResult, sessionStep } from '../../results/sampleResult';
import { measuredStep } from '../../../fakes/measuredStep';
import { openMetricsOf } from '../../../../src/session/export/runMetrics';

const result = sampleResult({ steps: [sessionStep(1)] });
const said =
  'Step 1, sessions: 2,005 started, 2,000 completed, 2 broken off at GetHistory, 3 still going on at the end, duration p50 29 s, p99 30 s.';

describe('sessions in what is exported', () => {
  it('are a table of calls in Markdown, and a sentence', () => {
    const text = summaryMarkdown(result);
    assert.ok(
      text.includes(
        '| 1 | GetHistory | 2,002 | 2,002 | 2,000 | 2 | 3.4ms | 120ms | 410ms | 2 | 2 |',
      ),
    );
    assert.ok(
      text.includes(`- ${said}`) && text.includes('- Step 1, errors of GetHistory: 2 invocation.'),
    );
    assert.doesNotMatch(summaryMarkdown(sampleResult()), /\| call \|/);
  });

  it('are a card with a bar for each call that was answered in the page', () => {
    const page = htmlReport(result, []);
    assert.match(page, /<h2>Calls of sessions<\/h2>/);
    assert.equal(page.match(/<b style="left:/g)?.length, 3);
    assert.ok(page.includes(`<li>${said}</li>`));
    assert.doesNotMatch(htmlReport(sampleResult(), []), /class="bars"/);
  });

  it('are rows of their calls in CSV, behind their step', () => {
    const [head = '', ...rows] = stepsCsv(result).trimEnd().split('\r\n');
    const names = head.split(',');
    const cells = (row: string, name: string): string | undefined =>
      row.split(',')[names.indexOf(name)];
    assert.deepEqual(
      rows.map((row) =>
        ['call', 'sent', 'lost', 'errors', 'sessions.brokenOff'].map((name) => cells(row, name)),
      ),
      [
        ['', '26027', '2', '2', '2'],
        ['JoinRoom', '2005', '0', '0', ''],
        ['SendMessage', '20020', '0', '0', ''],
        ['GetHistory', '2002', '2', '2', '2'],
        ['LeaveRoom', '2000', '0', '0', ''],
      ],
    );
    assert.equal(cells(rows[0]!, 'sessions.durationUs.p50'), '29400000');
    for (const row of rows) assert.equal(row.split(',').length, names.length);
    assert.ok(!stepsCsv(sampleResult()).includes('call'));
  });

  it('have a label for each call in metrics', () => {
    const text = openMetricsOf(result);
    for (const line of [
      'signalr_bench_call_sent_total{step="1",call="SendMessage"} 20020',
      'signalr_bench_call_broken_off_total{step="1",call="GetHistory"} 2',
      'signalr_bench_call_latency_seconds{step="1",call="GetHistory",quantile="0.99"} 0.12',
      'signalr_bench_sessions_total{step="1",state="broken_off"} 2',
      'signalr_bench_session_duration_seconds{step="1",quantile="0.5"} 29.4',
    ])
      assert.ok(text.includes(`${line}\n`), line);
  });

  it('are properties of their step in JUnit', () => {
    assert.match(junitReport(result), /<property name="sessions\.brokenOff" value="2"\/>/);
    assert.doesNotMatch(junitReport(sampleResult()), /sessions/);
  });

  it('of two use cases keep their broken sessions apart, though a call has one name in both', () => {
    const { calls = [], sessions, ...step } = sessionStep(1);
    const [first, second] = mixedStep(1).entries!;
    const none = { ...sessions!, brokenOff: 0, brokenOffAt: {} };
    const mix = {
      ...step,
      calls: ['sendToGroup', 'echo'].map((entry) => ({ ...calls[2]!, entry })),
      sessions: sessions!,
      entries: [
        { ...first!, sessions: sessions! },
        { ...second!, sessions: none },
      ],
    };
    const text = summaryMarkdown(sampleResult({ steps: [mix] }));
    assert.match(text, /\| 1 \| GetHistory \| sendToGroup \|.*\| 2 \|\n/);
    assert.match(text, /\| 1 \| GetHistory \| echo \|.*\| – \|\n/);
  });

  it('have names that are nothing but text', () => {
    const step = sessionStep(1);
    const name = '<img src=x>|[a](http://b)\u001b[2J,=1';
    const calls = [{ ...step.calls![0]!, name }];
    const hostile = sampleResult({ steps: [{ ...step, calls }] });
    for (const text of [summaryMarkdown(hostile), htmlReport(hostile, []), stepsCsv(hostile)]) {
      assert.doesNotMatch(text, /(?<!\\)<img/);
      assert.ok(!text.includes('\u001b'), 'a control character');
    }
    assert.match(stepsCsv(hostile), /,img srcxahttpb2J1\r\n/);
  });

  it('are compared call by call, of those that both runs have', () => {
    const seconds = Array.from({ length: 12 }, () => [1000, 2000, 3000]);
    const { calls, sessions } = sessionStep(1);
    const run = (change: number) => {
      const changed = calls!.slice(0, 3).map((call) => ({
        ...call,
        latencyUs: { ...call.latencyUs, p99: call.latencyUs.p99 * change },
      }));
      return sampleResult({
        steps: [{ ...measuredStep(seconds), calls: changed, sessions: sessions! }],
      });
    };
    const other = run(2);
    const [step] = compareResults(run(1), other).steps;
    const rows = comparedRows(step!).map(({ name, a, b, change }) => [name, a, b, change]);
    assert.deepEqual(rows.slice(-7), [
      ['JoinRoom p50', '1.2 ms', '1.2 ms', '0 %'],
      ['JoinRoom p99', '14 ms', '28 ms', '+100 %'],
      ['SendMessage p50', '1.9 ms', '1.9 ms', '0 %'],
      ['SendMessage p99', '22 ms', '44 ms', '+100 %'],
      ['GetHistory p50', '3.4 ms', '3.4 ms', '0 %'],
      ['GetHistory p99', '120 ms', '240 ms', '+100 %'],
      ['GetHistory lost', '2', '2', '0'],
    ]);
  });
});
