import assert from 'node:assert/strict';
import type { JudgedDeliveries } from '../../../../src/base/objectives/objective';
import { sloOf, type Rule } from '../../../../src/base/slo';
import { AbortWatch } from '../../../../src/measure/judge/abortWatch';

const drainMs = 2000;
const second = 1_000_000;
const connections = { requested: 10, connected: 10, failed: 0, dropped: 0 };

/** All of them took a millisecond. */
const fast = (received: number, more: Partial<JudgedDeliveries> = {}): JudgedDeliveries => ({
  ...{ expected: received, received, duplicated: 0, latencyAtShareUs: () => 1000 },
  ...more,
});

function watching(...rules: Omit<Rule, 'abort'>[]): AbortWatch {
  return new AbortWatch(sloOf(rules.map((rule) => ({ ...rule, abort: true }))), drainMs);
}

/** What is said at that second of the run. */
const at = (
  watch: AbortWatch,
  atS: number,
  deliveries: JudgedDeliveries,
  measuredMs = atS * 1000,
): string | undefined =>
  watch.missed({ deliveries, connections, knownUs: atS * second, measuredMs })?.message;

describe('an objective that may end a step', () => {
  it('does when what has arrived is too slow, not before its time', () => {
    const watch = watching({ metric: 'p99', limit: 500, afterMs: 3000 });
    watch.note(second, 100);
    assert.equal(at(watch, 2, fast(100), 2999), undefined);
    assert.equal(
      at(watch, 2, fast(100), 3000),
      '99 % of 100 deliveries within 1 ms, above the limit of 500 µs',
    );
  });

  it('does not for what is on its way, but for what is longer than the limit', () => {
    const watch = watching({ metric: 'p90', limit: 1.5 * second });
    watch.note(1 * second, 100);
    watch.note(2 * second, 200);
    watch.note(3 * second, 300);
    // At 3 s what was due in the last 1.5 s may come yet: of 100 that were due by 1 s, 90 have come.
    assert.equal(at(watch, 3, fast(90)), undefined);
    assert.match(at(watch, 3, fast(89))!, /^11 of 100 deliveries had not arrived/);
    // Half a second later those of the next second are overdue as well.
    assert.equal(at(watch, 3.5, fast(180)), undefined);
    assert.match(at(watch, 3.5, fast(179))!, /^21 of 200 deliveries had not arrived/);
  });

  it('does not for what the generator may have made late', () => {
    const late = (slipMaxUs: number, readGapMaxUs: number) => ({
      lateness: { slipMaxUs, readGapMaxUs },
    });
    const watch = watching({ metric: 'p99', limit: 500 });
    watch.note(second, 100);
    assert.equal(at(watch, 2, fast(100, late(300, 200))), undefined);
    assert.match(at(watch, 2, fast(100, late(300, 199)))!, /^99 % of 100 deliveries within 1 ms/);
    // At 3 s what was due by 1 s is beyond the limit of 1.5 s, unless it left or was read half a second late.
    for (const metric of ['max', 'delivered'] as const) {
      const limit = metric === 'max' ? 1.5 * second : 1;
      const missing = watching({ metric, limit });
      missing.note(second, 100);
      const atS = metric === 'max' ? 3 : 3.5;
      assert.equal(at(missing, atS, fast(99, late(400_000, 100_001))), undefined);
      assert.notEqual(at(missing, atS, fast(99, late(400_000, 100_000))), undefined);
    }
  });

  it('looks at lost deliveries when the drain would be over', () => {
    const watch = watching({ metric: 'delivered', limit: 0.9 });
    watch.note(1 * second, 100);
    assert.equal(at(watch, 2.9, fast(50)), undefined);
    assert.match(at(watch, 3, fast(50))!, /^50 % of 100 deliveries arrived/);
  });

  it('counts errors, rates and connections as they are', () => {
    const errors = watching({ metric: 'errors.timeout', limit: 2 });
    assert.equal(at(errors, 1, fast(0, { errors: { timeout: 2, dns: 9 } })), undefined);
    assert.equal(
      at(errors, 1, fast(0, { errors: { timeout: 3 } })),
      '3 errors of class timeout, above the limit of 2',
    );
    const rate = watching({ metric: 'rate', limit: 100 });
    // At 4 s what was due in the first two must have arrived, and more may have.
    assert.equal(at(rate, 2, fast(0)), undefined);
    assert.equal(at(rate, 4, fast(200)), undefined);
    assert.match(at(rate, 4, fast(199))!, /^99\.5 deliveries a second arrived/);
    const dropped = watching({ metric: 'dropped', limit: 0.1 });
    const now = { deliveries: fast(5), knownUs: second, measuredMs: 1000 };
    assert.equal(
      dropped.missed({ ...now, connections: { ...connections, dropped: 1 } }),
      undefined,
    );
    const gone = dropped.missed({ ...now, connections: { ...connections, dropped: 2 } });
    assert.equal(gone?.code, 'slo-dropped');
  });

  it('is one that says so: others wait for the end', () => {
    const watch = new AbortWatch(sloOf([{ metric: 'p99', limit: 500 }]), drainMs);
    watch.note(second, 100);
    assert.equal(at(watch, 9, fast(50)), undefined);
  });
});
