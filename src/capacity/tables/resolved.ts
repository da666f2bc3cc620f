/** The limits of the published guides: `scripts/writeCapacity.mjs` makes the data from `src/capacity/published`. */
import type { Offer, Product, PublishedEdition } from '../model';
import resolved from './resolved.json';

type Editions = Readonly<Record<'sr2023' | 'later' | 'wps', PublishedEdition>>;

export const { sr2023, later, wps, offers } = resolved as Editions & {
  readonly offers: Readonly<Record<Product, Offer>>;
};
