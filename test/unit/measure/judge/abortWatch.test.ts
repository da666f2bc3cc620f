import { plain } from '../../plain';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type {
  JudgedConnections,
  JudgedDeliveries,
} from '../../../../src/base/objectives/objective';
import { defaultSlo, rulesFromSlo, sloFromRules, type Rule } from '../../../../src/base/slo';
import { AbortWatch } from '../../../../src/measure/judge/abortWatch';
import { judgeDeliveries } from '../../../../src/measure/judge/verdict';

const drainMs = 2000;
const second = 1_000_000;
const connections = { requested: 10, connected: 10, failed: 0, dropped: 0 };

/** All of them took a millisecond. */
const fast = (received: number, more: Partial<JudgedDeliveries> = {}): JudgedDeliveries => ({
  ...{ expected: received, received, duplicated: 0, latencyAtShareUs: () => 1000 },
  ...more,
});

function watching(...rules: Omit<Rule, 'abort'>[]): AbortWatch {
  return new AbortWatch(sloFromRules(rules.map((rule) => ({ ...rule, abort: true }))), drainMs);
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
    assert.match(at(watch, 3, fast(89))!, /^11 of 100 deliveries lost/);
    // Half a second later those of the next second are overdue as well.
    assert.equal(at(watch, 3.5, fast(180)), undefined);
    assert.match(at(watch, 3.5, fast(179))!, /^21 of 200 deliveries lost/);
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
    const watch = new AbortWatch(sloFromRules([{ metric: 'p99', limit: 500 }]), drainMs);
    watch.note(second, 100);
    assert.equal(at(watch, 9, fast(50)), undefined);
  });
});

describe('the objectives of a step that goes on', () => {
  const plannedMs = 50_000;
  const open = { requested: 100, connected: 100, failed: 0, dropped: 0 };
  const unmet = (
    watch: AbortWatch,
    atS: number,
    deliveries: JudgedDeliveries,
    more: Partial<JudgedConnections> = {},
    planned: number | null = plannedMs,
  ) =>
    watch.unmet(
      {
        ...{ deliveries, knownUs: atS * second, measuredMs: atS * 1000 },
        connections: { ...open, ...more },
      },
      planned ?? undefined,
    );
  /** A hundred messages a second. */
  const steady = (slo = defaultSlo): AbortWatch => {
    const watch = new AbortWatch(slo, 10_000);
    for (let atS = 1; atS <= 50; atS++) watch.note(atS * second, atS * 100);
    return watch;
  };

  it('are met while what is missing may still come in time', () => {
    assert.equal(unmet(steady(), 5, fast(400, { expected: 500 })), undefined);
    assert.equal(unmet(steady(), 5, fast(396, { expected: 500 })), undefined);
  });

  it('are not met by now where more is overdue than may be', () => {
    const found = unmet(steady(), 5, fast(380, { expected: 500 }));
    assert.deepEqual(plain(found), {
      message: '20 of 400 deliveries are overdue or lost, and only 1 % may be slower than 1 s',
    });
  });

  it('are not met by now where a part never comes, though later ones make up for it in the sums', () => {
    const watch = new AbortWatch(defaultSlo, 10_000);
    const lossy = (lostOfHundred: number, latencyUs: number) => {
      for (let atS = 1; atS <= 8; atS++)
        watch.note(
          atS * second,
          atS * 1000,
          0,
          atS * (1000 - 10 * lostOfHundred) - latencyUs / 1000,
        );
      const received = 8 * (1000 - 10 * lostOfHundred);
      return unmet(watch, 8, {
        ...fast(received, { expected: 8000 }),
        latencyAtShareUs: () => latencyUs,
      });
    };
    assert.match(
      lossy(5, 5000)?.message ?? '',
      /^[23]\d\d of [78],\d\d\d deliveries are overdue or lost/,
    );
    assert.equal(lossy(5, 5000)?.isFinal, undefined);
  });

  it('are met where all are as slow as they may be', () => {
    const watch = new AbortWatch(defaultSlo, 10_000);
    for (let atS = 1; atS <= 8; atS++) watch.note(atS * second, atS * 1000, 0, atS * 1000 - 900);
    const slow = { ...fast(7100, { expected: 8000 }), latencyAtShareUs: () => 900_000 };
    assert.equal(unmet(watch, 8, slow), undefined);
  });

  it('cannot be met any more when what is lost is too much of all that will ever be sent', () => {
    // 5 % do not come: at 20 s 50 of the first 1,000 are lost for certain, 1 % of the 5,000.
    assert.equal(unmet(steady(), 20, fast(950, { expected: 2000 }))?.isFinal, undefined);
    const lost = unmet(steady(), 20, fast(949, { expected: 2000 }));
    assert.equal(lost?.isFinal, true);
    assert.match(lost.message, /^51 of 5,000 deliveries are overdue or lost/);
    assert.equal(unmet(steady(), 20, fast(949, { expected: 2000 }), {}, null)?.isFinal, undefined);
  });

  it('cannot be met any more when too many came too late, however fast the rest comes', () => {
    const slow = (many: number) => ({
      ...fast(4000),
      latencyAtShareUs: (share: number) => (share * 4000 > 4000 - many ? 2 * second : 1000),
    });
    assert.equal(unmet(steady(), 40, slow(39)), undefined);
    assert.deepEqual(unmet(steady(), 40, slow(45))?.isFinal, undefined);
    assert.equal(unmet(steady(), 40, slow(51))?.isFinal, true);
  });

  it('cannot be met any more when connections are gone for good', () => {
    assert.deepEqual(plain(unmet(steady(), 5, fast(500), { dropped: 46 })), {
      message: '0 of 100 connections failed, 46 dropped (46 %), above the limit of 1 %',
      isFinal: true,
    });
    // Those that are out may come back.
    const out = unmet(steady(), 5, fast(500), { notBack: 46 });
    assert.deepEqual(
      [out?.isFinal, out?.message.includes('46 did not come back')],
      [undefined, true],
    );
  });

  it('end in what the verdict says: what cannot be met any more is missed', () => {
    const property = fc.property(
      fc.integer({ min: 1, max: 49 }),
      fc.array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: 50, maxLength: 50 }),
      (atS, fates) => {
        const watch = new AbortWatch(defaultSlo, 2000);
        const latencies: number[] = [];
        let [expected, received] = [0, 0];
        const judgedAt = (): JudgedDeliveries => {
          const sorted = [...latencies].sort((a, b) => a - b);
          const latencyAtShareUs = (share: number): number =>
            sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-6) - 1)] ?? 0;
          return { expected, received, duplicated: 0, latencyAtShareUs };
        };
        let isFinal: boolean | undefined;
        for (const [second0, [isLost, isSlow]] of fates.entries()) {
          expected += 10;
          received += isLost ? 9 : 10;
          latencies.push(
            ...Array.from({ length: isLost ? 9 : 10 }, () => (isSlow ? 1.5 * second : 1000)),
          );
          watch.note((second0 + 1) * second, expected);
          if (second0 + 1 === atS) isFinal = unmet(watch, atS, judgedAt())?.isFinal;
        }
        if (isFinal)
          assert.equal(
            judgeDeliveries(judgedAt(), rulesFromSlo(defaultSlo)).every(({ check }) => check.met),
            false,
          );
      },
    );
    fc.assert(property);
  });
});
