import assert from 'node:assert/strict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Problem } from '../../../../src/scenario/problem';

const text = (slo: string, config = '', name = 'echo'): string =>
  `config:\n  target: local\n  connections: 100\n  baseSending: 50\n  step: 50\n  singleStepDuration: 20s\n${config}scenario:\n  name: ${name}\nslo: { ${slo} }\n`;

const tooFine = (written: string): Problem[] =>
  parseScenario(written).problems.filter(({ code }) => code === 'objective-too-fine');

describe('objectives', () => {
  it('of a percentile that too few deliveries show are said with the finest', () => {
    // 50 senders for 20 s: 1,000 deliveries.
    assert.deepEqual(
      tooFine(text('p99.9: 1s, p99.99: 2s')).map(({ message }) => message),
      [
        'Too few messages for p99.9: it takes 10,000 deliveries, so that 10 lie beyond it, and step 1 expects 1,000. It has enough for p99: let the step last longer, or send more.',
        'Too few messages for p99.99: it takes 100,000 deliveries, so that 10 lie beyond it, and step 1 expects 1,000. It has enough for p99: let the step last longer, or send more.',
      ],
    );
    const fast = '  singleStepDuration: 200s\n';
    const [first, more] = tooFine(
      text('p99.9: 1s, p99.99: 2s').replace('  singleStepDuration: 20s\n', fast),
    );
    assert.match(
      first?.message ?? '',
      /^Too few messages for p99\.99: .* It has enough for p99\.9:/,
    );
    assert.equal(more, undefined);
  });

  it('count the receivers of each message', () => {
    assert.deepEqual(tooFine(text('p99.99: 1s', '', 'broadcast')), []);
  });

  it('that can be judged are not mentioned', () => {
    assert.deepEqual(tooFine(text('p99: 1ms, max: 10s')), []);
    assert.deepEqual(tooFine(text('p50: 1s', '  baseSending: 0\n')), []);
  });
});
