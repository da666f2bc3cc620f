import assert from 'node:assert/strict';
import { estimate } from '../../../src/capacity/estimate';
import { loadOf } from '../../../src/capacity/loadOf';
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
        {
          ...{
            kind: 'echo',
            senders: 1000,
            messageBytes: 2048,
            inPerSecond: 980,
            outPerSecond: 970,
          },
          leaving: [{ bytes: 2048, weight: 1, toClient: 2230, toApplication: 2252 }],
        },
      ],
      serverConnections: 5,
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

  it('counts payloads of different sizes as the estimate does', () => {
    const sizes = { ...messages, messageSize: 1869, messageSizes: '256B 90%, 16KB 10%' };
    const entries = [{ name: 'echo', parameters: sizes }];
    const { loads, notes } = recommend(loadFrom({ entries }));
    // 0.9 × 1,024 + 0.1 × 16,384 bytes each.
    assert.equal(loads[0]!.in_bytes_per_s, 980 * 2560);
    const estimated = loadOf(scenarioWith({ entries }));
    assert.ok('input' in estimated);
    const nominal = estimate(estimated.input);
    assert.equal(nominal.loads[0]!.in_bytes_per_s, 1000 * 2560);
    assert.equal(nominal.billing!.payload_only.messages_per_s, 2000 * 1.7);
    assert.equal(nominal.billing!.messages_per_s, 2000 * 1.8, 'the envelope of 16 KB is a message');
    assert.ok(nominal.warnings.includes('message-floor'), 'a part of the messages is small');
    assert.match(
      nominal.formula[0]!,
      /1,000 msg\/s × 2\.5 KB \(counted for 1\.8 KB\) = 2\.5 MB\/s/,
    );
    assert.match(notes.at(-1)!, /each size counts, and is billed, by its share/);
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
