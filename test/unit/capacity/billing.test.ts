import assert from 'node:assert/strict';
import { billingWords, includedPerDay, messagePrice } from '../../../src/capacity/billing';
import { estimate, type Estimate, type Product } from '../../../src/capacity/estimate';
import type { Traffic } from '../../../src/usecases/traffic';

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
    assert.equal(perSecond({ kind: 'send_to_group', groupMembers: 10 }, 'webpubsub'), 1000);
    assert.equal(perSecond({ kind: 'upstream_echo' }, 'webpubsub'), 200);
  });

  it('counts each 2 KB, as in the example of the service: 4 KB to three clients are eight', () => {
    const { billing } = estimate({
      product: 'signalr',
      connections: 3,
      useCases: [{ kind: 'broadcast', senders: 1, intervalS: 1, messageBytes: 4096 }],
    });
    assert.deepEqual(billing, {
      messages_per_s: 8,
      messages_per_day: 691_200,
      messages_per_month: 20_736_000,
      envelope_matters: true,
    });
    assert.equal(estimated({}).billing?.envelope_matters, false);
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
    assert.equal(estimated({ messageBytes: 1869 }).billing?.envelope_matters, true);
    assert.equal(estimated(mixed).billing?.envelope_matters, true, '16 KB end a 2 KB');
    const far = [messageSizes[0]!, { bytes: 15_000, weight: 10 }];
    const billed = estimated({ messageBytes: 1869, messageSizes: far }).billing;
    assert.equal(billed?.envelope_matters, false, 'no size is close below 2 KB, but the mean is');
  });

  it('says what the size includes, and prices only what is beyond it', () => {
    const found = estimated({});
    assert.equal(includedPerDay(found, {}), 1_000_000);
    assert.equal(includedPerDay(found, { unit: 2 }), 2_000_000);
    assert.equal(includedPerDay(found, { sku: 'free' }), 20_000);
    // 17.28 million a day, 16.28 of them beyond one Unit's.
    assert.equal(Math.round(messagePrice(found.billing!, 1_000_000, 1)), 488);
    assert.equal(messagePrice(found.billing!, 20_000_000, 1), 0);
    assert.equal(
      billingWords(found, {}),
      'Billed at this load around the clock: 17,280,000 messages of 2 KB a day, 518,400,000 in 30 days; Unit 1 includes 1,000,000 a day.',
    );
    assert.match(billingWords(found, { sku: 'free' })!, /; the Free tier ends at 20,000 a day\.$/);
    assert.match(billingWords(estimated({ messageBytes: 2048 }), {})!, /the envelope leads over/);
    assert.equal(billingWords(estimated({ senders: 0 }), {}), undefined);
  });
});
