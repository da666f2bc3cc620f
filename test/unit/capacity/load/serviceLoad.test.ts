import assert from 'node:assert/strict';
import { estimate } from '../../../../src/capacity/estimate';
import { nominalFormula } from '../../../../src/capacity/load/serviceLoad';

const broadcast = (intervalS: number): string =>
  nominalFormula({
    ...{ kind: 'broadcast', senders: 1, receivers: 1000 },
    ...{ intervalS, messageBytes: 2048, countedBytes: 2048 },
  });

describe('the formula', () => {
  it('has factors that give what it says', () => {
    assert.match(broadcast(0.333), /^1 sender × 1 msg per 333 ms × 1,000 receivers = 3,003 msg\/s/);
    assert.match(broadcast(0.5), /^1 sender × 2 msg\/s × 1,000 receivers = 2,000 msg\/s/);
    assert.match(broadcast(0.4), /^1 sender × 2\.5 msg\/s × 1,000 receivers = 2,500 msg\/s/);
    assert.match(broadcast(0.0007), /^1 sender × 1 msg per 0\.7 ms × 1,000 receivers/);
    assert.match(broadcast(1.23456), /^1 sender × 1 msg per 1\.23456 s × 1,000 receivers = 810 /);
    assert.match(broadcast(60), /^1 sender × 1 msg per 60 s × 1,000 receivers = 16\.7 msg\/s/);
  });

  it('is reported beside a limit in the unit of its own size', () => {
    const echo = { kind: 'echo', senders: 30, intervalS: 1, messageBytes: 20_480 } as const;
    const { binding } = estimate({ product: 'signalr', connections: 30, useCases: [echo] });
    assert.match(binding.text, /^\w+ 600 KB\/s of 2 MB\/s /);
  });
});
