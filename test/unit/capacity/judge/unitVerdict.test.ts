import assert from 'node:assert/strict';
import { estimate } from '../../../../src/capacity/estimate';
import type { UnitVerdict } from '../../../../src/capacity/model';
import { unitVerdict } from '../../../../src/capacity/judge/unitVerdict';
import type { Scenario } from '../../../../src/scenario/scenario';

function verdict(
  connections: number,
  size: { unit?: number; sku?: NonNullable<Scenario['sku']> },
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
      offered: true,
      sentence: 'Unit 2 is enough: connections 1,500 of 2,000 (75 %, guide of 2023-03) at Unit 2.',
    });
    assert.match(verdict(1500, { unit: 10 })!.sentence, /^Unit 10 is enough; Unit 2 would do: /);
  });

  for (const [connections, size, exceeded, offered, says] of [
    [
      1500,
      { unit: 1 },
      true,
      true,
      /^Too much for Unit 1: it takes Unit 2: connections 1,500 of 2,000/,
    ],
    [150_000, { unit: 100 }, true, true, /^Too much for Unit 100 and for every size of this guide/],
    [
      1500,
      { unit: 13 },
      false,
      false,
      /^Unit 13 cannot be bought; nearest: Unit 10 and Unit 20\. Unit 13 is enough; /,
    ],
    [
      1500,
      { unit: 200, sku: 'standard' },
      false,
      false,
      /cannot be bought in the tier standard; nearest: Unit 100\./,
    ],
    [1500, { unit: 200, sku: 'premium' }, false, true, /^Unit 200 is enough/],
    [
      10,
      { unit: 5, sku: 'free' },
      false,
      false,
      /^Unit 5 cannot be bought in the tier free; nearest: Unit 1\. The 20 connections/,
    ],
    [
      21,
      { sku: 'free' },
      true,
      true,
      /allows 20 connections, the scenario opens 21: it takes Unit 1 of a/,
    ],
    [20, { sku: 'free' }, false, true, /20,000 messages a day/],
  ] as const)
    it(`compares ${connections} connections with ${JSON.stringify(size)}`, () => {
      const found = verdict(connections, size)!;
      assert.deepEqual([found.exceeded, found.offered], [exceeded, offered]);
      assert.match(found.sentence, says);
    });

  it('goes by the edition that goes on where the tables of this one end', () => {
    const enough = verdict(150_000, { unit: 200 })!;
    assert.deepEqual(enough, {
      exceeded: false,
      offered: true,
      sentence: 'Unit 200 is enough, by the edition "later"; this guide ends at Unit 100.',
    });
    for (const [connections, size, said] of [
      [150_000, { unit: 1000 }, /^Unit 1,000 is enough; Unit 200 would do, by the edition "later"/],
      [
        250_000,
        { unit: 200 },
        /^Too much for Unit 200: by the edition "later" it takes Unit 300; this guide ends/,
      ],
      [
        150_000,
        { unit: 100 },
        /^Too much for Unit 100 and for every size of this guide: .* By the edition "later" it takes Unit 200\.$/,
      ],
      [1_500_000, { unit: 1000 }, /The edition "later" has none for it either\.$/],
      [150_000, { unit: 100, sku: 'standard' }, /Standard ends at Unit 100; Premium goes on\.$/],
    ] as const)
      assert.match(verdict(connections, size)!.sentence, said);
  });
});
