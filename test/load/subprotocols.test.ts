import assert from 'node:assert/strict';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../src/servers/webpubsub/webPubSubEmulator';
import { startRelay, type Relay } from '../fakes/relay';
import { CliFolder } from './cliFolder';
import { assertConsistent, loadRun, onlyStep } from './loadRun';

const connections = 20;

describe('the subprotocols of Azure Web PubSub, on its emulator', function () {
  let emulator: WebPubSubEmulator;
  let relay: Relay;
  before(async () => {
    emulator = await startWebPubSubEmulator();
    relay = await startRelay(Number(/:(\d+);/.exec(emulator.connectionString)?.[1]));
  });
  after(async () => {
    relay.dispose();
    await emulator.dispose();
  });

  /** The same run by clients whose sockets are all cut once a part of the messages has come. */
  const cutRun = (config: object) =>
    loadRun({
      target: emulator.connectionString.replace(/:\d+;/, `:${relay.port};`),
      useCase: 'restSendToGroup',
      parameters: { groupCount: 4 },
      config: { service: 'webpubsub', connections, baseSending: 4, ...config },
      keepGoing: true,
      during: (run) => {
        const until = emulator.counts.delivered + 150;
        const timer = setInterval(() => {
          if (emulator.counts.delivered < until) return;
          clearInterval(timer);
          relay.cut();
        }, 5);
        void run.finished.finally(() => clearInterval(timer));
      },
    });

  for (const config of [
    { subprotocol: 'reliableProtobuf' },
    { subprotocol: 'reliableJson', driver: 'sdk' },
  ])
    it(`lose nothing when sockets are cut, with ${JSON.stringify(config)}`, async () => {
      const run = await cutRun(config);
      assertConsistent(run);
      const { expected, received, lost, duplicated } = onlyStep(run);
      assert.deepEqual([expected, received, lost], [4 * 10 * 5, 200, 0]);
      // What the service sends again after a recovery reaches no application.
      assert.equal(duplicated, 0);
      const { dropped, reconnected } = run.connections;
      assert.deepEqual([dropped, reconnected], [connections, connections]);
    });

  it('count what members of groups publish in Protocol Buffers, echo and get by REST, exactly', async () => {
    const subprotocol = 'reliableProtobuf';
    const run = await loadRun({
      target: emulator.connectionString,
      entries: ['sendToGroup', 'restSendToGroup', 'echo'].map((name) => ({
        ...{ name, senders: 4, parameters: name === 'echo' ? {} : { groupCount: 4 } },
      })),
      config: { service: 'webpubsub', subprotocol, acks: 'all', connections, baseSending: 12 },
    });
    assertConsistent(run);
    assert.deepEqual(run.errors, {});
    const { sent, expected, received, duplicated } = onlyStep(run);
    assert.deepEqual([sent, expected, received, duplicated], [120, 440, 440, 0]);
  });

  it('count what comes back over plain WebSockets exactly', async () => {
    const folder = new CliFolder();
    try {
      const file = folder.scenario('echo.yaml', {
        target: 'local',
        config: { service: 'webpubsub', subprotocol: 'none', connections, workers: 1 },
        slo: { p99: '60s' },
      });
      const { code, stderr } = await folder.run(['run', file, '--out', 'results']);
      // On a busy machine the step may be invalid; its counts are exact all the same.
      assert.ok(code === 0 || code === 4, stderr);
      const { steps, errors } = folder.result('results');
      const { sent, expected, received, duplicated } = steps[0]!;
      assert.deepEqual(errors, {});
      assert.deepEqual([sent, expected, received, duplicated], [200, 200, 200, 0]);
    } finally {
      folder.dispose();
    }
  });
});
