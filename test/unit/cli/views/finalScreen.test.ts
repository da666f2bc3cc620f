import assert from 'node:assert/strict';
import { finalScreen } from '../../../../src/cli/views/finalScreen';
import { paintAll, textWidth } from '../../../../src/cli/views/line';
import { sampleResult, sampleStep } from '../../results/sampleResult';

function screen(change: Parameters<typeof sampleResult>[0] = {}, width = 80): string {
  return paintAll(finalScreen(sampleResult(change), width, '.signalr-bench/x'), false);
}

describe('final screen', () => {
  it('has columns of the time to all and of the clocks of agents where there is room', () => {
    const { latencyUs } = sampleStep(1);
    const toAll = { ...sampleStep(1), timeToAllUs: { ...latencyUs, count: 398 } };
    const inside = { ...latencyUs, count: 1000 };
    const clocks = { ...sampleStep(1), latencySameAgentUs: inside, clockErrorUs: 800 };
    for (const [step, head] of [
      [toAll, / max +to all +lost/],
      [clocks, / max +inside +lost/],
    ] as const) {
      assert.match(screen({ steps: [step] }, 100), head);
      assert.doesNotMatch(screen({ steps: [step] }, 80), head);
      assert.doesNotMatch(screen({}, 100), head);
    }
    assert.doesNotMatch(screen({ steps: [{ ...clocks, clockErrorUs: 0 }] }, 100), /inside/);
  });

  it('fits into 80 columns and adapts to narrower ones', () => {
    for (const line of screen().split('\n')) assert.ok(textWidth(line) <= 80, line);
    assert.match(screen({}, 60), / {10}group 1,900 msg\/s in and/);
  });
});
