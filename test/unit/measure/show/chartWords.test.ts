import assert from 'node:assert/strict';
import { finalScreen } from '../../../../src/cli/views/finalScreen';
import { paintAll } from '../../../../src/cli/views/line';
import { generatorPartNote, generatorPartWords } from '../../../../src/measure/show/chartWords';
import { verdictSentence } from '../../../../src/measure/show/verdictSentence';
import type { GeneratorHealth, StepSummary } from '../../../../src/measure/summary';
import { htmlReport } from '../../../../src/run/export/htmlReport';
import { summaryMarkdown } from '../../../../src/run/export/summaryMarkdown';
import { sentenceOf } from '../../../../src/webview/sentence';
import { reportOf } from '../../../../src/webview/tables/tables';
import { tilesOf } from '../../../../src/webview/tables/tiles';
import { sampleResult, sampleStep } from '../../results/sampleResult';
import { finishedRun, measured, shownRun } from '../../webview/shownRun';

const late = { slipP99Us: 40_000, slipMaxUs: 40_000, readGapMaxUs: 2000 };
const withGenerator = (step: StepSummary, generator: Partial<GeneratorHealth>): StepSummary => ({
  ...step,
  generator: { ...step.generator, ...generator },
});
const lateStep = withGenerator(sampleStep(1, { p99: 65_000 }), late);

describe('what of a latency is this machine', () => {
  it('is said where the p99 of its slip is more than a fifth of that of the latency', () => {
    const words = (slipP99Us: number, more: Partial<GeneratorHealth> = {}): string | undefined =>
      generatorPartWords(withGenerator(lateStep, { slipP99Us, ...more }));
    assert.equal(words(13_000), undefined);
    assert.equal(words(13_001), 'of which up to 42 ms this machine');
    // No more than there is of it.
    assert.equal(words(40_000, { slipMaxUs: 900_000 }), 'of which up to 65 ms this machine');
    const { slipMaxUs, readGapMaxUs, ...earlier } = lateStep.generator;
    assert.deepEqual([slipMaxUs, readGapMaxUs], [40_000, 2000]);
    assert.equal(generatorPartWords({ ...lateStep, generator: earlier }), undefined);
  });

  it('is said of each step below a table', () => {
    const steps = [lateStep, sampleStep(2), { ...lateStep, index: 3 }];
    const of = (index: number): string =>
      `Step ${index}: p99 65 ms, of which up to 42 ms this machine`;
    assert.equal(generatorPartNote(steps), `${of(1)}; ${of(3)}`);
    assert.equal(generatorPartNote([sampleStep(2)]), undefined);
  });

  it('is said in the same words in the terminal, the panel and the reports', () => {
    const result = sampleResult({ steps: [lateStep] });
    const words = 'of which up to 42 ms this machine';
    assert.match(verdictSentence(result), new RegExp(`within 65 ms \\(limit 1 s\\), ${words}, `));
    const terminal = paintAll(finalScreen(result, 100), false).replace(/\s+/g, ' ');
    for (const text of [terminal, summaryMarkdown(result), htmlReport(result, [])])
      assert.ok(text.includes(`Step 1: p99 65 ms, ${words}`), text);
    assert.ok(htmlReport(result, []).includes(`<span class="quiet">${words}</span>`));
    const over = finishedRun({ steps: [lateStep] });
    assert.deepEqual(reportOf('steps', over).notes, [`Step 1: p99 65 ms, ${words}.`]);
    assert.equal(tilesOf(over).find(({ id }) => id === 'p99')?.of, words);
    const snapshot = measured(95, 1);
    const step = { ...snapshot.step!, generator: { ...snapshot.step!.generator, ...late } };
    const { rest } = sentenceOf(shownRun([{ ...snapshot, step }]));
    assert.match(
      rest,
      /99 % within 41 ms, of which up to 41 ms this machine; nothing lost so far; the generator is late\.$/,
    );
  });
});
