import { say } from '../../../src/base/sentence';
import { plain } from '../plain';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ExpectedError } from '../../../src/base/expectedError';
import type { MeasuredLoad } from '../../../src/capacity/judge/recommend';
import { completeResult } from '../../../src/results/completeResult';
import { exitCodeForResult } from '../../../src/cli/exitCode';
import { resultShape } from '../../../src/results/resultShape';
import { shapeProblem } from '../../../src/measure/shape';
import { tooShortReason } from '../../../src/measure/judge/verdict';
import type { SearchSummary } from '../../../src/base/searchSummary';
import { searchSample } from '../../fakes/searchSample';
import { toolVersion, type Result } from '../../../src/results/result';
import type { Verdict, VerdictReason } from '../../../src/measure/summary';
import { verdictSentence } from '../../../src/measure/show/verdictSentence';
import { junitReport } from '../../../src/run/export/junitReport';
import {
  sampleModel,
  sampleResult,
  sampleScenario,
  sampleStep,
  sampleSummary,
} from './sampleResult';

const options = { id: 'x', toolVersion };

/** Completes the sample run and reports what was given to `recommend`. */
function measuredFor(change: Parameters<typeof sampleSummary>[0]) {
  const measured: MeasuredLoad[] = [];
  const result = completeResult(sampleSummary(change), sampleScenario, options, {
    ...sampleModel,
    recommend: (load) => {
      measured.push(load);
      return sampleModel.recommend(load);
    },
  });
  return { result, measured };
}

describe('completeResult of repeats', () => {
  it('recommends by the last round as by a run of one, and says how far the rounds lie apart', () => {
    const once = completeResult(sampleSummary(), sampleScenario, options);
    const steps = [1, 2, 3, 1, 2, 3].map((step, at) => ({ ...sampleStep(step), index: at + 1 }));
    const twice = completeResult(
      sampleSummary({ steps }),
      { ...sampleScenario, repeat: 2 },
      options,
    );
    assert.equal(twice.recommendationProblem, undefined);
    assert.equal(twice.recommendation?.unit, once.recommendation?.unit);
    assert.equal(twice.recommendation?.step, 6);
    assert.deepEqual(
      twice.repeats?.map(({ step, of }) => [step, of]),
      [
        [1, [1, 4]],
        [2, [2, 5]],
        [3, [3, 6]],
      ],
    );
    assert.equal(shapeProblem(JSON.parse(JSON.stringify(twice)), resultShape), undefined);
    assert.equal(once.repeats, undefined);
  });
});

describe('completeResult of a search', () => {
  const searched = {
    ...sampleScenario,
    search: { of: 'senders', from: 100, to: 1900, precision: 0.05, budgetMs: 600_000 },
  } as const;
  const low = sampleStep(2);
  const found = {
    ...searchSample,
    ...{ low: 1300, high: 1900 },
    steps: [1, 2, 3].map((index) => ({
      ...searchSample.steps[0]!,
      ...{ index, value: 100 + 600 * index, status: index === 3 ? 'fail' : 'pass' },
    })) as SearchSummary['steps'],
  };
  const complete = (
    search: SearchSummary,
    steps = [sampleStep(1), low, sampleStep(3, { p99: 2e6 })],
  ) => {
    const measured: MeasuredLoad[] = [];
    const summary = sampleSummary({ search, steps });
    const connections = { ...summary.connections, dropped: 300 };
    const result = completeResult({ ...summary, connections }, searched, options, {
      ...sampleModel,
      recommend: (load) => {
        measured.push(load);
        return sampleModel.recommend(load);
      },
    });
    return { result, measured };
  };

  it('passes although steps failed, and recommends what the highest value that held needs', () => {
    const { result, measured } = complete(found);
    assert.equal(result.verdict.status, 'pass');
    assert.equal(measured[0]?.useCases[0]?.inPerSecond, low.sent / low.seconds);
    assert.equal(result.search?.unit, result.recommendation?.unit);
    assert.deepEqual(
      measured.map(({ step, remarks }) => [step, remarks ?? []]),
      [[2, []]],
    );
    assert.equal(exitCodeForResult(result), 0);
    assert.equal(shapeProblem(JSON.parse(JSON.stringify(result)), resultShape), undefined);
  });

  it('exits as it ended', () => {
    const code = (changes: Partial<SearchSummary>): number =>
      exitCodeForResult(complete({ ...found, ...changes }).result);
    assert.deepEqual(
      [
        code({ ended: 'allHeld', high: null }),
        code({ ended: 'budget' }),
        code({ ended: 'budget', low: null }),
        code({ ended: 'noneHeld', low: null, high: 100 }),
        code({ ended: 'generatorLimit', high: null }),
      ],
      [0, 0, 1, 1, 4],
    );
  });

  it('says why it has failed where no step has', () => {
    const verdict = { status: 'incomplete' as const, reasons: [tooShortReason] };
    const steps = [{ ...sampleStep(1), verdict }];
    const { result } = complete({ ...found, ended: 'budget', low: null, high: null }, steps);
    const { status, reasons } = result.verdict;
    assert.deepEqual(
      [status, plain(reasons)],
      ['fail', [{ code: tooShortReason.code, message: `step 1: ${tooShortReason.message}` }]],
    );
  });

  it('gives no Units where nothing held or the generator was the limit', () => {
    for (const changes of [
      { ended: 'noneHeld', low: null },
      { ended: 'generatorLimit' },
    ] as const) {
      const { result } = complete({ ...found, ...changes });
      assert.deepEqual([result.search?.unit, result.recommendation], [null, null]);
      assert.match(result.recommendationProblem ?? '', /No value held|load generator/);
    }
  });
});

describe('completeResult of messages that no service takes', () => {
  const frames = {
    ...sampleScenario,
    service: 'webpubsub',
    entries: [{ name: 'sendToGroup', parameters: { groupCount: 10, messageSize: 1_228_800 } }],
  } as const;
  const complete = (status: Verdict['status'], ...reasons: VerdictReason[]): Result => {
    const step = { ...sampleStep(1), received: 0, verdict: { status, reasons } };
    const connections = { ...sampleSummary().connections, dropped: 1 };
    return completeResult(sampleSummary({ steps: [step], connections }), frames, options);
  };

  it('fails with the size first where the service has closed the only sender', () => {
    const nothing = { code: 'nothingSent', message: 'the one sender sent nothing' };
    const result = complete('invalid', nothing);
    const { status, reasons } = result.verdict;
    assert.equal(status, 'fail');
    assert.deepEqual(
      reasons.slice(0, 2).map(({ code }) => code),
      ['messageSize', 'nothingSent'],
    );
    const size =
      /^A message of sendToGroup is 1,2\d\d,\d{3} bytes .* Azure Web PubSub takes at most/;
    assert.match(reasons[0]!.message, size);
    assert.equal(result.recommendationProblem, reasons[0]!.message);
    assert.match(verdictSentence(result), /^✗ failed; A message of sendToGroup is 1,2/);
    assert.match(
      junitReport(result),
      /<failure type="messageSize" message="A message of sendToGroup/,
    );
    assert.equal(exitCodeForResult(result), 1);
  });

  it('leaves a run that was interrupted, or that passed, as it is', () => {
    for (const status of ['pass', 'incomplete'] as const)
      assert.equal(complete(status).verdict.status, status);
  });
});

describe('completeResult', () => {
  it('recommends from the last step when all passed', () => {
    const { result, measured } = measuredFor({});
    assert.equal(result.verdict.status, 'pass');
    assert.equal(result.recommendation?.basis, 'measured');
    assert.equal(result.estimate?.basis, 'published');
    assert.deepEqual(
      measured.map(({ connections, step, useCases }) => [
        connections,
        step,
        useCases[0]?.inPerSecond,
        useCases[0]?.outPerSecond,
      ]),
      [[1900, 3, 1900, 19_000]],
    );
  });

  it('recommends from the last step that was measured to its end', () => {
    const failed = sampleStep(2, { p99: 2_000_000 });
    assert.equal(failed.verdict.status, 'fail');
    const twoSteps = measuredFor({ steps: [sampleStep(1), failed], ending: 'threshold' });
    assert.equal(twoSteps.result.recommendation?.step, 2);
    assert.deepEqual(twoSteps.result.recommendation.carried, { step: 1, unit: 10 });
    assert.equal(measuredFor({ steps: [failed] }).result.recommendation?.carried, null);
  });

  it('counts connections that are missing, and those about to leave: a service does too', () => {
    for (const [connections, counted] of [
      [{ requested: 1900, open: 1500, held: 1890 }, 1900],
      [{ requested: 1900, open: 1500 }, 1900],
      [{ requested: 1900, open: 1900, held: 1950 }, 1950],
    ] as const) {
      const { measured } = measuredFor({ steps: [{ ...sampleStep(1), connections }] });
      assert.equal(measured[0]?.connections, counted);
    }
  });

  it('gives one for a step that has carried its load where only its latency is open', () => {
    const slip = { code: 'slip', message: 'this machine may have added up to 30 ms' };
    const starved = { code: 'starved', message: 'something else took the processor' };
    const of = (...reasons: VerdictReason[]) =>
      measuredFor({ steps: [{ ...sampleStep(1), verdict: { status: 'invalid', reasons } }] });
    for (const { result, measured } of [of(slip), of(starved, slip)]) {
      assert.equal(result.verdict.status, 'invalid');
      assert.ok(result.recommendation);
      const open = 'Step 1 carried its load, but whether it kept its limits is open.';
      assert.deepEqual(
        measured[0]?.remarks?.map((words) => say(words)),
        [open],
      );
    }
    assert.equal(
      of(starved, { code: 'send-rate', message: 'half' }, slip).result.recommendationProblem,
      'This machine was late to send or to read, so the measured rates say nothing about the target.',
    );
  });

  it('gives no recommendation when the generator was the bottleneck', () => {
    const steps = [sampleStep(1), sampleStep(2, { cpuShare: 0.99 })];
    const { result, measured } = measuredFor({ steps });
    assert.equal(result.verdict.status, 'invalid');
    assert.equal(result.recommendation, null);
    assert.match(result.recommendationProblem ?? '', /generator was the bottleneck/);
    assert.deepEqual(measured, []);
  });

  it('ends the notes with what is billed', () => {
    const result = completeResult(sampleSummary(), sampleScenario, options);
    const { billing, notes } = result.recommendation!;
    assert.ok(billing!.messages_per_s > billing!.payload_only.messages_per_s);
    assert.match(notes.at(-1) ?? '', /^Billed at this load around the clock: .* Envelopes count: /);
  });

  it('says first what Units from an emulator stand for, and marks the target', () => {
    const target = { kind: 'local', url: 'http://127.0.0.1:1/hub', emulated: true } as const;
    const { result } = measuredFor({ target });
    assert.equal(result.target.emulated, true);
    const [first, ...others] = result.recommendation!.reasons;
    // The sample's scenario may be for a service or for a hub.
    assert.match(
      first ?? '',
      /^Measured against (the embedded hub|an emulator): .* says nothing about the service\.$/,
    );
    const { result: real } = measuredFor({});
    assert.equal(real.target.emulated, undefined);
    assert.deepEqual(others, real.recommendation!.reasons);
  });

  it('gives none without a step', () => {
    const { result } = measuredFor({ steps: [], ending: 'targetLost', endingMessage: 'gone' });
    assert.equal(result.recommendation, null);
    assert.equal(result.verdict.reasons[0]?.message, 'gone');
    assert.match(result.recommendationProblem ?? '', /^No step was measured\.$/);
  });

  it('gives none where the only step is incomplete, and says why that is', () => {
    const reasons = [{ code: 'agentLost', message: 'agent 3 of 3 (vm) was lost' }];
    const [step] = sampleSummary().steps;
    const steps = [{ ...step!, verdict: { status: 'incomplete' as const, reasons } }];
    const { result } = measuredFor({ steps, ending: 'workerLost' });
    assert.equal(result.recommendationProblem, 'Step 1 is incomplete: agent 3 of 3 (vm) was lost.');
  });

  it('keeps the numbers when there is no published table', () => {
    const result = completeResult(sampleSummary(), sampleScenario, options, {
      ...sampleModel,
      loadOf: () => ({ problem: 'no table' }),
      measuredLoadOf: () => ({ problem: 'no table' }),
    });
    assert.equal(result.estimate, null);
    assert.equal(result.recommendationProblem, 'no table');
    assert.equal(result.steps.length, 3);
  });

  it('keeps the numbers when the tables refuse the load, but not for a defect', () => {
    const complete = (error: Error) =>
      completeResult(sampleSummary(), sampleScenario, options, {
        ...sampleModel,
        recommend: () => {
          throw error;
        },
      });
    assert.equal(complete(new ExpectedError('x', 'too many')).recommendationProblem, 'too many');
    assert.throws(() => complete(new Error('bug')), /bug/);
  });

  it('holds nothing that turns the direction of text', () => {
    const result = sampleResult({
      endingMessage: 'lost \u202egnp.exe',
      errorExamples: [{ errorClass: 'closed', text: 'bye \u2066hidden\u2069\u009b2J' }],
    });
    assert.equal(result.endingMessage, 'lost gnp.exe');
    assert.equal(result.errorExamples[0]!.text, 'bye hidden2J');
  });

  it('holds no literal secret', () => {
    const scenario = {
      ...sampleScenario,
      target: { kind: 'hubUrl' as const, urls: ['https://u:s3cret@h/x?t=s3cret'] },
      headers: { Authorization: 'Bearer s3cret', 'X-Kept': '${secret:kept}' },
      query: { code: 's3cret' },
      accessToken: 's3cret',
      upstream: { port: 0, publicUrl: 'https://h/up?code=s3cret' },
    };
    const summary = sampleSummary({
      target: { kind: 'hubUrl', url: 'https://h/x?t=s3cret' },
      ending: 'targetLost',
      endingMessage: 'https://h/x?access_token=s3cret answered 401',
      errorExamples: [{ errorClass: 'unauthorized', text: 'Bearer s3cret-and-more refused' }],
    });
    const text = JSON.stringify(completeResult(summary, scenario, options, sampleModel));
    assert.doesNotMatch(text, /s3cret/);
    assert.match(text, /\$\{secret:kept\}/);
  });

  it('is written by the version the package names', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    assert.equal(toolVersion, manifest.version);
  });
});
