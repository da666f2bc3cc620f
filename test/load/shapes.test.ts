import assert from 'node:assert/strict';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { assertConsistent, loadRun, onlyStep } from './loadRun';

describe('shapes of a load', function () {
  let hub: LoadHub;

  before(async () => {
    hub = await startHub();
  });
  after(() => hub.dispose());

  it('ramps, holds and drops senders within one step, each message counted', async () => {
    const run = await loadRun({
      target: hub.url,
      workers: 2,
      parameters: { sendingInterval: '50ms' },
      config: {
        stages: [
          { to: 20, over: '600ms', hold: '500ms' },
          { to: 4, hold: '500ms' },
          { rate: '0/s', over: '200ms' },
        ],
        ...{ baseSending: undefined, singleStepDuration: undefined, step: undefined },
      },
    });
    const step = onlyStep(run);
    assert.deepEqual([step.senders, step.seconds, step.lost], [20, 1.8, 0]);
    // Every 50 ms: 10 for 600 ms, 20 for 500 ms, 4 for 500 ms, 2 for 200 ms; up to half a round more or less each time.
    const meant = 120 + 200 + 40 + 8;
    assert.ok(Math.abs(step.sent - meant) <= 20, `${step.sent}, not about ${meant}`);
    assert.deepEqual([step.offered, step.received], [step.sent, step.sent]);
    assertConsistent(run);
  });

  for (const [what, config, parameters] of [
    ['Poisson arrivals', { arrivals: 'poisson' }, {}],
    ['uniform think times after each send', { pacing: 'closed' }, { intervalSpread: '50%' }],
  ] as const) {
    it(`sends with ${what}, each message counted`, async () => {
      const sent: number[] = [];
      for (const workers of [1, 2]) {
        const run = await loadRun({
          ...{ target: hub.url, workers },
          config: { singleStepDuration: '500ms', ...config },
          parameters: { sendingInterval: '50ms', ...parameters },
        });
        const step = onlyStep(run);
        assert.deepEqual([step.offered, step.received, step.lost], [step.sent, step.sent, 0]);
        // 20 senders, every 50 ms, for half a second: five deviations of a Poisson count.
        assert.ok(Math.abs(step.sent - 200) < 5 * Math.sqrt(200), `${step.sent}`);
        sent.push(step.sent);
        assertConsistent(run);
      }
      // With closed pacing what is sent depends on when the one before has left.
      if (!('pacing' in config)) assert.equal(sent[0], sent[1], 'the seed is the same');
    });
  }
});
