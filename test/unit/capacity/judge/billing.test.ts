import assert from 'node:assert/strict';
import fc from 'fast-check';
import { estimate } from '../../../../src/capacity/estimate';
import type { Estimate, Product } from '../../../../src/capacity/model';
import {
  formatBilling,
  includedMessagesPerDay,
  messagePrice,
  priceOf,
} from '../../../../src/capacity/judge/billing';
import { recommend, measuredLoadOf } from '../../../../src/capacity/judge/recommend';
import type { Scenario } from '../../../../src/scenario/scenario';
import type { Traffic } from '../../../../src/usecases/useCase';
import { inputOf, messages, scenarioWith } from '../scenarios';

const estimated = (traffic: Partial<Traffic>, product: Product = 'signalr'): Estimate =>
  estimate({
    product,
    connections: 1000,
    useCases: [{ kind: 'echo', senders: 100, intervalS: 1, messageBytes: 1024, ...traffic }],
  });
const perSecond = (traffic: Partial<Traffic>, product?: Product): number =>
  estimated(traffic, product).billing!.messages_per_s;

describe('billing', () => {
  it('counts what leaves the service, to clients and to app servers', () => {
    assert.equal(perSecond({}), 200);
    assert.equal(perSecond({ kind: 'broadcast', senders: 1 }), 1001);
    assert.equal(perSecond({ kind: 'send_to_group', groupMembers: 10 }), 1100);
  });

  it('counts no app server where there is none, but the event handler', () => {
    assert.equal(perSecond({ kind: 'rest_send_to_user' }), 100);
    assert.equal(perSecond({ kind: 'rest_broadcast', senders: 1 }), 1000);
    assert.equal(perSecond({ kind: 'send_to_group', groupMembers: 10 }, 'webpubsub'), 500);
    assert.equal(perSecond({ kind: 'upstream_echo' }, 'webpubsub'), 100);
  });

  it('counts the traffic of Web PubSub, however it is cut into messages: 100 KB are 50', () => {
    const sizes = fc.record({
      bytes: fc.integer({ min: 1, max: 100_000 }),
      weight: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(sizes, { minLength: 1, maxLength: 5 }), (messageSizes) => {
        const weights = messageSizes.reduce((sum, { weight }) => sum + weight, 0);
        const bytes = messageSizes.reduce((sum, size) => sum + size.bytes * size.weight, 0);
        const kind = { kind: 'rest_broadcast', senders: 1, messageSizes } as const;
        const exact = (1000 * bytes) / weights / 2048;
        assert.ok(Math.abs(perSecond(kind, 'webpubsub') - exact) < 1e-3);
        assert.ok(perSecond(kind, 'signalr') >= exact, 'each message for itself is no less');
      }),
    );
    const small = { kind: 'rest_send_to_user', senders: 1024, messageBytes: 100 } as const;
    assert.equal(perSecond({ ...small, senders: 1024 }, 'webpubsub'), 50);
    assert.equal(perSecond({ ...small, senders: 1024 }), 1024);
  });

  it('counts what the service carries on the wire, beside the payloads alone', () => {
    const day = billed({
      ...{ service: 'webpubsub', subprotocol: 'none', baseSending: 1, step: 0 },
      entries: [{ name: 'restBroadcast', parameters: { ...messages, messageSize: 100 } }],
    });
    // 1,000 connections get 100 bytes a second each, in an object of 231.
    assert.equal(day.payload_only.messages_per_day, (1000 * 100 * 86_400) / 2048);
    assert.equal(day.messages_per_day, (1000 * 231 * 86_400) / 2048);
  });

  it('counts each 2 KB, as in the example of the service: 4 KB to three clients are eight', () => {
    const { billing } = estimate({
      product: 'signalr',
      connections: 3,
      useCases: [{ kind: 'broadcast', senders: 1, intervalS: 1, messageBytes: 4096 }],
    });
    const eight = { messages_per_s: 8, messages_per_day: 691_200, messages_per_month: 20_736_000 };
    assert.deepEqual(billing, { ...eight, payload_only: eight }, 'traffic of no known protocol');
  });

  it('counts payloads of different sizes each by its started 2 KB, not their mean', () => {
    const messageSizes = [
      { bytes: 256, weight: 90 },
      { bytes: 16_384, weight: 10 },
    ];
    const mixed = { messageBytes: 1869, messageSizes };
    // 100 in and 100 out of 0.9 × 1 + 0.1 × 8; the mean would be one each.
    assert.equal(perSecond(mixed), 340);
    const once = { bytes: 5000, weight: 7 };
    assert.equal(perSecond({ messageSizes: [once] }), perSecond({ messageBytes: 5000 }));
    assert.equal(perSecond({ messageSizes: [once, once] }), perSecond({ messageBytes: 5000 }));
  });

  const billed = (changes: Partial<Scenario>): NonNullable<Estimate['billing']> =>
    estimate(inputOf(scenarioWith(changes))).billing!;
  const sized = (messageSize: number): Pick<Scenario, 'entries'> => ({
    entries: [{ name: 'echo', parameters: { ...messages, messageSize } }],
  });

  it('counts the envelope: 2 KB of payload are two messages, to the client and to the app server', () => {
    const { messages_per_s: all, payload_only: alone } = billed(sized(2048));
    assert.deepEqual([all, alone.messages_per_s], [4000, 2000]);
    const small = billed(sized(1024));
    assert.deepEqual([small.messages_per_s, small.payload_only.messages_per_s], [2000, 2000]);
    // 182 bytes around a payload to the client; those to the app server are 22 more.
    assert.equal(billed(sized(2048 - 182)).messages_per_s, 1000 + 2000);
    assert.equal(billed(sized(2048 - 182 - 22)).messages_per_s, 2000);
  });

  it('counts the envelope of the protocol', () => {
    const at = (messageSize: number, protocol: 'json' | 'messagepack'): number =>
      billed({ ...sized(messageSize), protocol }).messages_per_s;
    assert.equal(at(1880, 'json'), 4000);
    assert.equal(at(1880, 'messagepack'), 2000);
  });

  it('bills what was measured like what is estimated', () => {
    const measured = measuredLoadOf(scenarioWith(sized(2048)), {
      ...{ index: 2, status: 'pass', connections: 1000, lostConnections: 0, seconds: 10 },
      ...{ sent: 1000, expected: 1000, extra: 0, lost: 0 },
    });
    assert.ok('load' in measured);
    const { billing } = recommend(measured.load);
    assert.deepEqual([billing?.messages_per_s, billing?.payload_only.messages_per_s], [400, 200]);
  });

  it('says what the size includes, and what the payloads alone would be', () => {
    const found = estimated({});
    assert.equal(includedMessagesPerDay(found, {}), 1_000_000);
    assert.equal(includedMessagesPerDay(found, { unit: 2 }), 2_000_000);
    assert.equal(includedMessagesPerDay(found, { sku: 'free' }), 20_000);
    assert.equal(
      formatBilling(found, {}),
      'Billed at this load around the clock: 17,280,000 messages of 2 KB a day, 518,400,000 in 30 days; Unit 1 includes 1,000,000 a day.',
    );
    assert.match(formatBilling(found, { sku: 'free' })!, /; the Free tier ends at 20,000 a day\.$/);
    assert.match(
      formatBilling(estimate(inputOf(scenarioWith(sized(2048)))), {})!,
      /345,600,000 messages of 2 KB a day.* Envelopes count: the payloads alone would be 172,800,000 a day\.$/,
    );
    assert.equal(formatBilling(estimated({ senders: 0 }), {}), undefined);
  });
});

const found = estimate({
  product: 'signalr',
  connections: 1000,
  useCases: [{ kind: 'echo', senders: 100, intervalS: 1, messageBytes: 1024 }],
});

describe('priceOf', () => {
  it('prices only the messages that the Units do not include', () => {
    // 17.28 million a day, 16.28 of them beyond one Unit's.
    assert.equal(Math.round(messagePrice(found.billing!, 1_000_000, 1)), 488);
    assert.equal(messagePrice(found.billing!, 20_000_000, 1), 0);
  });

  it('prices Units by the hour, those planned before those needed', () => {
    assert.deepEqual(priceOf(found, {}, { unitHour: 0.05 }), {
      unit: 1,
      hours: 720,
      units: 36,
      total: 36,
    });
    const planned = priceOf(found, { unit: 10 }, { unitHour: 0.05, hours: 8 });
    assert.deepEqual(planned, { unit: 10, hours: 8, units: 4, total: 4 });
    assert.equal(priceOf({ ...found, unit: null }, {}, { unitHour: 1 }), undefined);
    assert.equal(priceOf(found, {}, {}), undefined);
  });

  it('adds both up for the same hours', () => {
    const price = priceOf(found, {}, { unitHour: 1, messages: 1, hours: 24 })!;
    assert.equal(price.units, 24);
    assert.equal(price.messages?.toFixed(2), '16.28');
    assert.equal(price.total.toFixed(2), '40.28');
  });

  it('costs nothing in the Free tier', () => {
    const price = priceOf(found, { sku: 'free' }, { unitHour: 1, messages: 1 });
    assert.deepEqual(price, { hours: 720, units: 0, messages: 0, total: 0 });
  });
});
