import assert from 'node:assert/strict';
import { recommend, type MeasuredLoad } from '../../../../src/capacity/judge/recommend';

const measured: MeasuredLoad = {
  product: 'signalr',
  connections: 1900,
  step: 3,
  useCases: [
    {
      kind: 'send_to_group',
      senders: 1900,
      messageBytes: 2048,
      inPerSecond: 1900.2,
      outPerSecond: 19_002,
      groupMembers: 10,
    },
  ],
};

describe('recommend', () => {
  it('says the size, its limit, what was measured and the figure it stands on', () => {
    const result = recommend(measured);
    assert.equal(result.unit, 10);
    assert.equal(result.step, 3);
    assert.equal(
      result.headline,
      'Unit 10: outbound 19,002 of 20,000 msg/s (95 %, small group, guide of 2023-03)',
    );
    assert.deepEqual(result.reasons, [
      'Measured in step 3 with 1,900 connections: small group 1,900 msg/s in and 19,002 msg/s out of 2 KB.',
      'Compared at Unit 10 with "Case study > Default mode > Send to group > Small group" in Performance guide for Azure SignalR Service, edition 2023-03, line 314.',
      '3 app servers with 15 server connections each.',
    ]);
    assert.deepEqual(result.formula, [
      'measured: 1,900 msg/s in, 19,002 msg/s × 2 KB = 38 MB/s out',
    ]);
  });

  it('looks at the measured rates, not at the intended ones', () => {
    const half = { ...measured.useCases[0]!, inPerSecond: 950, outPerSecond: 9500 };
    assert.equal(recommend({ ...measured, useCases: [half] }).unit, 5);
  });

  it('lets connections decide when no traffic was measured', () => {
    const idle = { ...measured.useCases[0]!, inPerSecond: 0, outPerSecond: 0 };
    for (const useCases of [[idle], []]) {
      const result = recommend({ ...measured, useCases });
      assert.equal(result.unit, 2);
      assert.deepEqual(result.limiting, ['connections']);
      assert.match(result.reasons[0]!, /with 1,900 connections: no traffic\.$/);
    }
  });

  it('says that no size fits', () => {
    const much = { ...measured.useCases[0]!, inPerSecond: 8000, outPerSecond: 80_000 };
    const result = recommend({ ...measured, useCases: [much] });
    assert.equal(result.unit, null);
    assert.match(result.headline, /^No size of this guide fits: outbound 80,000 of 70,000 msg\/s/);
    assert.match(result.notes[0]!, /^More units do not help/);
  });

  it('takes edition and headroom', () => {
    assert.equal(recommend(measured, { headroom: 0.7 }).unit, 20);
    assert.equal(recommend(measured, { edition: 'later' }).edition, 'later');
  });

  it('refuses what is no measurement', () => {
    const withTraffic = (change: object) => () =>
      recommend({ ...measured, useCases: [{ ...measured.useCases[0]!, ...change }] });
    assert.throws(withTraffic({ inPerSecond: NaN }), /in_per_second must be a number/);
    assert.throws(withTraffic({ outPerSecond: -1 }), /out_per_second must not be negative/);
    assert.throws(withTraffic({ kind: 'upstream_echo' }), /kind is not known for this product/);
    assert.throws(withTraffic({ groupMembers: undefined }), /group_members must be a number/);
  });
});
