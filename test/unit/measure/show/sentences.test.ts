import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { joinWords, say, sentence, mapPlainText, type Words } from '../../../../src/base/sentence';
import { defaultSlo } from '../../../../src/base/slo';
import { english } from '../../../../src/base/text';
import { couldNotConnectWords } from '../../../../src/measure/judge/hubComplaint';
import { createReason, wordsWithStep } from '../../../../src/measure/judge/reason';
import { judgeRun, judgeStep, addConnectionVerdict } from '../../../../src/measure/judge/verdict';
import { searchHeadline } from '../../../../src/measure/show/searchSentence';
import {
  remainingReasons,
  verdictSentence,
  verdictSentences,
} from '../../../../src/measure/show/verdictSentence';
import type { Ending } from '../../../../src/measure/summary';
import { addReasonPlaces } from '../../../../src/results/readResult';
import { searchEnds, searchKinds } from '../../../../src/base/searchSummary';
import { describeLoad } from '../../../../src/run/runWords';
import { searchSample } from '../../../fakes/searchSample';
import { sampleResult, sampleScenario, sampleStep } from '../../results/sampleResult';

const bundle = JSON.parse(readFileSync('l10n/bundle.l10n.zh-cn.json', 'utf8')) as Record<
  string,
  string
>;
const chinese: typeof english = (text, ...args) => english(bundle[text] ?? text, ...args);

/** Units, and names of objectives and use cases, are the same in every language. */
const alike =
  /(?<![A-Za-z])(?:[µm]?s|min|h|B|KB|MB|sendToGroup|echo|delivered|dropped|rate|errors|timeout|invocation)(?![A-Za-z])/g;

function assertChinese(text: string): void {
  assert.deepEqual(text.replace(alike, '').match(/[A-Za-z]{2,}/g) ?? [], [], text);
}

describe('a sentence', () => {
  it('is filled in for who reads it, with the sentences in it, and lists as they stand there', () => {
    const words = sentence('step {0}: {1}', '3', joinWords([sentence('none lost'), '5 {0}'], ', '));
    assert.equal(say(words), 'step 3: none lost, 5 {0}');
    assert.equal(say(words, chinese), '第 3 步：无丢失，5 {0}');
    assert.equal(say(joinWords([]), chinese), '');
    assert.equal(
      say(mapPlainText(words, (text) => text.replace('5', 'five'))),
      'step 3: none lost, five {0}',
    );
  });
});

describe('what is said of runs', () => {
  it('is Chinese to the last word, whatever became of them', () => {
    const endings: Ending[] = [
      ...([
        'completed',
        'stopped',
        'threshold',
        'targetLost',
        'workerLost',
        'interrupted',
      ] as const),
    ];
    const count = fc.nat({ max: 3_000_000 });
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            senders: fc.constantFrom(0, 1, 700),
            expected: count,
            arrived: count,
            us: count,
          }),
          { maxLength: 3 },
        ),
        fc.constantFrom(...endings),
        fc.constantFrom(0, 5),
        (all, ending, refused) => {
          const steps = all.map(({ senders, expected, arrived, us }, at) => {
            const received = Math.min(expected, arrived);
            const step = sampleStep(at + 1, { p99: us });
            const counts = {
              senders,
              offered: senders * 10,
              sent: senders * 9,
              expected,
              received,
            };
            const judged = judgeStep(
              { ...step, ...counts, latencyAtShareUs: () => us, duplicated: us % 2 },
              defaultSlo,
            );
            const lost = { requested: 100, failed: us % 3, dropped: us % 5 };
            const verdict = addConnectionVerdict(judged, lost, defaultSlo);
            return { ...step, ...counts, lost: expected - received, verdict };
          });
          const errors = refused === 0 ? {} : { invocation: refused };
          const run = { ...sampleResult(), ending, steps, errors, plannedSteps: 4 };
          const verdict = judgeRun(run, defaultSlo);
          for (const reason of verdict.reasons) {
            assert.equal(say(wordsWithStep(reason)), reason.message);
            assertChinese(say(wordsWithStep(reason), chinese));
          }
          const judged = { ...run, verdict, scenario: { slo: defaultSlo } };
          assertChinese(verdictSentence(judged, chinese));
          const { lead, rest } = verdictSentences(judged, chinese);
          assert.ok(
            [lead, rest].every((each) => each === '' || each.endsWith('。')),
            lead + rest,
          );
          assert.ok(
            verdict.reasons.length === 0 ||
              remainingReasons(judged).length < verdict.reasons.length,
          );
        },
      ),
      { numRuns: 150 },
    );
    for (const ended of searchEnds)
      for (const of of searchKinds)
        for (const edge of [
          {},
          { low: null, high: 100 },
          { high: null },
          { low: null, high: null },
        ]) {
          const first = createReason('cpu', sentence('nothing sent'));
          const headline = searchHeadline({ ...searchSample, ...edge, ended, of }, first);
          const said: Words[] = [headline.lead, headline.rest ?? ''];
          for (const words of said) assertChinese(say(words, chinese));
        }
    assertChinese(describeLoad(sampleScenario, chinese));
  });

  it('is in two sentences for who shows them apart', () => {
    const errors = [{ errorClass: 'refused', text: 'connect ECONNREFUSED 127.0.0.1:5999' }];
    const { connections } = sampleResult();
    const none = { ...connections, connected: 0 };
    const run = {
      ...sampleResult(),
      ...{ ending: 'targetLost' as const, steps: [], connections: none },
      verdict: {
        status: 'incomplete' as const,
        reasons: [createReason('targetLost', couldNotConnectWords(errors, 'x'))],
      },
    };
    const { lead, rest } = verdictSentences(run, chinese);
    assert.equal(lead, '无法连接：127.0.0.1:5999 上没有服务在监听。');
    assert.match(rest, /^Start the server, or correct the port/);
  });
});

describe('a result of an earlier version', () => {
  it('gets the steps and rules of its reasons', () => {
    const check = { metric: 'p99', limit: 10, value: 20, met: false } as const;
    const verdict = {
      status: 'fail' as const,
      reasons: [{ code: 'slo-p99', message: 'step 2: too slow: all of it' }],
    };
    const step = {
      ...sampleStep(2),
      verdict: {
        status: 'fail' as const,
        reasons: [{ code: 'slo-p99', message: 'too slow: all of it' }],
        checks: [{ ...check, metric: 'delivered' as const, met: true }, check],
      },
    };
    const placed = addReasonPlaces({ ...sampleResult(), steps: [step], verdict });
    const [reason] = placed.verdict.reasons;
    assert.deepEqual([reason!.step, reason!.words], [2, 'too slow: all of it']);
    assert.equal(say(wordsWithStep(reason!)), verdict.reasons[0]!.message);
    assert.equal(placed.steps[0]!.verdict.reasons[0]!.rule, check);
  });
});
