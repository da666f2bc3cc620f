import assert from 'node:assert/strict';
import { columnsOf, columnTexts, rowOfStep } from '../../../../src/measure/show/stepColumns';
import { sampleStep } from '../../results/sampleResult';

describe('columns of steps', () => {
  const usual = rowOfStep(sampleStep(1));
  const timeToAllUs = { ...sampleStep(1).latencyUs, count: 10 };
  const measured = rowOfStep({ ...sampleStep(1), timeToAllUs, timeToAllMissed: 3 });
  const idsOf = (...of: Parameters<typeof columnsOf>): string[] =>
    columnsOf(...of).map(({ id }) => id);

  it('of the time to all are shown where a row has it, and in CSV always', () => {
    for (const view of ['markdown', 'panel'] as const) {
      const with_ = idsOf(view, 'steps', [usual, measured]);
      const without = idsOf(view, 'steps', [usual]);
      assert.deepEqual(
        with_.filter((id) => !without.includes(id)),
        ['toAllP99', 'timeToAllMissed'],
      );
    }
    assert.deepEqual(idsOf('csv', 'steps', [usual]), idsOf('csv'));
    const values = columnsOf('csv')
      .filter(({ id }) => id.startsWith('timeToAll'))
      .map(({ id, value }) => [id, value(measured)]);
    assert.deepEqual(values, [
      ['timeToAllMissed', 3],
      ['timeToAllUs.p50', timeToAllUs.p50],
      ['timeToAllUs.p99', timeToAllUs.p99],
      ['timeToAllUs.max', timeToAllUs.max],
    ]);
  });

  it('have a head for the panel, whether they are shown or not', () => {
    assert.equal(columnTexts()['column.toAllP99'], 'To all p99');
  });
});
