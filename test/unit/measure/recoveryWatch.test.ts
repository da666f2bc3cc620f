import assert from 'node:assert/strict';
import { LatencyHistogram } from '../../../src/measure/histogram';
import { RecoveryWatch } from '../../../src/measure/recoveryWatch';
import type { LatencySummary } from '../../../src/measure/summary';

const seconds = (count: number): number => count * 1_000_000;

/** A second whose deliveries all took that long. */
function took(us: number): LatencySummary {
  const histogram = new LatencyHistogram();
  histogram.record(us);
  return histogram.summary();
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
    watch.latency(14, took(5));
    watch.open(seconds(14.5), 90);
    // The second from 14 to 15 began before they were back, the next one is slow, 17 to 18 is empty.
    watch.latency(15, took(5));
    watch.latency(16, took(5000));
    watch.latency(18, new LatencyHistogram().summary());
    assert.deepEqual(watch.recoveries(), [
      { atS: 2, missing: 80, connectionsS: 2.5, latencyS: null },
    ]);
    watch.latency(19, took(900));
    assert.equal(watch.recoveries()[0]!.latencyS, 7);
    watch.latency(20, took(900));
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

  it('leaves latency out where nothing is sent, and what is not over open', () => {
    const watch = new RecoveryWatch({ ...facts, sends: false });
    watch.open(seconds(20), 10);
    assert.deepEqual(watch.recoveries(), [{ atS: 10, missing: 90, connectionsS: null }]);
  });
});
