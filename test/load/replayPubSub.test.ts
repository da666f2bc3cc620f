import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebPubSubClient, WebPubSubJsonReliableProtocol } from '@azure/web-pubsub-client';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { everything, Peer } from '../fakes/pubSubPeer';
import { assertRan, withFolder } from './cliFolder';

const published = 4;
const events = 3;

/** Two official clients in a room: one publishes with and without an acknowledgement, both send events and hear. */
async function talk(negotiate: string): Promise<void> {
  let unheard = 2 * published;
  let allHeard: () => void = () => undefined;
  const hearing = new Promise<void>((resolve) => (allHeard = resolve));
  const clients = [1, 2].map(
    () =>
      new WebPubSubClient(
        {
          getClientAccessUrl: async () =>
            ((await (await fetch(negotiate)).json()) as { url: string }).url,
        },
        {
          ...{ protocol: WebPubSubJsonReliableProtocol(), autoReconnect: false },
          ...{ keepAliveIntervalInMs: 0, keepAliveTimeoutInMs: 0 },
        },
      ),
  );
  const stopped = clients.map(
    (client) => new Promise<void>((resolve) => client.on('stopped', () => resolve())),
  );
  for (const client of clients) {
    client.on('group-message', () => {
      if (--unheard === 0) allHeard();
    });
    await client.start();
    await client.joinGroup('room "1"');
  }
  for (let message = 0; message < published; message++)
    await clients[0]!.sendToGroup('room "1"', { text: `no. ${message} är da` }, 'json', {
      fireAndForget: message === 0,
      noEcho: false,
    });
  for (const client of clients)
    for (let event = 0; event < events; event++)
      await client.sendEvent('order', `item ${event}`, 'text');
  await hearing;
  for (const client of clients) await client.leaveGroup('room "1"');
  for (const client of clients) client.stop();
  await Promise.all(stopped);
}

describe('a replay of official clients of Web PubSub', () => {
  it(
    'sends what they sent, to the same groups, and gets as many acknowledgements and messages',
    withFolder(async (folder) => {
      const app = createServer((request, response) => {
        const event = request.headers['ce-eventname'];
        response.setHeader('WebHook-Allowed-Origin', '*');
        const body: Buffer[] = [];
        request
          .on('data', (part: Buffer) => body.push(part))
          .on('end', () => {
            const isOwn = event !== undefined && event !== 'connect' && event !== 'order';
            const type = isOwn ? request.headers['content-type'] : undefined;
            response.setHeader('Content-Type', type ?? 'application/json');
            const url = Peer.urlOf(emulator, { role: everything });
            const answer = event === 'order' ? '"ordered"' : JSON.stringify({ url });
            response.end(isOwn ? Buffer.concat(body) : answer);
          });
      }).listen(0, '127.0.0.1');
      await once(app, 'listening');
      const own = `http://127.0.0.1:${(app.address() as AddressInfo).port}/`;
      const emulator = await startWebPubSubEmulator({ upstream: `${own}events` });
      try {
        const target = `${own}negotiate`;
        const recording = folder.startHere(['record', '--target', target, '--out', 'chat']);
        const { url } = JSON.parse(await recording.said(/^\{.*\}$/m)) as { url: string };
        await talk(url);
        recording.signal('SIGINT');
        const { code, stderr } = await recording.finished;
        assert.equal(code, 0, stderr);
        const times = 3;
        const secret = { SIGNALR_BENCH_SECRET_WEBPUBSUB: emulator.connectionString };
        const run = await folder.run(
          ['run', 'chat.recording.jsonl', '--clients', `x${times}`, '--set', 'slo.p99=1m'],
          secret,
        );
        assertRan(run);
        const result = folder.result('.signalr-bench');
        assert.equal(result.connections.connected, 2 * times);
        const [step] = result.steps;
        assert.deepEqual(step!.errors, {});
        const counts = step!.calls!.map(({ name, recorded, sent, expected, received }) => [
          ...[name, recorded, sent, expected, received],
        ]);
        const answered = (name: string, count: number): unknown[] => [
          ...[name, ...[1, 1, 1, 1].map(() => count * times)],
        ];
        assert.deepEqual(counts.slice(0, 5), [
          answered('joinGroup', 2),
          // The first did not ask for an acknowledgement.
          ['sendToGroup 1', times, times, 0, 0],
          answered('sendToGroup 2', published - 1),
          answered('event order', 2 * events),
          answered('leaveGroup', 2),
        ]);
        const [heard, ...others] = step!.calls!.slice(5);
        assert.deepEqual(others, []);
        assert.deepEqual(
          [heard!.name, heard!.recorded],
          ['message', times * (2 * published + 2 * events)],
        );
        // All replays are in one room: each message of it reaches those that are there at that moment, its sender at least.
        assert.ok(heard!.came! >= times * (published + 2 * events), String(heard!.came));
        const { started, completed, brokenOff } = step!.sessions!;
        assert.deepEqual([started, completed, brokenOff], [2 * times, 2 * times, 0]);
        // What is made of it: a mix, whose events come back as this application answers those that it does not know.
        const short = ['config.singleStepDuration=500ms', 'config.warmup=0', 'config.drain=20s'];
        const mix = await folder.run(
          [
            ...['run', 'chat.signalr.yaml', '--yes', '--out', 'runs'],
            ...[...short, 'slo.p99=1m'].flatMap((set) => ['--set', set]),
          ],
          secret,
        );
        assertRan(mix);
        const [mixed] = folder.result('runs').steps;
        assert.deepEqual(
          mixed!.entries!.map(({ name, senders }) => [name, senders]),
          [
            ['sendToGroup', 1],
            ['echo', 1],
          ],
        );
        for (const { sent, expected, received, lost } of mixed!.entries!) {
          assert.ok(sent > 0);
          assert.deepEqual([received, lost], [expected, 0]);
        }
      } finally {
        app.close();
        app.closeAllConnections();
        await emulator.dispose();
      }
    }),
  );
});
