import assert from 'node:assert/strict';
import fc from 'fast-check';
import { estimate } from '../../../../src/capacity/estimate';
import { recommend } from '../../../../src/capacity/judge/recommend';
import { fitsUnit, type Demand } from '../../../../src/capacity/judge/search';
import { offeredUnits, editionOf } from '../../../../src/capacity/tables/publishedLimits';
import { trafficLoad } from '../../../../src/capacity/load/serviceLoad';
import { samples, type Sample } from '../traffics';

const runs = { numRuns: 60 };
const sizeOf = (unit: number | null): number => unit ?? Infinity;

function demandOf({ input, options }: Sample): Demand {
  return {
    edition: editionOf(input.product, options.edition),
    connections: input.connections,
    loads: input.useCases.map((useCase) => trafficLoad(input.product, input.connections, useCase)),
    headroom: options.headroom ?? 1,
    stack: input.stack ?? 'aspnetcore',
    serverless: false,
    freeTier: false,
    serverConnections: undefined,
  };
}

describe('search', () => {
  it('finds a size that fits where the next smaller one does not', () => {
    fc.assert(
      fc.property(samples, (sample) => {
        const demand = demandOf(sample);
        const { unit } = estimate(sample.input, sample.options);
        const candidates = offeredUnits(demand.edition);
        const position = unit === null ? candidates.length : candidates.indexOf(unit);
        if (unit !== null) assert.ok(fitsUnit(demand, unit));
        const smaller = candidates[position - 1];
        if (smaller !== undefined) assert.ok(!fitsUnit(demand, smaller));
      }),
      runs,
    );
  });

  it('says the same for every larger size: what fits one fits those above', () => {
    fc.assert(
      fc.property(samples, (sample) => {
        const demand = demandOf(sample);
        const fits = offeredUnits(demand.edition).map((unit) => fitsUnit(demand, unit));
        assert.deepEqual(
          fits,
          [...fits].sort((a, b) => Number(a) - Number(b)),
        );
      }),
      runs,
    );
  });

  it('never asks for less when there is more load', () => {
    fc.assert(
      fc.property(
        samples,
        fc.constantFrom('senders', 'size', 'rate', 'connections', 'headroom'),
        (sample, what) => {
          const { input, options } = sample;
          const before = estimate(input, options);
          const after = estimate(
            {
              ...input,
              connections: what === 'connections' ? input.connections * 2 : input.connections,
              useCases: input.useCases.map((useCase) => ({
                ...useCase,
                senders:
                  what === 'senders'
                    ? Math.min(useCase.senders * 2, input.connections)
                    : useCase.senders,
                messageBytes: useCase.messageBytes * (what === 'size' ? 2 : 1),
                intervalS: useCase.intervalS / (what === 'rate' ? 3 : 1),
              })),
            },
            what === 'headroom' ? { ...options, headroom: (options.headroom ?? 1) / 2 } : options,
          );
          assert.ok(sizeOf(after.unit) >= sizeOf(before.unit));
        },
      ),
      runs,
    );
  });

  it('never asks for less than the guide sum, more than the listed or strict size, or less within rounding', () => {
    fc.assert(
      fc.property(samples, ({ input, options }) => {
        const result = estimate(input, options);
        assert.ok(sizeOf(result.unit) >= sizeOf(result.unit_guide_sum));
        assert.ok(sizeOf(result.unit) <= sizeOf(result.unit_listed));
        assert.ok(sizeOf(result.unit) <= sizeOf(result.unit_strict));
        assert.ok(sizeOf(result.unit) >= sizeOf(result.unit_within_rounding));
      }),
      runs,
    );
  });

  it('recommends for measured nominal rates what the estimate says', () => {
    fc.assert(
      fc.property(samples, (sample) => {
        const { input, options } = sample;
        const { loads } = demandOf(sample);
        const expected = estimate(input, options);
        const actual = recommend(
          {
            product: input.product,
            connections: input.connections,
            step: 1,
            useCases: input.useCases.map((useCase, position) => ({
              ...useCase,
              inPerSecond: loads[position]!.inMessages,
              outPerSecond: loads[position]!.outMessages,
            })),
          },
          options,
        );
        assert.equal(actual.unit, expected.unit);
        assert.deepEqual(actual.limiting, expected.limiting);
        assert.deepEqual(actual.warnings, expected.warnings);
      }),
      runs,
    );
  });
});
