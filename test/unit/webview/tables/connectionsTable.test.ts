import assert from 'node:assert/strict';
import { connectionSentences, connectionsTable } from '../../../../src/webview/tables/tables';
import { sampleResult } from '../../results/sampleResult';
import { finishedRun, measured, shownRun } from '../shownRun';

const times = (us: number) => ({ p50: us, p90: us, p95: us, p99: us, max: us });

describe('the connections of a finished run', () => {
  const { connections, steps } = sampleResult();

  it('are not shown while it goes on, and with little where a result does not know more', () => {
    assert.deepEqual(connectionsTable(shownRun([measured(30, 1)])).rows, []);
    const { heads, rows } = connectionsTable(finishedRun());
    assert.deepEqual(heads, ['', 'p50', 'p99', 'max']);
    assert.deepEqual(rows, [['whole connect', '9 ms', '84 ms', '91 ms']]);
    assert.deepEqual(connectionSentences(finishedRun()), []);
  });

  it('have a row for each phase that happened, and for lives and joins', () => {
    const [first, ...others] = steps;
    const { latencyUs } = first!;
    const membership = { joins: 4, joinsFailed: 1, leaves: 3, leavesFailed: 0, skipped: 0 };
    const run = finishedRun({
      steps: [
        { ...first!, membership: { ...membership, joinUs: latencyUs, leaveUs: latencyUs } },
        ...others,
      ],
      connections: {
        ...connections,
        connectPhasesUs: { upgrade: times(2000), tcp: times(1000) },
        openedPerSecond: 50,
        pings: { sent: 1, received: 2 },
        life: {
          ...{ drops: 1, closed: 2, reconnects: 3 },
          reconnectUs: times(5000),
          lifeSpanMs: times(60_000),
          downMs: times(20),
          sla: { ...times(0.999), mean: 0.9995 },
        },
      },
    });
    const rows = connectionsTable(run).rows.map(([label, p50]) => [label, p50]);
    assert.deepEqual(rows.slice(1, 3), [
      ['tcp', '1 ms'],
      ['upgrade', '2 ms'],
    ]);
    assert.deepEqual(rows.slice(3, 8), [
      ['drops / closed by us / opened again', '1 / 2 / 3'],
      ['opening again', '5 ms'],
      ['life span', '60 s'],
      ['down time', '20 ms'],
      ['share of the time open (SLA)', '99.9 %'],
    ]);
    assert.deepEqual(
      rows.slice(8).map(([label]) => label),
      [
        'joining a group (4, 1 failed)',
        'leaving a group (3, 0 failed)',
        'opened per second',
        'pings sent / received',
      ],
    );
  });

  it('have sentences for targets, recoveries and who was dropped', () => {
    const [first, ...others] = steps;
    const run = finishedRun({
      steps: [
        {
          ...first!,
          recoveries: [{ atS: 10, missing: 1900, connectionsS: 1.5, latencyS: null }],
        },
        ...others,
      ],
      connections: {
        ...connections,
        drops: [{ connection: 7, atS: 3, openS: 2, errorClass: 'closed', text: 'x'.repeat(500) }],
      },
    });
    const [recovery, dropped] = connectionSentences(run);
    assert.equal(
      recovery,
      'Step 1: at 10.0 s 1,900 connections were missing; connections back after 1.5 s, latency after the end of the step.',
    );
    assert.match(dropped!, /^connection 7, dropped at 3\.0 s after 2\.0 s: closed: x{200}$/);
  });
});
