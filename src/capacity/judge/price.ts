import type { Scenario } from '../../scenario/scenario';
import { includedPerDay } from './billing';
import type { Billing, Estimate } from '../model';

/** Prices as the user gives them, in any currency. */
export interface PriceList {
  /** Of one Unit for an hour. */
  readonly unitHour?: number;
  /** Of a million messages beyond the included ones. */
  readonly messages?: number;
  /** So long the size is there and carries the load; 30 days when absent. */
  readonly hours?: number;
}

/** What a size and its messages cost; only what has a price. */
export interface Price {
  /** That the prices are for: the one that the scenario names, else that of the estimate. None for the Free tier. */
  readonly unit?: number;
  readonly hours: number;
  /** Units × hours × price. */
  readonly units?: number;
  /** Of the messages beyond those that the Units include. */
  readonly messages?: number;
  readonly total: number;
}

/** 30 days. */
const hoursPerMonth = 720;

/**
 * What the load costs for a time; undefined where no price is given, and for Units where no size fits and the
 * scenario names none. The Free tier costs nothing: there are no messages beyond its end.
 */
export function priceOf(
  estimate: Pick<Estimate, 'product' | 'unit' | 'at_unit' | 'billing'>,
  scenario: Pick<Scenario, 'unit' | 'sku'>,
  { unitHour, messages, hours = hoursPerMonth }: PriceList,
): Price | undefined {
  const isFree = scenario.sku === 'free';
  const size = isFree ? 0 : (scenario.unit ?? estimate.unit ?? undefined);
  const { billing } = estimate;
  const units = unitHour === undefined || size === undefined ? undefined : size * hours * unitHour;
  const beyond =
    messages === undefined || billing === undefined
      ? undefined
      : isFree
        ? 0
        : messagePrice(billing, includedPerDay(estimate, scenario), messages, hours);
  if (units === undefined && beyond === undefined) return undefined;
  return {
    ...(!isFree && size !== undefined && { unit: size }),
    hours,
    ...(units !== undefined && { units }),
    ...(beyond !== undefined && { messages: beyond }),
    total: (units ?? 0) + (beyond ?? 0),
  };
}

/**
 * Price of the messages of a time beyond the included ones, of which an hour has its share of the day.
 *
 * @param price of a million messages, in any currency
 */
export function messagePrice(
  { messages_per_day: perDay }: Pick<Billing, 'messages_per_day'>,
  includedADay: number,
  price: number,
  hours = hoursPerMonth,
): number {
  return ((Math.max(0, perDay - includedADay) * hours) / 24 / 1_000_000) * price;
}
