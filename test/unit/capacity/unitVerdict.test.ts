import assert from 'node:assert/strict';
import { estimate } from '../../../src/capacity/estimate';
import { unitVerdict, type UnitVerdict } from '../../../src/capacity/unitVerdict';
import type { Sku } from '../../../src/scenario/scenario';

function verdict(
  connections: number,
  size: { unit?: number; sku?: Sku },
  senders = 0,
): UnitVerdict | undefined {
  const echo = { kind: 'echo', senders, intervalS: 1, messageBytes: 2048 } as const;
  const result = estimate({ product: 'signalr', connections, useCases: [echo] });
  return unitVerdict(result, { connections, ...size });
}

describe('unitVerdict', () => {
  it('says nothing when the scenario names no size', () => {
    assert.equal(verdict(1000, {}), undefined);
    assert.equal(verdict(1000, { sku: 'standard' }), undefined);
  });

  it('says that a size is enough, and which would do', () => {
    assert.deepEqual(verdict(1500, { unit: 2 }), {
      exceeded: false,
      sentence: 'Unit 2 is enough: connections 1,500 of 2,000 (75 %, guide of 2023-03) at Unit 2.',
    });
    assert.match(verdict(1500, { unit: 10 })!.sentence, /^Unit 10 is enough; Unit 2 would do: /);
  });

  it('says that a size is too small, or that none is large enough', () => {
    const small = verdict(1500, { unit: 1 })!;
    assert.equal(small.exceeded, true);
    assert.match(
      small.sentence,
      /^Too much for Unit 1: it takes Unit 2: connections 1,500 of 2,000/,
    );
    const none = verdict(150_000, { unit: 100 })!;
    assert.equal(none.exceeded, true);
    assert.match(none.sentence, /^Too much for Unit 100 and for every size of this guide/);
  });

  it('knows which sizes can be bought', () => {
    assert.match(verdict(1500, { unit: 15 })!.sentence, /nearest: Unit 10 and Unit 20\.$/);
    assert.match(verdict(1500, { unit: 200, sku: 'standard' })!.sentence, /nearest: Unit 100\.$/);
  });

  it('knows the connections of the Free tier', () => {
    const over = verdict(21, { sku: 'free' })!;
    assert.equal(over.exceeded, true);
    assert.match(over.sentence, /allows 20 connections, the scenario opens 21: it takes Unit 1/);
    const within = verdict(20, { sku: 'free' }, 20)!;
    assert.equal(within.exceeded, false);
    assert.match(within.sentence, /20,000 messages a day/);
  });
});
