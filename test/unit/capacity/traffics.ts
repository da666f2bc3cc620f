import fc from 'fast-check';
import { guides } from '../../../src/capacity/tables/publishedLimits';
import type { EstimateInput, EstimateOptions } from '../../../src/capacity/model';
import type { Traffic } from '../../../src/usecases/useCase';

/** A valid input with its options, of either product and any edition. */
export interface Sample {
  readonly input: EstimateInput;
  readonly options: EstimateOptions;
}

const traffic = (product: 'signalr' | 'webpubsub', connections: number): fc.Arbitrary<Traffic> =>
  fc.record({
    kind: fc.constantFrom(...guides[product].kinds),
    senders: fc.integer({ min: 0, max: Math.min(connections, 20_000) }),
    intervalS: fc.constantFrom(0.1, 0.5, 1, 5, 60),
    messageBytes: fc.constantFrom(1, 100, 1024, 1500, 2048, 4096, 65_536),
    groupMembers: fc.integer({ min: 1, max: Math.min(connections, 200) }),
  });

/** Inputs over the whole range of sizes. */
export const samples: fc.Arbitrary<Sample> = fc
  .tuple(
    fc.constantFrom('signalr', 'webpubsub'),
    fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 300_000 })),
    fc.constantFrom('sr2023', 'later'),
    fc.constantFrom(1, 0.7, 0.35),
  )
  .chain(([product, connections, edition, headroom]) =>
    fc.array(traffic(product, connections), { minLength: 1, maxLength: 3 }).map((useCases) => ({
      input: { product, connections, useCases },
      options: { headroom, ...(product === 'signalr' ? { edition } : {}) },
    })),
  );
