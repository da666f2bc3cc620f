import assert from 'node:assert/strict';
import { estimate } from '../../../../src/capacity/estimate';
import { messagePrice, priceOf } from '../../../../src/capacity/judge/price';

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
