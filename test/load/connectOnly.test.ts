import assert from 'node:assert/strict';
import { connectPhases } from '../../src/base/endpoint';
import { verdictSentence } from '../../src/measure/show/verdictSentence';
import { startHubHere, withHub, type HubHere } from '../fakes/loadHub';
import { assertConsistent, loadRun, missedBy, onlyStep, scenarioOf, scenarioText } from './loadRun';

describe('connections that only stand', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  it('opens, times and holds them, and sends nothing', async () => {
    const test = {
      target: hub.url,
      useCase: 'connectOnly',
      parameters: { messageSize: undefined, sendingInterval: undefined },
      config: { connections: 30, skipNegotiation: false },
      workers: 2,
    };
    const run = await loadRun(test);
    const { requested, connected, failed, dropped, drops } = run.connections;
    assert.deepEqual([requested, connected, failed, dropped, drops], [30, 30, 0, 0, []]);
    assert.ok(run.connections.openedPerSecond! > 0);
    const phases = run.connections.connectPhasesUs ?? {};
    // No name to look up, no TLS.
    assert.deepEqual(
      connectPhases.filter((phase) => phases[phase] !== undefined),
      ['tcp', 'negotiate', 'upgrade', 'handshake'],
    );
    for (const times of Object.values(phases))
      assert.ok(times.max <= run.connections.connectUs.max);
    const step = onlyStep(run);
    assert.deepEqual([step.senders, step.offered, step.sent, step.expected], [0, 0, 0, 0]);
    assert.deepEqual(step.connections, { requested: 30, open: 30 });
    assertConsistent(run);
    assert.equal(run.verdict.status, 'pass');
    const { slo } = scenarioOf(scenarioText(test));
    const sentence = verdictSentence({ ...run, scenario: { slo } });
    assert.equal(sentence, '✓ passed; 30 of 30 connections held for 200 ms, none dropped');
  });

  it('opens them in rounds that differ by one at most', async () => {
    const run = await loadRun({
      target: hub.url,
      useCase: 'connectOnly',
      parameters: { messageSize: undefined, sendingInterval: undefined, rounds: 3 },
      config: { connections: 20, singleStepDuration: '200ms' },
      workers: 2,
    });
    assert.deepEqual(
      run.steps.map(({ connections }) => connections),
      [7, 14, 20].map((count) => ({ requested: count, open: count })),
    );
    assert.equal(run.connections.connected, 20);
    assert.equal(run.verdict.status, 'pass');
  });

  it('says who was dropped and why, and judges by it alone', async () => {
    await withHub('', async (other) => {
      const run = await loadRun({
        target: [hub.url, other.url],
        useCase: 'connectOnly',
        parameters: { messageSize: undefined, sendingInterval: undefined },
        config: { connections: 10, singleStepDuration: '1s' },
        during: (going) => {
          going.onSnapshot(({ phase }) => {
            if (phase === 'measuring') void other.crash();
          });
        },
      });
      assert.equal(run.ending, 'completed');
      assert.equal(run.connections.dropped, 5);
      const dropped = run.connections.drops ?? [];
      assert.deepEqual(
        dropped.map(({ connection }) => connection).sort((a, b) => a - b),
        [1, 3, 5, 7, 9],
      );
      for (const { atS, openS, errorClass, text } of dropped) {
        assert.ok(openS > 0 && openS <= atS, `${openS} s of ${atS} s`);
        assert.ok(errorClass === 'closed' || errorClass === 'reset', errorClass);
        assert.notEqual(text, '');
      }
      assert.deepEqual(onlyStep(run).connections, { requested: 10, open: 5 });
      assert.deepEqual(missedBy(run), ['slo-dropped']);
    });
  });
});
