import assert from 'node:assert/strict';
import {
  visibleColumns,
  columnTexts,
  stepRow,
  type StepRow,
} from '../../../../src/measure/show/stepColumns';
import { sampleStep } from '../../results/sampleResult';

describe('columns of steps', () => {
  const usual = stepRow(sampleStep(1));
  const timeToAllUs = { ...sampleStep(1).latencyUs, count: 10 };
  const measured = stepRow({ ...sampleStep(1), timeToAllUs, timeToAllMissed: 3 });
  const idsOf = (...of: Parameters<typeof visibleColumns>): string[] =>
    visibleColumns(...of).map(({ id }) => id);

  it('of the time to all are shown where a row has it, and in CSV always', () => {
    const without = idsOf('panel', 'steps', [usual]);
    assert.deepEqual(
      idsOf('panel', 'steps', [usual, measured]).filter((id) => !without.includes(id)),
      ['toAllP99', 'timeToAllMissed'],
    );
    assert.deepEqual(idsOf('csv', 'steps', [usual]), idsOf('csv'));
    const values = visibleColumns('csv')
      .filter(({ id }) => id.startsWith('timeToAll'))
      .map(({ id, value }) => [id, value(measured)]);
    assert.deepEqual(values, [
      ['timeToAllMissed', 3],
      ['timeToAllUs.p50', timeToAllUs.p50],
      ['timeToAllUs.p99', timeToAllUs.p99],
      ['timeToAllUs.max', timeToAllUs.max],
    ]);
  });

  it('of clocks are shown where deliveries went between agents whose clocks differ', () => {
    const { latencyUs } = sampleStep(1);
    const inside = { ...latencyUs, count: 20, p99: 7000 };
    const between = { ...sampleStep(1), latencySameAgentUs: inside };
    const differing = stepRow({
      ...{ ...between, clockErrorUs: 800, agentsComplete: 3, clockJumps: 1 },
      ...{ ambiguous: 4, negative: 5 },
    });
    const shown = (row: StepRow) =>
      visibleColumns('panel', 'steps', [row])
        .filter(({ id }) => ['insideP99', 'clockError'].includes(id))
        .map(({ value }) => value(row));
    assert.deepEqual(shown(differing), [7000, 800]);
    // None of them was inside an agent: nobody can say how long one takes there.
    assert.deepEqual(shown(stepRow({ ...sampleStep(1), clockErrorUs: 800 })), [800]);
    assert.deepEqual(shown(stepRow({ ...between, clockErrorUs: 0 })), []);
    const all = { ...sampleStep(1), clockErrorUs: 800, latencySameAgentUs: latencyUs };
    assert.deepEqual(shown(stepRow(all)), []);
    const values = visibleColumns('csv')
      .slice(-19, -11)
      .map(({ id, value }) => [id, value(differing), value(usual)]);
    assert.deepEqual(values, [
      ['ambiguous', 4, undefined],
      ['negative', 5, undefined],
      ['latencySameAgentUs.p50', inside.p50, undefined],
      ['latencySameAgentUs.p99', 7000, undefined],
      ['latencySameAgentUs.max', inside.max, undefined],
      ['clockErrorUs', 800, undefined],
      ['clockJumps', 1, undefined],
      ['agentsComplete', 3, undefined],
    ]);
  });

  it('have a head for the panel, whether they are shown or not', () => {
    assert.equal(columnTexts()['column.toAllP99'], 'To all p99');
  });
});
