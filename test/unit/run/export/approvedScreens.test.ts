import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { finalScreen, interruptedScreen } from '../../../../src/cli/views/finalScreen';
import { paintAll, textWidth } from '../../../../src/cli/views/line';
import { generatorProblems } from '../../../../src/measure/judge/verdict';
import { LatencyHistogram } from '../../../../src/measure/histogram';
import type { ConnectionSummary, StepSummary } from '../../../../src/measure/summary';
import { compareResults } from '../../../../src/results/compare/compareResults';
import type { Result } from '../../../../src/results/result';
import { htmlReport, interruptedHtml } from '../../../../src/run/export/htmlReport';
import { interruptedJunit, junitReport } from '../../../../src/run/export/junitReport';
import { resultAsOpenMetrics } from '../../../../src/run/export/runMetrics';
import { stepsCsv } from '../../../../src/run/export/stepsCsv';
import { interruptedMarkdown, summaryMarkdown } from '../../../../src/run/export/summaryMarkdown';
import { searchSample } from '../../../fakes/searchSample';
import { recordedResult } from './recordedResult';
import {
  failedResult,
  mixedStep,
  observedResult,
  sampleAgents,
  sampleResult,
  sampleScenario,
  sampleSnapshot,
  sampleStep,
  sessionMix,
  sessionStep,
  unusualResult,
} from '../../results/sampleResult';

const times = (us: number) => ({ p50: us, p90: us, p95: us, p99: us, max: us });

function connectionsResult(): Result {
  const histogram = new LatencyHistogram();
  histogram.record(2000);
  const latencyUs = histogram.summary();
  const drop = { atS: 4.25, openS: 3, errorClass: 'closed', text: 'gone' };
  const same = { ...drop, errorClass: 'invocation', text: 'JoinGroup: Method does not exist.' };
  const target = { url: 'http://a/hub', connected: 5, failed: 1, dropped: 0, received: 1 };
  const connections: Partial<ConnectionSummary> = {
    ...{ dropped: 9, reconnected: 12, openedPerSecond: 49.96, pings: { sent: 3, received: 4 } },
    connectPhasesUs: { tcp: times(200), handshake: times(1500) },
    drops: [
      ...[0, 1].map((connection) => ({ ...drop, connection })),
      ...[2, 3, 4].map((connection) => ({ ...same, connection, atS: 1 + connection / 10 })),
    ],
    life: {
      ...{ drops: 5, closed: 0, reconnects: 12, reconnectUs: times(12_000) },
      ...{ lifeSpanMs: times(60_000), downMs: times(1500), sla: { ...times(0.975), mean: 0.98 } },
    },
    targets: [{ ...target, connectUs: times(9000), latencyUs }],
  };
  const membership = { joins: 4, joinsFailed: 1, leaves: 3, leavesFailed: 2, skipped: 3 };
  const recoveries = [
    { atS: 10, missing: 200, connectionsS: 1.25, latencyS: 3 },
    { atS: 20, missing: 2, connectionsS: null, latencyS: null },
    { atS: 25, missing: 1, connectionsS: 2 },
  ];
  const moved = { ...membership, joinUs: latencyUs, leaveUs: latencyUs };
  const still = { ...moved, joins: 0, leaves: 0, leavesFailed: 0, skipped: 0 };
  const steps = [
    { ...sampleStep(1), membership: moved, recoveries },
    { ...sampleStep(2), membership: still },
  ];
  const { connections: usual } = sampleResult();
  return sampleResult({ steps, connections: { ...usual, ...connections } });
}

/** What clocks of agents, lost deliveries, broadcasts and warm-ups leave to be said of steps. */
function notedResult(): Result {
  const step = sampleStep(1);
  const few = { ...step.latencyUs, count: 9_999 };
  const judgedUs = { ...times(2800), p99: 414_000, p999: null, p9999: null, max: null };
  const steps: StepSummary[] = [
    { ...step, latencyUs: few, sendLatencyUs: few, warmupErrors: { timeout: 3 }, skipped: 1 },
    {
      ...{ ...sampleStep(2, { lost: 6500 }), judgedUs, duplicated: 2, extra: 1 },
      ...{ timeToAllUs: { ...step.latencyUs, count: 398 }, timeToAllMissed: 2 },
    },
    {
      ...{ ...sampleStep(3), clockErrorUs: 800, agentsComplete: 3, clockJumps: 2 },
      latencySameAgentUs: { ...step.latencyUs, count: 1000, p50: 2500, p99: 40_000 },
      ...{ ambiguous: 1, negative: 12 },
    },
  ];
  const errorExamples = ['', '\x1b[31m'].map((colour) => ({
    ...{ errorClass: 'timeout', text: `negotiate${colour} did not answer` },
  }));
  return sampleResult({ steps, errors: { timeout: 3, refused: 12 }, errorExamples });
}

function starvedResult(): Result {
  const step = sampleStep(1);
  const lateness = { slipMaxUs: 310_000, readGapMaxUs: 900 };
  const generator = { ...step.generator, ...lateness, cpuShare: 0.03, valid: false };
  const late = [{ code: 'slip', message: 'this machine may have added up to 311 ms' }];
  const reasons = generatorProblems({ ...step, generator, lateness }, late);
  const starved = { ...step, generator, verdict: { status: 'invalid' as const, reasons } };
  return sampleResult({ steps: [starved], plannedSteps: 3, ending: 'threshold' });
}

function unreachedResult(): Result {
  const { connections } = sampleResult();
  return sampleResult({
    ...{ steps: [], ending: 'targetLost' },
    endingMessage: 'Could not connect: nothing listens on 127.0.0.1:5999. Start it.',
    connections: { ...connections, connected: 0, failed: 20 },
  });
}

const repeated = (): Result => {
  const scenario = { ...sampleScenario, baseSending: 1900, repeat: 4 };
  const steps = [40_000, 41_000, 80_000, 41_500].map((p99, at) => ({
    ...{ ...sampleStep(1, { p99 }), index: at + 1 },
  }));
  return sampleResult({ steps }, scenario);
};

const pushed = (): Result => {
  const price = { name: 'price|<b>', messages: 1180, bytes: 257_240, perSecond: 196.667 };
  const many = Array.from({ length: 101 }, (_, at) => ({ ...price, name: `callback ${at}` }));
  const hidden = { name: 'presence', messages: 60, bytes: null, perSecond: 10 };
  const steps = [[price, hidden], many].map((own, at) => ({ ...sampleStep(at + 1), pushed: own }));
  return sampleResult({ steps });
};

const compared = (): Result => {
  const result = recordedResult();
  return { ...result, baseline: compareResults(result, result) };
};

const results: Readonly<Record<string, () => Result>> = {
  usual: () => sampleResult(),
  failed: failedResult,
  unusual: () => unusualResult,
  mix: () => sampleResult({ steps: [mixedStep(1), mixedStep(3)] }),
  sessions: () => sampleResult({ steps: [sessionStep(1)] }),
  sessionMix: () => sampleResult({ steps: [sessionMix(1)] }),
  connections: connectionsResult,
  notes: notedResult,
  repeats: repeated,
  pushed,
  server: observedResult,
  agents: () => sampleResult({ agents: sampleAgents }),
  bottleneck: () => sampleResult({ steps: [sampleStep(1), sampleStep(2, { cpuShare: 0.99 })] }),
  starved: starvedResult,
  unreached: unreachedResult,
  search: () => ({ ...sampleResult(), search: searchSample }),
  compared,
};

/** Those that are approved in the formats for other programs as well. */
const ofPrograms = ['failed', 'sessionMix', 'agents', 'server', 'notes', 'bottleneck'];

/** What a reader of the page sees of it, without its charts: a line for each row of a table and each sentence. */
const pageText = (html: string): string =>
  html
    .replace(/<(style|title)>[^]*?<\/\1>|<svg[^]*?<\/svg>/g, '')
    .replace(/<details>[^]*?<\/details>|<caption>[^]*?<\/caption>/g, '')
    .replace(/<\/t[hd]><t[hd][^>]*>/g, ' | ')
    .replace(/<(?:tr|p|li|h\d|div|dt|section|footer)\b[^>]*>/g, '\n')
    .replace(/<[^>]+>/g, ' ')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();

/** With `APPROVE=1` in the environment what is shown now is approved. */
function assertApproved(name: string, shown: string): void {
  const file = path.resolve('test/fixtures/screens', name);
  if (process.env['APPROVE'] === '1') writeFileSync(file, shown);
  assert.equal(shown, readFileSync(file, 'utf8'), file);
}

describe('what is shown of a run', () => {
  const interrupted = () => {
    const last = sampleSnapshot(80, 2, { errors: { closed: 1 } });
    const steps = [sampleSnapshot(20, 1).step!, last.step!];
    return { kind: 'interrupted', path: 'x', steps, lastSample: last } as const;
  };
  const shown: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
    ...Object.fromEntries(
      Object.entries(results).map(([name, make]) => [
        name,
        () => {
          const result = make();
          const lines = finalScreen(result, 80, '.signalr-bench/x');
          for (const { text } of lines) assert.ok(textWidth(text) <= 80, text);
          return {
            txt: paintAll(lines, false),
            md: summaryMarkdown(result),
            'page.txt': `${pageText(htmlReport(result, []))}\n`,
            ...(ofPrograms.includes(name) && {
              csv: stepsCsv(result),
              xml: junitReport(result),
              'metrics.txt': resultAsOpenMetrics(result),
            }),
          };
        },
      ]),
    ),
    interrupted: () => ({
      txt: paintAll(interruptedScreen(interrupted(), 80), false),
      md: interruptedMarkdown('x', interrupted()),
      'page.txt': `${pageText(interruptedHtml(interrupted(), []))}\n`,
      xml: interruptedJunit(interrupted()),
    }),
  };
  for (const [name, make] of Object.entries(shown))
    it(`is as approved in every format: ${name}`, () => {
      for (const [extension, text] of Object.entries(make()))
        assertApproved(`${name}.${extension}`, text);
    });
});
