import type { Scenario } from '../scenario/scenario';
import { meanOf } from '../usecases/payloadSizes';
import type { Billing, Estimate, Product } from './model';
import { rounded } from './rounded';
import { offers } from './resolved';
import { isRest, type ServiceLoad } from './serviceLoad';
import { figure, unitWords } from './wording';

/** What is counted as one message. Source: "Billing model of Azure Web PubSub", and "Messages and connections in Azure SignalR Service". */
const billedBytes = 2048;
/** Messages a day that each Unit of a paid tier includes; same sources. */
const includedPerUnit = 1_000_000;
/** An envelope around a payload is about this long; it may make one message two. */
const envelopeBytes = 200;
const secondsPerDay = 86_400;
const daysPerMonth = 30;

/**
 * Messages as the services bill them, at the full load of the last step around the clock: what goes out of the
 * service, in pieces of 2 KB, to clients, to app servers and to event handlers. What comes in is free.
 */
export function billingOf(product: Product, loads: readonly ServiceLoad[]): Billing {
  const perSecond = loads
    .map((load) => billedPerSecond(product, load))
    .reduce((sum, each) => sum + each, 0);
  return {
    messages_per_s: rounded(perSecond),
    messages_per_day: rounded(perSecond * secondsPerDay),
    messages_per_month: rounded(perSecond * secondsPerDay * daysPerMonth),
    envelope_matters: loads.some(
      ({ sizes, outMessages }) =>
        outMessages > 0 &&
        sizes.some(({ bytes }) => billedAs(bytes) < billedAs(bytes + envelopeBytes)),
    ),
  };
}

/** Each started 2 KB is one message, so sizes must be counted one by one. */
const billedAs = (bytes: number): number => Math.ceil(bytes / billedBytes);

function billedPerSecond(product: Product, load: ServiceLoad): number {
  const { kind, inMessages, outMessages, sizes } = load;
  // On its way a message of a client leaves the service once more: to an app server or an event handler.
  const throughApplication = product === 'signalr' ? !isRest(kind) : kind === 'upstream_echo';
  const leaving = outMessages + (throughApplication ? inMessages : 0);
  return leaving * meanOf(sizes, billedAs);
}

/** Messages a day that the scenario's size includes; that of the estimate where it names none. */
export function includedPerDay(
  { product, at_unit: atUnit }: Pick<Estimate, 'product' | 'at_unit'>,
  { unit = atUnit, sku }: Pick<Scenario, 'unit' | 'sku'>,
): number {
  return sku === 'free' ? offers[product].freeMessagesPerDay : unit * includedPerUnit;
}

/**
 * Price of 30 days' messages beyond the included ones.
 *
 * @param price of a million messages, in any currency
 */
export function messagePrice(billing: Billing, included: number, price: number): number {
  const beyond = Math.max(0, billing.messages_per_day - included) * daysPerMonth;
  return (beyond / 1_000_000) * price;
}

/** Figures for people; undefined where nothing is sent. */
export function billingWords(
  estimate: Pick<Estimate, 'product' | 'at_unit' | 'billing'>,
  scenario: Pick<Scenario, 'unit' | 'sku'>,
): string | undefined {
  const { billing, at_unit: atUnit } = estimate;
  if (billing === undefined || billing.messages_per_s === 0) return undefined;
  const included = figure(includedPerDay(estimate, scenario));
  const size =
    scenario.sku === 'free'
      ? `the Free tier ends at ${included} a day`
      : `${unitWords(scenario.unit ?? atUnit)} includes ${included} a day`;
  const envelope = billing.envelope_matters
    ? ' Payloads are counted; where the envelope leads over the next 2 KB it is one more each.'
    : '';
  return `Billed at this load around the clock: ${figure(billing.messages_per_day)} messages of 2 KB a day, ${figure(billing.messages_per_month)} in 30 days; ${size}.${envelope}`;
}
