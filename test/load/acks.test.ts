import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../src/servers/webpubsub/webPubSubEmulator';
import { sideBySide } from '../fakes/sideBySide';
import { assertConsistent, loadRun, onlyStep } from './loadRun';

const senders = 8;

describe('acknowledgements of Azure Web PubSub, on its emulator', function () {
  let emulator: WebPubSubEmulator;
  let application: Server;

  // Clients may join groups, but not publish to them.
  before(async () => {
    application = createServer((request, response) => {
      response.setHeader('WebHook-Allowed-Origin', '*');
      request.resume().on('end', () => {
        const connects = request.headers['ce-eventname'] === 'connect';
        response.end(connects ? JSON.stringify({ roles: ['webpubsub.joinLeaveGroup'] }) : '');
      });
    });
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
    const { port } = application.address() as AddressInfo;
    emulator = await startWebPubSubEmulator({ upstream: `http://127.0.0.1:${port}/` });
  });
  after(async () => {
    await emulator.dispose();
    application.close();
    application.closeAllConnections();
  });

  const beside = sideBySide();
  for (const config of [
    { subprotocol: 'reliableProtobuf' },
    { subprotocol: 'json', acks: 'all', driver: 'sdk' },
  ])
    beside(`report refused messages, with ${JSON.stringify(config)}`, async () => {
      const run = await loadRun({
        target: emulator.connectionString,
        useCase: 'sendToGroup',
        parameters: { groupCount: 2 },
        config: {
          ...{ service: 'webpubsub', hub: Object.values(config).join(''), connections: senders },
          // Nothing that is waited for will come, but refusals.
          ...{ warmup: 0, singleStepDuration: '300ms', drain: '2s', ...config },
        },
        keepGoing: true,
      });
      assertConsistent(run);
      const { sent, received, expected, lost } = onlyStep(run);
      assert.deepEqual([received, lost], [0, expected]);
      assert.ok(sent > senders, `${sent} sent`);
      assert.deepEqual(run.errors, { invocation: config.acks === undefined ? senders : sent });
      const [example] = run.errorExamples;
      assert.match(example?.text ?? '', /^Forbidden: .*permission to send to this group/);
    });
});
