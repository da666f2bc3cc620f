import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { connectNats } from '../../src/agents/bus/natsBus';
import { type ClockOffset, answerClock } from '../../src/agents/clock/referenceClock';
import { machineClock } from '../../src/engine/machineClock';
import type { EntrySummary, StepSummary } from '../../src/measure/summary';
import type { Result } from '../../src/results/result';
import { skipAnywhere } from '../fakes/skipAloud';
import { assertExact } from '../load/loadRun';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';
import { clockAhead, noClockSpace, shifts } from './clockSpace';
import { SlowRelay } from './slowRelay';

const script = path.join(__dirname, 'askClock.js');
/** What two processes may read one clock apart, microseconds. */
const readingUs = 20;

describe('agents whose clocks are shifted', () => {
  let cluster: AgentsOnBus;

  before(async function () {
    const why = noClockSpace();
    if (why !== undefined) skipAnywhere(this, `no clock can be shifted here: ${why}`);
    cluster = await AgentsOnBus.start();
  });
  after(() => (cluster as AgentsOnBus | undefined)?.dispose());

  it('know the time of the run within what they say, on quick ways and uneven ones', async () => {
    const bus = await connectNats({ url: cluster.bus.url, name: 'reference' });
    const relay = await SlowRelay.start(Number(new URL(cluster.bus.url).port), 20, 5);
    const machine = machineClock();
    const answering = answerClock(bus, 'time', () => machine.nowUs());
    const [first, second, third] = shifts;
    const slow = `nats://127.0.0.1:${relay.port}`;
    const found = await Promise.all(
      [
        [first, cluster.bus.url],
        [second, slow],
        [third, cluster.bus.url],
      ].map(async ([shift, url]) => {
        const [program = '', ...words] = clockAhead(Number(shift));
        const asking = [...words, process.execPath, script, `${url}`, 'time'];
        const { stdout } = await promisify(execFile)(program, asking);
        const { offsetUs, boundUs } = JSON.parse(stdout) as ClockOffset;
        return { offUs: Math.abs(offsetUs + Number(shift) * 1e6), boundUs };
      }),
    );
    answering.dispose();
    relay.dispose();
    await bus.close();
    for (const { offUs, boundUs } of found)
      assert.ok(offUs <= boundUs + readingUs, `off by ${offUs} us, bound ${boundUs} us`);
    // Half of the 25 ms that the relay takes, which are not even; each of its two timers may be a millisecond early.
    assert.ok(found[1]!.boundUs >= 11_500, `${found[1]!.boundUs} us`);
  });

  it('count to the message, whoever comes and goes, and know by how much latencies may be off', async () => {
    for (const shift of shifts) cluster.agentUnder(clockAhead(shift));
    const groups = { groupCount: 3, joinLeaveInterval: '200ms', sendingInterval: '40ms' };
    const test = {
      config: { workers: 1, connections: 21, singleStepDuration: '2s', warmup: '300ms' },
      entries: [
        { name: 'broadcast', senders: 3, parameters: { sendingInterval: '100ms' } },
        { name: 'frequentJoinLeaveGroup', senders: 9, parameters: groups },
      ],
    };
    const { code, stdout, stderr } = await cluster.lead(cluster.newId(), 3, test).finished;
    assert.ok(stdout.startsWith('{'), stderr);
    assertMeasured(code, stderr);
    const { agents = [], steps } = JSON.parse(stdout) as Result;
    const [step] = steps as [StepSummary];
    const [still, moving] = step.entries as [EntrySummary, EntrySummary];
    assertExact(still, 60, 60 * 21);
    assert.equal(still.latencySameAgentUs!.count, 60 * 7);
    assert.deepEqual([moving.received, moving.lost], [moving.expected, 0]);
    // On a busy machine the hub answers too late for most to come back.
    const { joins, leaves, skipped } = step.membership!;
    const moves = joins + leaves + skipped;
    assert.ok(moving.expected > 500 && leaves > 0 && moves > 20, `${moving.expected}, ${moves}`);
    const bounds = agents.map(({ clockErrorUs }) => clockErrorUs).sort((a, b) => b - a);
    assert.ok(bounds.length === 3 && bounds[2]! > 0, `${bounds.join(', ')} us`);
    const { clockErrorUs = 0, agentsComplete, verdict } = step;
    assert.ok(clockErrorUs > 0 && clockErrorUs <= bounds[0]! + bounds[1]!, `${clockErrorUs} us`);
    assert.equal(agentsComplete, 3);
    // Nothing that came before it was sent, by more than that, and no clock that was moved.
    assert.ok(
      verdict.reasons.every(({ code: of }) => !of.startsWith('clock')),
      JSON.stringify(verdict.reasons),
    );
  });
});
