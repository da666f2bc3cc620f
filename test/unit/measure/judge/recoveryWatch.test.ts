import assert from 'node:assert/strict';
import { LatencyHistogram } from '../../../../src/measure/histogram';
import { RecoveryWatch } from '../../../../src/measure/judge/recoveryWatch';

const seconds = (count: number): number => count * 1_000_000;

/** A second of the run in which so many were due and so many came, all after that time. */
function second(tick: number, expected: number, received: number, us: number) {
  const latency = new LatencyHistogram();
  for (let count = 0; count < received; count++) latency.record(us);
  return { tick, expected, received, latency };
}

const facts = {
  slo: { latencyUs: { p99: 1000 }, dropped: 0.1 },
  connections: 100,
  measureUs: seconds(10),
  endUs: seconds(30),
  sends: true,
};

describe('RecoveryWatch', () => {
  it('sees nothing while no more are missing than the objective allows', () => {
    const watch = new RecoveryWatch(facts);
    watch.open(seconds(11), 90);
    watch.open(seconds(9), 0);
    watch.open(seconds(31), 0);
    assert.deepEqual(watch.recoveries(), []);
  });

  it('takes the time until connections and then latency are back', () => {
    const watch = new RecoveryWatch(facts);
    watch.open(seconds(12), 60);
    watch.open(seconds(13), 20);
    watch.second(second(14, 1, 1, 5));
    watch.open(seconds(14.5), 90);
    // The second from 14 to 15 began before they were back, the next one is slow, 17 to 18 is empty.
    watch.second(second(15, 1, 1, 5));
    watch.second(second(16, 1, 1, 5000));
    watch.second(second(18, 0, 0, 0));
    assert.deepEqual(watch.recoveries(), [
      { atS: 2, missing: 80, connectionsS: 2.5, latencyS: null },
    ]);
    watch.second(second(19, 1, 1, 1000));
    assert.equal(watch.recoveries()[0]!.latencyS, 7);
    watch.second(second(20, 1, 1, 900));
    assert.equal(watch.recoveries()[0]!.latencyS, 7);
  });

  it('counts a storm from the moment it drops the connections, not from their leaving before', () => {
    const watch = new RecoveryWatch({
      ...facts,
      storm: { fromUs: seconds(14), atUs: seconds(15) },
    });
    // Some have left already, others not yet.
    watch.open(seconds(14), 40);
    watch.open(seconds(14.02), 0);
    watch.open(seconds(15.02), 0);
    watch.open(seconds(17), 95);
    assert.deepEqual(watch.recoveries(), [
      { atS: 5, missing: 100, connectionsS: 2, latencyS: null },
    ]);
  });

  describe('with deliveries that do not come', () => {
    /** Seconds from the outage at 12 s on until latency is back; connections are at 13 s. */
    function calm(each: readonly (readonly [due: number, came: number])[], us = 5) {
      const watch = new RecoveryWatch(facts);
      watch.open(seconds(12), 0);
      watch.open(seconds(13), 100);
      each.forEach(([due, came], at) => watch.second(second(14 + at, due, came, us)));
      return watch.recoveries()[0]!.latencyS;
    }

    it('is not back while as many stay away as are slower than any limit', () => {
      const half = Array.from({ length: 16 }, () => [1000, 500] as const);
      assert.equal(calm(half), null);
      assert.equal(calm([...half.slice(0, 3), [1000, 989], [1000, 990], [1000, 1000]]), 6);
      // Those that came were all too slow.
      assert.equal(calm([[1000, 1000]], 1001), null);
    });

    it('takes what is on its way when a second ends for no loss', () => {
      assert.equal(
        calm([
          [1000, 700],
          [1000, 1300],
        ]),
        2,
      );
      assert.equal(
        calm([
          [1000, 700],
          [1000, 1000],
          [1000, 1000],
        ]),
        3,
      );
      // What comes long after the limit comes too late.
      assert.equal(
        calm([
          [1000, 500],
          [1000, 1000],
          [1000, 1000],
          [0, 500],
        ]),
        3,
      );
      assert.equal(
        calm([
          [1000, 700],
          [0, 300],
        ]),
        2,
      );
    });
  });

  it('leaves latency out where nothing is sent, and what is not over open', () => {
    const watch = new RecoveryWatch({ ...facts, sends: false });
    watch.open(seconds(20), 10);
    assert.deepEqual(watch.recoveries(), [{ atS: 10, missing: 90, connectionsS: null }]);
  });
});
