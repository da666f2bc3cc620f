import '../../../fakes/plainVscode';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { exampleScenarios, isQuickStart } from '../../../../src/extension/run/runCommands';
import { notRunnable } from '../../../../src/scenario/check/notRunnable';
import { parseScenario } from '../../../../src/scenario/parseScenario';

describe('exampleScenarios', () => {
  it('all run on this machine, the one made for it first', async () => {
    const examples = await exampleScenarios('examples');
    assert.ok(examples.length > 1);
    assert.deepEqual(
      examples.slice(0, 2).map(({ file }) => path.basename(file)),
      ['quick-start.signalr.yaml', 'chat-room.signalr.yaml'],
    );
    assert.ok(isQuickStart(examples[0]!) && !isQuickStart(examples[1]!));
    for (const { file, summary, overrides } of examples) {
      const { scenario, problems } = parseScenario(readFileSync(file, 'utf8'), { overrides });
      assert.deepEqual(scenario?.target, { kind: 'local' }, file);
      assert.equal(notRunnable(scenario), undefined, file);
      assert.ok(!problems.some(({ severity }) => severity === 'error'), file);
      assert.match(summary, /\.$/, file);
    }
  });

  it('begin with one of 15 seconds that has a percentile after four at most', async () => {
    const [quick] = await exampleScenarios('examples');
    assert.deepEqual(quick?.load, { connections: 100, outPerSecond: 100, durationS: 14.5 });
    const { scenario } = parseScenario(readFileSync(quick.file, 'utf8'));
    assert.ok(scenario);
    // The ramp, the warm-up, and the second until the first tick with deliveries of the measured time.
    const { connections, arrivingRate, warmupMs } = scenario;
    assert.ok(connections / arrivingRate + warmupMs / 1000 + 1 <= 2.5);
  });

  it('have an emulator in place of their service', async () => {
    const examples = await exampleScenarios('examples');
    for (const [name, service, changed] of [
      ['echo.yaml', 'hub', 1],
      ['restBroadcast.yaml', 'signalr', 2],
      ['echo-internalAppServer.yaml', 'signalr', 2],
      ['web-pubsub-echo.signalr.yaml', 'webpubsub', 2],
    ] as const) {
      const example = examples.find(({ file }) => path.basename(file) === name);
      assert.equal(example?.service, service, name);
      assert.equal(example.overrides.length, changed, name);
      const { scenario } = parseScenario(readFileSync(example.file, 'utf8'), example);
      assert.equal(scenario?.service, service, name);
    }
  });

  it('are none where there is no folder', async () => {
    assert.deepEqual(await exampleScenarios('not-there'), []);
  });
});
