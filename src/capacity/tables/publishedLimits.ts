/** Tables of each edition of the guides, and values between their sizes. */
import { ExpectedError } from '../../base/expectedError';
import { azureServices } from '../../base/serviceTraits';
import type { TrafficKind } from '../../usecases/useCase';
import {
  type Direction,
  type Edition,
  type Offer,
  type Product,
  type PublishedEdition,
  type PublishedTable,
  signalrEditions,
  type TableName,
  type TableSource,
} from '../model';
import resolved from './resolved.json';

/** `scripts/writeCapacity.mjs` makes the data from `src/capacity/published`. */
type Editions = Readonly<Record<'sr2023' | 'later' | 'wps', PublishedEdition>>;

export const { sr2023, later, wps, offers } = resolved as Editions & {
  readonly offers: Readonly<Record<Product, Offer>>;
};

export const baseMessageBytes = 2048;

const restKinds: readonly TrafficKind[] = [
  'rest_broadcast',
  'rest_send_to_user',
  'rest_send_to_group',
];

export const isRest = (kind: TrafficKind): boolean => restKinds.includes(kind);

interface Guide {
  readonly name: string;
  readonly editions: readonly PublishedEdition[];
  readonly kinds: readonly TrafficKind[];
  /** Their messages leave the service once more, to an app server or event handler. */
  readonly toApplication: readonly TrafficKind[];
  readonly plainest: TrafficKind;
  readonly bills: 'messages' | 'traffic';
  /** Rows with the most that a size takes in and sends out. */
  readonly ceilings: { readonly in: TableName; readonly out: TableName };
}

const hubKinds = ['echo', 'broadcast', 'send_to_group', 'send_to_connection'] as const;

export const guides: Readonly<Record<Product, Guide>> = {
  signalr: {
    name: 'SignalR',
    editions: [sr2023, later],
    kinds: [...hubKinds, ...restKinds],
    toApplication: hubKinds,
    plainest: 'echo',
    bills: 'messages',
    ceilings: { in: 'echo', out: 'broadcast' },
  },
  webpubsub: {
    name: 'Web PubSub',
    editions: [wps],
    kinds: ['send_to_group', 'upstream_echo', ...restKinds],
    toApplication: ['upstream_echo'],
    plainest: 'upstream_echo',
    bills: 'traffic',
    ceilings: { in: 'upstream_echo', out: 'big_group' },
  },
};

/** @throws ExpectedError `estimate-input` for an unknown product or edition, or an edition where there is one only */
export function editionOf(product: Product, edition: Edition | undefined): PublishedEdition {
  if (!azureServices.includes(product))
    throw inputError(`product must be ${azureServices.join(' or ')}`);
  const { editions } = guides[product];
  if (edition === undefined) return editions[0]!;
  if (editions.length === 1) throw inputError(`edition must not be given for ${product}`);
  const found = editions.find(({ name }) => name === edition);
  if (found === undefined) throw inputError(`edition must be ${signalrEditions.join(' or ')}`);
  return found;
}

export const offeredUnits = ({ product, listedUnits }: PublishedEdition): readonly number[] =>
  offers[product].units.premium.filter((unit) => unit <= listedUnits.at(-1)!);

export const largerEdition = ({
  product,
  listedUnits,
}: PublishedEdition): PublishedEdition | undefined =>
  guides[product].editions.find((other) => other.listedUnits.at(-1)! > listedUnits.at(-1)!);

export function tableOf(edition: PublishedEdition, name: TableName): PublishedTable {
  const table = edition.tables[name];
  if (table === undefined) throw new Error(`edition ${edition.name} has no table ${name}`);
  return table;
}

export function limitAt(
  edition: PublishedEdition,
  name: TableName,
  direction: Direction,
  unit: number,
): number {
  const table = tableOf(edition, name);
  const limit = interpolateLimit(
    table.units ?? edition.listedUnits,
    table[direction]?.values ?? [],
    unit,
  );
  if (limit === undefined) throw new Error(`no limit ${name} ${direction} at unit ${unit}`);
  return limit;
}

export const connectionLimit = (edition: PublishedEdition, unit: number): number =>
  edition.connectionsPerUnit * unit;

export function sourceOf(
  edition: PublishedEdition,
  name: TableName,
  direction: Direction,
): TableSource {
  const table = tableOf(edition, name);
  const line = table[direction]?.line;
  return {
    ...documentOf(edition),
    heading: table.heading,
    ...(line === undefined ? {} : { line }),
  };
}

export const connectionSource = (edition: PublishedEdition): TableSource => ({
  ...documentOf(edition),
  ...edition.connectionsFrom,
});

const documentOf = (edition: PublishedEdition): Omit<TableSource, 'heading' | 'line'> => ({
  document: edition.name,
  title: edition.title,
  edition: edition.edition,
});

/** Between a < U < b: max(L(a), U × min(L(a)/a, L(b)/b)). Undefined outside the listed sizes. */
export function interpolateLimit(
  units: readonly number[],
  values: readonly number[],
  unit: number,
): number | undefined {
  const above = units.findIndex((listed) => listed >= unit);
  if (above < 0) return undefined;
  const upper = units[above]!;
  const upperValue = values[above]!;
  if (upper === unit) return upperValue;
  if (above === 0) return undefined;
  const lower = units[above - 1]!;
  const lowerValue = values[above - 1]!;
  return Math.max(lowerValue, unit * Math.min(lowerValue / lower, upperValue / upper));
}

export const inputError = (message: string): ExpectedError =>
  new ExpectedError('estimate-input', message);

export function checkNumber(
  value: unknown,
  name: string,
  rule: { readonly whole?: boolean; readonly zeroAllowed?: boolean } = {},
): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw inputError(`${name} must be a number`);
  if (rule.whole === true && !Number.isInteger(value))
    throw inputError(`${name} must be a whole number`);
  if (rule.zeroAllowed === true) {
    if (value < 0) throw inputError(`${name} must not be negative`);
  } else if (value <= 0) {
    throw inputError(`${name} must be greater than 0`);
  }
  return value;
}

/** Four decimals, halves to even; only odd multiples of 1/32 are exact halves. */
export function rounded(value: number): number {
  if (Math.abs(value * 32) % 2 !== 1) return Number(value.toFixed(4));
  return (2 * Math.round((value * 10_000) / 2)) / 10_000;
}
