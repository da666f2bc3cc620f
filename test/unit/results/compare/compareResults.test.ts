import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import type { Comparison } from '../../../../src/measure/compare/comparison';
import type { StepSummary } from '../../../../src/measure/summary';
import {
  compareResults,
  compareAll,
  overallVerdict,
} from '../../../../src/results/compare/compareResults';
import type { Result } from '../../../../src/results/result';
import {
  comparisonSentence,
  comparisonSentences,
  comparisonState,
} from '../../../../src/measure/compare/comparisonWords';
import { comparisonMarkdown } from '../../../../src/run/export/summaryMarkdown';
import { htmlReport } from '../../../../src/run/export/htmlReport';
import { comparisonTone } from '../../../../src/cli/views/comparisonScreen';
import { measuredStep, wanderingSeconds } from '../../../fakes/measuredStep';
import { sampleResult, sampleScenario } from '../sampleResult';

const minute = (seed: number, factor = 1): number[][] =>
  wanderingSeconds(
    { perSecond: 100, correlation: 0.3, wandering: 0.05, factor },
    60,
    seededRandom(seed),
  );

const run = (steps: readonly StepSummary[], change: Partial<Result> = {}): Result => ({
  ...sampleResult({ steps }),
  ...change,
});

const before = run([measuredStep(minute(1))], { id: '2026-11-21T14-02-11-chat-room' });

describe('comparing two results', () => {
  it('calls a run worse whose latency rose by 30 %, and says where and by how much', () => {
    const found = compareResults(before, run([measuredStep(minute(2, 1.3))]));
    assert.equal(found.verdict, 'worse');
    assert.match(
      found.sentence,
      /^✗ worse; step 1: p99 rose from [\d.]+ ms to [\d.]+ ms \(\+\d+ %, between \+\d+ and \+\d+ %; tolerance 10 %\)$/,
    );
    const { ratio, interval, change } = found.steps[0]!.latency.p99!;
    assert.ok(interval![0] > 1 && interval![0] < ratio! && ratio! < interval![1]);
    assert.equal(change, 'worse');
  });

  it('says the opposite when the two change places', () => {
    const faster = run([measuredStep(minute(2, 0.7))]);
    const [there, back] = [compareResults(before, faster), compareResults(faster, before)];
    assert.deepEqual([there.verdict, back.verdict], ['better', 'worse']);
    assert.match(there.sentence, /^✓ better; step 1: p99 fell/);
    const [a, b] = [there, back].map(({ steps }) => steps[0]!.latency.p99!.ratio!);
    assert.ok(Math.abs(a! * b! - 1) < 1e-3);
  });

  it('says the same of the same, and the same each time', () => {
    const other = run([measuredStep(minute(3))]);
    const found = compareResults(before, other);
    assert.equal(found.verdict, 'same');
    assert.deepEqual(compareResults(before, other), found);
    assert.equal(compareResults(before, before).verdict, 'same');
  });

  it('takes a change below the tolerance for none, however sure it is', () => {
    const still = Array.from({ length: 60 }, () =>
      Array.from({ length: 2000 }, (_, at) => 2000 + at),
    );
    const slower = still.map((second) => second.map((us) => us * 1.08));
    const [a, b] = [run([measuredStep(still)]), run([measuredStep(slower)])];
    assert.ok(compareResults(a, b).steps[0]!.latency.p99!.interval![0] > 1.05);
    assert.equal(compareResults(a, b).verdict, 'same');
    assert.equal(compareResults(a, b, { tolerance: 0.05 }).verdict, 'worse');
  });

  it('judges what was lost, which is slower than anything', () => {
    const losing = run([measuredStep(minute(3), { lost: 300 })]);
    const found = compareResults(before, losing);
    assert.equal(found.verdict, 'worse');
    assert.match(found.sentence, /300 deliveries were lost \(4.8 %\), before 0 \(0 %\)$/);
    assert.equal(found.steps[0]!.latency.p99!.b, null);
    assert.equal(compareResults(losing, before).verdict, 'better');
    const all = run([{ ...measuredStep([[]]), expected: 5000, lost: 5000, seconds: 60 }]);
    assert.equal(compareResults(before, all).verdict, 'worse');
  });

  it('says that nothing can be said of runs below 10 s', () => {
    const short = run([measuredStep(minute(4, 3).slice(0, 9))]);
    const found = compareResults(before, short);
    assert.equal(found.verdict, 'unlike');
    assert.match(
      found.sentence,
      /^■ cannot be compared; step 1: it was measured for 60 s and 9 s, and at least 10 s of each run are needed to say what is chance; set singleStepDuration to 10s or more/,
    );
    assert.equal(found.steps[0]!.latency.p99!.interval, null);
    const comment = comparisonMarkdown(found);
    assert.equal(comment.split('it was measured for').length, 2, 'the reason stands there once');
  });

  it('says so where nothing arrived, one delivery did, or no latency over time is stored', () => {
    const bare = measuredStep(minute(5));
    Reflect.deleteProperty(bare, 'latencyBlocks');
    const cases: readonly (readonly [StepSummary, RegExp])[] = [
      [measuredStep([[]]), /nothing arrived in one of the runs/],
      [measuredStep([[2000]]), /measured for 60 s and 1 s|too few deliveries/],
      [bare, /no latency over time/],
      [{ ...bare, latencyBlocks: { seconds: 1, counts: Array(60).fill('x') } }, /cannot be read/],
    ];
    for (const [step, why] of cases) {
      const found = compareResults(before, run([step]));
      assert.equal(found.verdict, 'unlike');
      assert.match(found.sentence, why);
      noNaN(found);
    }
    assert.match(compareResults(run([]), run([])).sentence, /no step passed or failed in both/);
  });

  it('says nothing of a minute in which nearly everything arrived at once, as after a clock that jumped', () => {
    const still = minute(6).map((second, at) => (at % 20 === 0 ? second : []));
    const found = compareResults(before, run([measuredStep(still)]));
    assert.equal(found.verdict, 'unlike');
    assert.match(found.sentence, /deliveries arrived in fewer than 10 pieces of its time/);
    noNaN(found);
  });

  it('refuses invalid runs, searches and another load, with the reason', () => {
    const verdict = {
      status: 'invalid',
      reasons: [{ code: 'slip', message: 'sent late' }],
    } as const;
    const cases: readonly (readonly [Partial<Result>, RegExp])[] = [
      [{ id: 'x', verdict }, /x is invalid: sent late/],
      [
        { scenario: { ...sampleScenario, connections: 1800 } },
        /another load: config.connections is 1900 in one and 1800 in the other/,
      ],
      [{ scenario: { ...sampleScenario, pacing: 'closed' } }, /config.pacing is open in one/],
      // As other scenarios have it.
      [
        { scenario: { ...sampleScenario, arrivals: 'poisson' as const } },
        /config.arrivals is – in one and poisson in the other/,
      ],
    ];
    for (const [change, why] of cases) {
      const found = compareResults(before, run([measuredStep(minute(6))], change));
      assert.equal(found.verdict, 'unlike');
      assert.match(found.reasons.join('\n'), why);
    }
  });

  it('takes a key that says what is usual for one that says nothing', () => {
    const scenario = { ...sampleScenario, repeat: 1, arrivals: 'even' } as Result['scenario'];
    const found = compareResults(before, run([measuredStep(minute(7))], { scenario }));
    assert.deepEqual(found.differences, []);
  });

  it('names what differs, and compares all the same', () => {
    const other = run([measuredStep(minute(7))], {
      tool: { name: 'signalr-bench', version: '0.2.0' },
      machine: { ...before.machine, cores: 64 },
      scenario: { ...sampleScenario, protocol: 'messagepack' },
    });
    const { differences, verdict } = compareResults(before, other);
    assert.equal(verdict, 'same');
    assert.deepEqual(
      differences.map(({ what, b }) => [what, b]),
      [
        ['config.protocol', 'messagepack'],
        ['tool', '0.2.0'],
        ['machine.cores', '64'],
      ],
    );
  });

  it('compares steps that both have, and names the others', () => {
    const steps = [measuredStep(minute(8)), measuredStep(minute(9), { index: 2, senders: 1300 })];
    const found = compareResults(run(steps), before);
    assert.equal(found.steps.length, 1);
    assert.match(found.reasons.join(), /^step 2: in .* alone$/);
  });

  it('names the senders of both runs where no step is common', () => {
    const of = (...senders: readonly number[]) =>
      run(senders.map((each, at) => measuredStep(minute(8), { index: at + 1, senders: each })));
    const found = compareResults(of(25, 50), of(50));
    assert.equal(
      found.sentence,
      '■ cannot be compared; the runs have no step with the same place and number of senders: baseline 25 and 50, now 50',
    );
  });

  it('says that no change could be shown where the interval leaves room for one beyond the tolerance', () => {
    const noisy = (seed: number, factor = 1): Result =>
      run([
        measuredStep(
          wanderingSeconds(
            { perSecond: 100, correlation: 0.5, wandering: 0.4, factor },
            20,
            seededRandom(seed),
          ),
        ),
      ]);
    const found = compareResults(noisy(1), noisy(2));
    assert.ok(found.steps[0]!.latency.p99!.interval![1] > 1.1);
    assert.deepEqual([found.verdict, comparisonState(found)], ['same', 'unshown']);
    assert.match(
      found.sentence,
      /^○ no change could be shown; step 1: p99 [\d.]+ ms, was [\d.]+ ms \(.*, between −\d+ and \+\d+ %; tolerance 10 %\); measure longer to see a change of 10 %$/,
    );
    const wide = compareResults(noisy(1), noisy(2), { tolerance: 9 });
    assert.equal(comparisonState(wide), 'same');
    assert.match(wide.sentence, /^✓ the same; /);
    const comment = comparisonMarkdown(found);
    assert.match(
      comment,
      /^### ⚪ no change of .* could be shown: p99 [\d.]+ ms, was [\d.]+ ms \(−\d+ … \+\d+ %\); measure longer to see a change of 10 %\n\nStep 1, 700 senders: p99 −/,
    );
    assert.doesNotMatch(comment, /✅|as fast/);
    const { lead, rest, tone, sign } = comparisonSentences(found);
    assert.deepEqual([lead, tone, sign], ['No change could be shown.', 'plain', '○']);
    assert.match(rest, /; measure longer to see a change of 10 %\.$/);
    assert.equal(comparisonTone(found), 'bold');
    const page = htmlReport({ ...noisy(2), baseline: found }, []);
    assert.match(page, /<p class="verdict unshown"><span aria-hidden="true">○<\/span>/);
  });

  it('speaks of the tolerance where a smaller change is sure', () => {
    const found = compareResults(before, before);
    const [step] = found.steps;
    const percentile = { ...step!.latency.p99!, ratio: 1.08, interval: [1.02, 1.14] as const };
    const sure = { ...found, steps: [{ ...step!, latency: { p99: percentile } }] };
    assert.match(comparisonSentence(sure), /^○ no change beyond the tolerance could be shown; /);
    assert.match(comparisonMarkdown(sure), /^### ⚪ no change of .* beyond the tolerance could be/);
    assert.equal(comparisonSentences(sure).lead, 'No change beyond the tolerance could be shown.');
  });

  it('takes the ports of embedded servers for the same', () => {
    const at = (kind: string, url: string) =>
      run([measuredStep(minute(8))], { target: { ...before.target, kind, url } });
    const differing = (kind: string, host = '127.0.0.1'): string[] => {
      const [one, other] = [41001, 41002].map((port) => at(kind, `http://${host}:${port}/hub`));
      return compareResults(one!, other!).differences.map(({ what }) => what);
    };
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:7f00:1]', 'hub.localhost'])
      assert.deepEqual(differing('local', host), [], host);
    assert.deepEqual(differing('local', '127.0.0.256'), ['target.url']);
    assert.deepEqual(differing('hubUrl'), ['target.url']);
  });

  it('puts the repeats of each step together', () => {
    const scenario = { ...sampleScenario, baseSending: 1900, repeat: 3 };
    const repeated = (seed: number, factor: number): Result =>
      sampleResult(
        {
          steps: [0, 1, 2].map((at) => measuredStep(minute(seed + at, factor), { index: at + 1 })),
        },
        scenario,
      );
    const a = repeated(20, 1);
    assert.deepEqual(a.repeats![0]!.of, [1, 2, 3]);
    const found = compareResults(a, repeated(30, 1.3));
    assert.equal(found.verdict, 'worse');
    assert.equal(found.steps.length, 1);
    assert.equal(found.steps[0]!.seconds.b, 180);
    assert.equal(compareResults(a, repeated(40, 1)).verdict, 'same');
    // Three times as many blocks say more.
    const single = compareResults(before, run([measuredStep(minute(30, 1.3))]));
    const width = ({ steps }: Comparison): number => {
      const [low, high] = steps[0]!.latency.p50!.interval!;
      return Math.log(high / low);
    };
    assert.ok(width(found) < width(single));
    const damaged = { ...a, steps: a.steps.map((step) => ({ ...step, histogram: 'x' })) };
    assert.match(compareResults(damaged, a).sentence, /histogram in the result cannot be read/);
  });

  it('of several lets the worst decide', () => {
    const others = [3, 2].map((seed) => run([measuredStep(minute(seed, seed === 2 ? 1.4 : 1))]));
    const found = compareAll(before, others);
    assert.deepEqual(
      found.map(({ verdict }) => verdict),
      ['same', 'worse'],
    );
    assert.equal(overallVerdict(found), 'worse');
  });

  it('has a bound for the work that many long steps take', () => {
    const step = measuredStep(minute(1).slice(0, 12));
    const steps = Array.from({ length: 150 }, (_, at) => ({ ...step, index: at + 1 }));
    const found = compareResults(run(steps), run(steps));
    assert.equal(found.steps.length, 100);
    assert.match(found.reasons.join(), /only the last 100 steps/);
  });
});

function noNaN(found: Comparison): void {
  const seen = JSON.stringify(found, (_key, value: unknown) => {
    assert.ok(typeof value !== 'number' || Number.isFinite(value), String(value));
    return value;
  });
  assert.ok(seen.length > 0);
}
