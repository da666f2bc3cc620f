import assert from 'node:assert/strict';
import { sentenceOf } from '../../../src/webview/sentence';
import { tilesOf } from '../../../src/webview/tiles';
import { unitsViewOf } from '../../../src/webview/unitsView';
import { sampleSnapshot, sampleStep } from '../results/sampleResult';
import { finishedRun, measured, shownRun } from './shownRun';

const textOf = (state: Parameters<typeof sentenceOf>[0]): string => {
  const { lead, rest } = sentenceOf(state);
  return `${lead} ${rest}`.trim();
};
const slow = (tick: number) => {
  const snapshot = measured(tick, 2);
  return {
    ...snapshot,
    step: { ...snapshot.step!, generator: { ...snapshot.step!.generator, valid: false } },
  };
};

describe('sentence, tiles and Units of the panel', () => {
  it('say what goes on', () => {
    assert.equal(textOf(shownRun()), 'Waiting for the first numbers …');
    assert.equal(textOf(shownRun([sampleSnapshot(7)])), 'Opening connections: 700 of 1,900.');
    assert.equal(
      textOf(shownRun([measured(40, 1), measured(95, 2)])),
      'Step 2 of 3, 12 s left. 99 % within 41 ms; nothing lost so far; the generator keeps its schedule.',
    );
    const draining = shownRun([sampleSnapshot(99, 2, { phase: 'draining' })]);
    assert.match(textOf(draining), /^Step 2 of 3, waits for what is outstanding\. 99 % within/);
  });

  it('count losses of steps that are over only', () => {
    const lossy = measured(40, 1);
    const before = { ...lossy, step: { ...lossy.step!, outstanding: 12 } };
    const now = measured(95, 2);
    const onItsWay = { ...now, step: { ...now.step!, outstanding: 30 } };
    const state = shownRun([before, onItsWay]);
    assert.match(textOf(state), /12 lost so far/);
    const tile = tilesOf(state).find(({ id }) => id === 'lost');
    assert.deepEqual([tile?.value, tile?.details], ['12', '30 on their way · 0 duplicated']);
  });

  it('end in the words of the command line', () => {
    const state = finishedRun();
    assert.deepEqual(sentenceOf(state), {
      tone: 'good',
      sign: '✓',
      lead: 'Passed.',
      rest: 'Step 3: 99 % of 950,000 deliveries within 41 ms (limit 1 s), none lost.',
    });
    assert.deepEqual(
      tilesOf(state).map(({ value, of }) => `${value} ${of}`.trim()),
      ['41 ms', '1,900 of 1,900 /s', '1,900 of 1,900', '0 of 1,950,000', 'healthy'],
    );
    assert.equal(unitsViewOf(state).unit, '10');
    assert.equal(unitsViewOf(state).basis, 'measured in step 3');
    assert.ok(unitsViewOf(state).notes.includes('Estimate before the run: 10.'));
  });

  it('say that the generator is the bottleneck, without any size', () => {
    const live = shownRun([slow(95)]);
    const over = finishedRun({ steps: [sampleStep(1, { cpuShare: 0.99 })] });
    for (const state of [live, over]) {
      assert.match(textOf(state), /bottleneck/);
      assert.equal(sentenceOf(state).tone, 'warn');
      assert.equal(tilesOf(state).find(({ id }) => id === 'generator')?.value, 'bottleneck');
      const { unit, headline, rows, notes } = unitsViewOf(state);
      assert.deepEqual([unit, rows, notes], [undefined, [], []]);
      assert.match(headline, /^No Units: The load generator (is|was) the bottleneck/);
    }
  });

  it('show the published estimate while nothing is decided', () => {
    const { unit, basis, rows } = unitsViewOf(shownRun([measured(40, 1)]));
    assert.deepEqual([unit, rows.length], ['10', 3]);
    assert.match(basis ?? '', /Published estimate/);
    assert.deepEqual(
      rows[0]?.uses.map(({ text, share, high }) => [text, share, high]),
      [
        ['38 %', 0.38, false],
        ['190 %', 1, true],
        ['190 %', 1, true],
      ],
    );
  });

  it('name a run without a result as interrupted', () => {
    const state = shownRun([measured(40, 1)], { interrupted: true });
    assert.match(textOf(state), /^Interrupted: the run was broken off/);
  });
});
