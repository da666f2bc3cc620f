import assert from 'node:assert/strict';
import { measuredLoadOf } from '../../../src/capacity/measuredLoadOf';
import { recommend, type MeasuredLoad } from '../../../src/capacity/recommend';
import type { Scenario } from '../../../src/scenario/scenario';
import { messages, scenarioWith } from './scenarios';

const step = { index: 2, connections: 990, sentPerSecond: 980, receivedPerSecond: 970 };

function loadFrom(changes: Partial<Scenario> = {}, measured = step): MeasuredLoad {
  const found = measuredLoadOf(scenarioWith(changes), measured);
  assert.ok('load' in found);
  return found.load;
}

describe('measuredLoadOf', () => {
  it('puts the measured rates and connections in place of the nominal ones', () => {
    assert.deepEqual(loadFrom({ connectionType: 'AspNet' }), {
      product: 'signalr',
      connections: 990,
      step: 2,
      stack: 'aspnet',
      useCases: [
        { kind: 'echo', senders: 1000, messageBytes: 2048, inPerSecond: 980, outPerSecond: 970 },
      ],
      assumptions: [],
    });
  });

  it('shares the rates of a mix as intended', () => {
    const entries = [
      { name: 'echo', parameters: messages, senders: { kind: 'count', count: 900 } as const },
      { name: 'broadcast', parameters: messages, senders: { kind: 'count', count: 1 } as const },
    ];
    const measured = { ...step, sentPerSecond: 901, receivedPerSecond: 900 + 1000 };
    const rates = loadFrom({ entries }, measured).useCases.map((useCase) => [
      Math.round(useCase.inPerSecond),
      Math.round(useCase.outPerSecond),
    ]);
    assert.deepEqual(rates, [
      [900, 900],
      [1, 1000],
    ]);
  });

  it('takes the measured rates of each entry of a mix', () => {
    const entries = ['connectOnly', 'echo', 'broadcast'].map((name) => ({
      name,
      parameters: messages,
    }));
    const rates = [
      { sentPerSecond: 0, receivedPerSecond: 0 },
      { sentPerSecond: 300, receivedPerSecond: 299 },
      { sentPerSecond: 5, receivedPerSecond: 4000 },
    ];
    const load = loadFrom({ entries }, { ...step, entries: rates } as typeof step);
    assert.deepEqual(
      load.useCases.map(({ kind, inPerSecond, outPerSecond }) => [kind, inPerSecond, outPerSecond]),
      [
        ['echo', 300, 299],
        ['broadcast', 5, 4000],
      ],
    );
  });

  it('leaves connections alone when nothing is sent', () => {
    const entries = [{ name: 'connectOnly', parameters: {} }];
    // Without senders a step is a round of connecting, of which there is one.
    const load = loadFrom({ entries }, { ...step, index: 1 });
    assert.deepEqual(load.useCases, []);
    assert.equal(recommend(load).unit, 1);
  });

  it('is a problem for a step the scenario has not', () => {
    assert.deepEqual(measuredLoadOf(scenarioWith(), { ...step, index: 3 }), {
      problem: 'The scenario has no step 3.',
    });
  });
});
