import assert from 'node:assert/strict';
import { connectionLines } from '../../../../src/cli/views/finalScreen';
import { paint, type Line } from '../../../../src/cli/views/line';
import type { ConnectionSummary } from '../../../../src/measure/summary';
import { LatencyHistogram } from '../../../../src/measure/histogram';

const times = (us: number) => ({ p50: us, p90: us, p95: us, p99: us, max: us });
const connections: ConnectionSummary = {
  requested: 10,
  connected: 10,
  failed: 0,
  dropped: 7,
  reconnected: 12,
  connectUs: times(9000),
};
type Steps = Parameters<typeof connectionLines>[0]['steps'];
const linesOf = (known: Partial<ConnectionSummary>, columns: number, steps: Steps = []): Line[] =>
  connectionLines({ connections: { ...connections, ...known }, steps }, columns);
const wholeText = (lines: readonly Line[]): string =>
  lines.map((line) => paint(line, false).trim()).join(' ');

describe('lines about connections', () => {
  it('are none where a result does not know more', () => {
    assert.deepEqual(linesOf({}, 80, [{ index: 1 }]), []);
  });

  it('split the time of connecting and name who was dropped, a few at most', () => {
    const drops = Array.from({ length: 7 }, (_, connection) => ({
      connection,
      atS: 4.25,
      openS: 3,
      errorClass: 'closed',
      text: 'gone',
    }));
    const lines = linesOf(
      {
        connectPhasesUs: { tcp: times(200), handshake: times(1500) },
        openedPerSecond: 49.96,
        pings: { sent: 3, received: 4 },
        drops,
      },
      80,
    );
    const text = wholeText(lines);
    assert.match(
      text,
      /^p99 of tcp 200µs, handshake 1.5ms; 50.0 opened\/s; pings 3 sent, 4 received/,
    );
    const silent = { pings: { sent: 3, received: 0 } };
    assert.equal(wholeText(linesOf(silent, 80)), '3 pings sent');
    const rated = { openedPerSecond: 5, connectPhasesUs: { tcp: times(2e5) } };
    for (let columns = 20; columns < 60; columns++)
      for (const line of linesOf(rated, columns))
        assert.doesNotMatch(paint(line, false), /^ *(opened|200ms)/);
    assert.match(text, /connection 0 dropped at 4.3 s after 3.0 s: closed: gone connection 1/);
    assert.match(text, /connection 4 dropped[^]* and 2 more$/);
    for (const line of lines) assert.ok(line.text.length <= 80);
  });

  it('say once what a hub answered to all of them', () => {
    const text = 'JoinGroup: Method does not exist.';
    const drops = Array.from({ length: 7 }, (_, connection) => ({
      ...{ connection, atS: 1 + connection / 10, openS: 0.5, errorClass: 'invocation', text },
    }));
    assert.equal(
      wholeText(linesOf({ drops }, 200)),
      `7 drops from 1.0 s to 1.6 s: invocation: ${text}`,
    );
  });

  it('sum up lives and recoveries', () => {
    const life = {
      drops: 5,
      closed: 0,
      reconnects: 12,
      reconnectUs: times(12_000),
      lifeSpanMs: times(60_000),
      downMs: times(1500),
      sla: { ...times(0.975), mean: 0.98 },
    };
    const recoveries = [
      { atS: 10, missing: 200, connectionsS: 1.25, latencyS: 3 },
      { atS: 20, missing: 2, connectionsS: null, latencyS: null },
      { atS: 25, missing: 1, connectionsS: 2 },
    ];
    const text = wholeText(linesOf({ life }, 300, [{ index: 2, recoveries }]));
    assert.equal(
      text,
      'life: 5 drops, 12 reconnects (p99 12ms); life span p50 60 s; down p50 1.5 s, p99 1.5 s; SLA mean 98 %, p50 97.5 %, p99 97.5 % ' +
        'step 2: at 10.0 s 200 connections were missing; connections back after 1.3 s, latency back after 3.0 s ' +
        'step 2: at 20.0 s 2 connections were missing; connections not back within the step, latency not back within the step ' +
        'step 2: at 25.0 s 1 connections were missing; connections back after 2.0 s',
    );
  });

  it('distinguish targets and memberships', () => {
    const histogram = new LatencyHistogram();
    histogram.record(2000);
    const latencyUs = histogram.summary();
    const target = {
      url: 'http://a/hub',
      connected: 5,
      failed: 1,
      dropped: 0,
      connectUs: times(9000),
    };
    const text = wholeText(linesOf({ targets: [{ ...target, received: 1, latencyUs }] }, 200));
    assert.equal(text, 'http://a/hub: 5 connected (p99 9ms), 1 failed, 1 received (p99 2ms)');
    const membership = { joins: 1, joinsFailed: 0, leaves: 1, leavesFailed: 2, skipped: 3 };
    const moved = { ...membership, joinUs: latencyUs, leaveUs: latencyUs };
    assert.equal(
      wholeText(linesOf({}, 200, [{ index: 1, membership: moved }])),
      'step 1: 1 joins (p99 2ms), 1 leaves (p99 2ms), 2 leaves failed, 3 skipped, the one before was not answered',
    );
    const still = { ...moved, joins: 0, leaves: 0, leavesFailed: 0, skipped: 0 };
    assert.equal(
      wholeText(linesOf({}, 200, [{ index: 1, membership: still }])),
      'step 1: 0 joins, 0 leaves',
    );
  });
});
