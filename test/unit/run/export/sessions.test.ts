import assert from 'node:assert/strict';
import type { SloCheck, Verdict } from '../../../../src/measure/summary';
import { compareResults } from '../../../../src/results/compare/compareResults';
import { comparisonRows } from '../../../../src/measure/compare/comparisonWords';
import { junitReport } from '../../../../src/run/export/junitReport';
import { summaryMarkdown } from '../../../../src/run/export/summaryMarkdown';
import {
  mixedStep,
  sampleResult,
  sampleSnapshot,
  sessionMix,
  sessionProgress,
  sessionStep,
} from '../../results/sampleResult';
import { measuredStep } from '../../../fakes/measuredStep';
import {
  LiveNumbers,
  createRunMetrics,
  formatOpenMetrics,
} from '../../../../src/run/export/runMetrics';

const mix = sampleResult({ steps: [sessionMix(1)] });
const { step: progress = assert.fail() } = sampleSnapshot(80, 1);

describe('sessions in what is exported', () => {
  it('have a label for each use case of a mix in metrics while the run goes on', () => {
    const live = new LiveNumbers();
    live.update({
      ...sampleSnapshot(80, 1),
      step: { ...progress, ...sessionProgress(1, sessionMix) },
    });
    assert.match(
      formatOpenMetrics(createRunMetrics(live.numbers)),
      /sessions_total\{step="1",use_case="session 2",state="broken_off"\} 28\n/,
    );
  });

  it('have a case for each call in JUnit, which fails where it has what the step failed for', () => {
    const casesOf = (verdict: Verdict, step = sessionMix(1)): string[][] =>
      [...junitReport(sampleResult({ steps: [{ ...step, verdict }] })).matchAll(callCase)].map(
        ([, name = '', outcome = '']) => [name, outcome],
      );
    const callCase =
      /<testcase [^>]*name="((?:session \d, )?[A-Z]\w+)"[^/>]*(?:\/>|>\s*<(?:failure type="call" message=|skipped>)"?([^"<]*))/g;
    const failed = (check: Partial<SloCheck>, reasons: Verdict['reasons'] = []): Verdict => ({
      ...{ status: 'fail', reasons, checks: check.metric ? [{ ...met, ...check }] : [] },
    });
    const met: SloCheck = { metric: 'p99', limit: 100_000, value: 50_000, met: false };
    const never = ['session 2, Acknowledge', 'no session came as far as this call'];
    const passed = [
      ...['JoinRoom', 'SendMessage', 'GetHistory', 'LeaveRoom'].map((call) => [
        ...[`session 1, ${call}`, ''],
      ]),
      ...[['session 2, GetHistory', ''], never],
    ];
    assert.deepEqual(casesOf({ status: 'pass', reasons: [] }), passed);
    assert.deepEqual(casesOf(failed({ metric: 'rate' })), passed);
    const busy = '; for example: history is busy';
    const with2 = (first: string, second: string): string[][] =>
      passed.map((each, at) =>
        at === 2 ? [each[0]!, first] : at === 4 ? [each[0]!, second] : each,
      );
    const [one, two] = ['session 1, GetHistory', 'session 2, GetHistory'];
    const all = { code: 'sessionsBrokenOff', message: 'session 2: 28 sessions broke off' };
    assert.deepEqual(
      casesOf(failed({}, [all])),
      with2(`${one}: 2 sessions broke off here`, `${two}: 28 sessions broke off here${busy}`),
    );
    assert.deepEqual(
      casesOf(failed({ metric: 'errors.invocation' })),
      with2(`${one}: 2 errors of class invocation`, `${two}: 28 errors of class invocation${busy}`),
    );
    assert.deepEqual(
      casesOf(failed({ metric: 'delivered' })),
      with2(`${one}: 2 of 2,002 deliveries lost`, `${two}: 28 of 28 deliveries lost${busy}`),
    );
    assert.deepEqual(
      casesOf(failed({ metric: 'p99', value: 118_000 })),
      with2(`${one}: p99 120 ms, above 100 ms`, ''),
    );
    const notJudged = 'the step is invalid, so nothing is judged';
    assert.deepEqual(
      casesOf(
        { status: 'invalid', reasons: [{ code: 'send-rate', message: 'late' }] },
        sessionStep(1),
      ),
      ['JoinRoom', 'SendMessage', 'GetHistory', 'LeaveRoom'].map((call) => [call, notJudged]),
    );
    assert.match(junitReport(mix), /<system-out>[^<]*\nStep 1, session 2: 30 started, [^<]*\n/);
  });

  it('of two use cases keep their broken sessions apart, though a call has one name in both', () => {
    const { calls = [], sessions, ...step } = sessionStep(1);
    const [first, second] = mixedStep(1).entries!;
    const none = { ...sessions!, brokenOff: 0, brokenOffAt: {} };
    const both = {
      ...step,
      calls: ['sendToGroup', 'echo'].map((entry) => ({ ...calls[2]!, entry })),
      sessions: sessions!,
      entries: [
        { ...first!, sessions: sessions! },
        { ...second!, sessions: none },
      ],
    };
    const text = summaryMarkdown(sampleResult({ steps: [both] }));
    assert.match(text, /\| 1 \| GetHistory \| sendToGroup \|.*\| 2 \|\n/);
    assert.match(text, /\| 1 \| GetHistory \| echo \|.*\| – \|\n/);
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
    const rows = comparisonRows(step!).map(({ name, a, b, change }) => [name, a, b, change]);
    assert.deepEqual(rows.slice(-12), [
      ['JoinRoom p50', '1.2 ms', '1.2 ms', '0 %'],
      ['JoinRoom p99', '14 ms', '28 ms', '+100 %'],
      ['SendMessage p50', '1.9 ms', '1.9 ms', '0 %'],
      ['SendMessage p99', '22 ms', '44 ms', '+100 %'],
      ['GetHistory p50', '3.4 ms', '3.4 ms', '0 %'],
      ['GetHistory p99', '120 ms', '240 ms', '+100 %'],
      ['GetHistory lost', '2', '2', '0'],
      ['sessions started', '2,005', '2,005', '0'],
      ['sessions completed', '2,000', '2,000', '0'],
      ['sessions broken off', '2', '2', '0'],
      ['session duration p50', '29 s', '29 s', '0 %'],
      ['session duration p99', '30 s', '30 s', '0 %'],
    ]);
  });

  it('of a mix are compared below the names of its use cases', () => {
    const seconds = Array.from({ length: 12 }, () => [1000, 2000, 3000]);
    const { calls, sessions, entries } = sessionMix(1);
    const run = (index: number, names = ['session 1', 'session 2']) =>
      sampleResult({
        steps: [
          {
            ...{ ...measuredStep(seconds), calls: calls!, sessions: sessions! },
            entries: entries!.slice(0, index).filter(({ name }) => names.includes(name)),
          },
        ],
      });
    const { steps } = compareResults(run(2), run(2));
    const rows = comparisonRows(steps[0]!).map(({ name, a }) => [name, a]);
    const heads = rows.filter(([, a]) => a === '').map(([name]) => name);
    assert.deepEqual(heads, ['session 1', 'session 2']);
    assert.deepEqual(rows.slice(-4), [
      ['GetHistory lost', '28'],
      ['sessions started', '30'],
      ['sessions completed', '0'],
      ['sessions broken off', '28'],
    ]);
    // A use case that one of both has not is not compared.
    const [step] = compareResults(run(1), run(2)).steps;
    assert.deepEqual(
      step!.sessions!.map(({ entry }) => entry),
      ['session 1'],
    );
  });
});
