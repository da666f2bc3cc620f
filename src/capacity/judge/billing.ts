import type { Scenario } from '../../scenario/scenario';
import { weightedMean, type WireSize } from '../../usecases/payloadSizes';
import type { ServiceLoad } from '../load/serviceLoad';
import type { BilledMessages, Billing, Estimate, Product } from '../model';
import { guides, offers, rounded } from '../tables/publishedLimits';
import { formatFigure, formatUnit } from '../capacityWords';

/**
 * What is counted as one message. Sources: "Messages and connections in Azure SignalR Service", heading "How messages are
 * counted for billing"; "Billing model for Azure Web PubSub service", headings "Message count" and "Outbound traffic".
 */
const billedBytes = 2048;
/** A day, for each Unit of a paid tier; same sources. */
const includedPerUnit = 1_000_000;
const secondsPerDay = 86_400;
const daysPerMonth = 30;

/** Outbound messages at full load around the clock; inbound ones are free. */
export function billingOf(product: Product, loads: readonly ServiceLoad[]): Billing {
  const perSecond = (each: (load: ServiceLoad) => number): number =>
    loads.reduce((sum, load) => sum + each(load), 0);
  return {
    ...aroundTheClock(
      perSecond((load) => {
        const toClients = load.outMessages * meanCount(product, load, ({ toClient }) => toClient);
        const copies = toApplication(product, load);
        return toClients + copies * meanCount(product, load, (size) => size.toApplication);
      }),
    ),
    payload_only: aroundTheClock(
      perSecond((load) => {
        const leaving = load.outMessages + toApplication(product, load);
        return leaving * meanCount(product, load, ({ bytes }) => bytes);
      }),
    ),
  };
}

function aroundTheClock(perSecond: number): BilledMessages {
  return {
    messages_per_s: rounded(perSecond),
    messages_per_day: rounded(perSecond * secondsPerDay),
    messages_per_month: rounded(perSecond * secondsPerDay * daysPerMonth),
  };
}

function meanCount(
  product: Product,
  { leaving }: ServiceLoad,
  bytesOf: (size: WireSize) => number,
): number {
  const onWire = leaving.map((size) => ({ bytes: bytesOf(size), weight: size.weight }));
  const count = guides[product].bills === 'messages' ? Math.ceil : (pieces: number) => pieces;
  return weightedMean(onWire, (bytes) => count(bytes / billedBytes));
}

/** Messages of clients leave the service once more, to an app server or event handler. */
const toApplication = (product: Product, { kind, inMessages }: ServiceLoad): number =>
  guides[product].toApplication.includes(kind) ? inMessages : 0;

type Sized = Pick<Scenario, 'unit' | 'sku'>;

/** Messages a day of the scenario's size; of the estimated size where it names none. */
export function includedMessagesPerDay(
  of: Pick<Estimate, 'product' | 'at_unit'>,
  sized: Sized,
): number {
  const { product, at_unit: atUnit } = of;
  const { unit = atUnit, sku } = sized;
  return sku === 'free' ? offers[product].freeMessagesPerDay : unit * includedPerUnit;
}

export function formatBilling(
  estimate: Pick<Estimate, 'product' | 'at_unit' | 'billing'>,
  scenario: Sized,
): string | undefined {
  const { billing, product, at_unit: atUnit } = estimate;
  if (billing === undefined || billing.messages_per_s === 0) return undefined;
  const included = formatFigure(includedMessagesPerDay(estimate, scenario));
  const size =
    scenario.sku === 'free'
      ? `the Free tier ends at ${included} a day`
      : `${formatUnit(scenario.unit ?? atUnit)} includes ${included} a day`;
  const { payload_only: alone } = billing;
  const envelopes =
    alone.messages_per_s === billing.messages_per_s
      ? ''
      : ` Envelopes count: the payloads alone would be ${formatFigure(alone.messages_per_day)} a day.`;
  const of = guides[product].bills === 'traffic' ? ' by traffic' : '';
  return `Billed${of} at this load around the clock: ${formatFigure(billing.messages_per_day)} messages of 2 KB a day, ${formatFigure(billing.messages_per_month)} in 30 days; ${size}.${envelopes}`;
}

interface PriceList {
  readonly unitHour?: number;
  readonly messages?: number;
  readonly hours?: number;
}

export interface Price {
  readonly unit?: number;
  readonly hours: number;
  readonly units?: number;
  readonly messages?: number;
  readonly total: number;
}

const hoursPerMonth = 720;

/** Undefined without prices. The Free tier costs nothing. */
export function priceOf(
  estimate: Pick<Estimate, 'product' | 'unit' | 'at_unit' | 'billing'>,
  scenario: Sized,
  { unitHour, messages, hours = hoursPerMonth }: PriceList,
): Price | undefined {
  const isFree = scenario.sku === 'free';
  const size = isFree ? 0 : (scenario.unit ?? estimate.unit ?? undefined);
  const { billing } = estimate;
  const units = unitHour === undefined || size === undefined ? undefined : size * hours * unitHour;
  const included = isFree ? Infinity : includedMessagesPerDay(estimate, scenario);
  const beyond =
    messages === undefined || billing === undefined
      ? undefined
      : messagePrice(billing, included, messages, hours);
  if (units === undefined && beyond === undefined) return undefined;
  return {
    ...(!isFree && size !== undefined && { unit: size }),
    hours,
    ...(units !== undefined && { units }),
    ...(beyond !== undefined && { messages: beyond }),
    total: (units ?? 0) + (beyond ?? 0),
  };
}

/** The price is for a million messages; an hour includes its share of the day. */
export function messagePrice(
  { messages_per_day: perDay }: Pick<Billing, 'messages_per_day'>,
  includedADay: number,
  price: number,
  hours = hoursPerMonth,
): number {
  return ((Math.max(0, perDay - includedADay) * hours) / 24 / 1_000_000) * price;
}
