import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { WebPubSubClient, WebPubSubJsonProtocol } from '@azure/web-pubsub-client';
import { HubConnectionBuilder, LogLevel, type ILogger } from '@microsoft/signalr';
import type { Findings } from '../../src/record/analyse/findings';
import type { Result } from '../../src/results/result';
import { withHubHere } from '../fakes/loadHub';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { everything, Peer } from '../fakes/pubSubPeer';
import { startBehindService } from '../fakes/behindService';
import { sideBySide } from '../fakes/sideBySide';
import { withFolder, type CliFolder } from './cliFolder';
import { judgePublished } from './recordedTraffic';

const messages = 4;
const texts = Array.from({ length: 3 }, (_, at) => 'a line of text '.repeat(20 + 20 * at));
const calls = ['JoinRoom', 'SendMessage', 'GetHistory', 'Acknowledge', 'LeaveRoom'] as const;

interface Sent {
  /** When each session began, by client, milliseconds. */
  readonly begun: number[][];
  readonly sizes: number[];
}

/** Two people in one room: sessions one after the other, each of eight calls with pauses. */
async function chat(url: string, sessions: number, logger: ILogger | LogLevel): Promise<Sent> {
  const sent: Sent = { begun: [[], []], sizes: [] };
  const person = async (begun: number[], name: string): Promise<void> => {
    const connection = new HubConnectionBuilder()
      .withUrl(url, { accessTokenFactory: () => 'a-secret-token', logMessageContent: true })
      .configureLogging(logger)
      .build();
    connection.on('MessagePosted', () => undefined);
    await connection.start();
    for (let session = 0; session < sessions; session++) {
      begun.push(performance.now());
      await connection.invoke('JoinRoom', 'lobby');
      await setTimeout(80);
      for (let message = 0; message < messages; message++) {
        const text = `${message} ${texts[(session + message) % texts.length]!}`;
        sent.sizes.push(text.length);
        await connection.invoke('SendMessage', 'lobby', { author: name, text });
        await setTimeout(100);
      }
      const [last] = await connection.invoke<{ id: string }[]>('GetHistory', 'lobby', 3);
      await connection.invoke('Acknowledge', last!.id);
      await setTimeout(60);
      await connection.invoke('LeaveRoom', 'lobby');
      await setTimeout(150);
    }
    await connection.stop();
  };
  await Promise.all(['ann', 'bob'].map((name, at) => person(sent.begun[at]!, name)));
  return sent;
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

const within = (share: number, found: number, wanted: number, what: string): void =>
  assert.ok(Math.abs(found / wanted - 1) <= share, `${what}: ${found} instead of ${wanted}`);

async function withService(body: (url: string) => Promise<void>): Promise<void> {
  const hub = await startBehindService();
  try {
    await body(hub.url);
  } finally {
    await hub.dispose();
  }
}

async function recorded(
  folder: CliFolder,
  target: string,
): Promise<{ found: Findings; sent: Sent }> {
  const args = ['record', '--target', target, '--json', '--out', 'chat'];
  const recording = folder.startHere(args);
  const first = await recording.said(/^\{.*\}$/m);
  const sent = await chat((JSON.parse(first) as { url: string }).url, 4, LogLevel.None);
  recording.signal('SIGINT');
  const { code, stdout, stderr } = await recording.finished;
  assert.equal(code, 0, stderr);
  const { found } = JSON.parse(stdout.slice(stdout.indexOf('\n'))) as { found: Findings };
  return { found, sent };
}

/** What was recorded, in the same places. */
function judge(result: Result, sent: Sent): void {
  const [step] = result.steps;
  assert.deepEqual(step!.errors, {});
  assert.equal(step!.expected, step!.received);
  // Callbacks that no call is known for are counted as they come.
  const counted = step!.calls!.filter(({ came }) => came === undefined);
  const byName = new Map(counted.map((call) => [call.name, call]));
  assert.deepEqual([...byName.keys()], [...calls]);
  for (const { name, expected, received, sent: times } of byName.values()) {
    assert.equal(received, expected, name);
    // Both hear what one of them writes, but near to joining and leaving nobody can say.
    const most = name === 'SendMessage' ? 2 * times : times;
    assert.ok(expected >= times && expected <= most, `${name}: ${expected} of ${times}`);
  }
  const lasted = sent.begun.flatMap((times) => times.slice(1).map((ms, at) => ms - times[at]!));
  const wanted = (2 * messages * step!.seconds * 1000) / mean(lasted);
  const made = byName.get('SendMessage')!.sent;
  // A call of each client may fall to the other side of an edge.
  if (Math.floor(Math.abs(made - wanted)) > sent.begun.length)
    within(0.05, made, wanted, `calls in ${step!.seconds} s`);
}

const published = 'a message as an application writes it, '.repeat(5);

/** One client, with the address that the application gives. */
async function publish(negotiate: string, messages: number): Promise<void> {
  const client = new WebPubSubClient(
    {
      getClientAccessUrl: async () =>
        ((await (await fetch(negotiate)).json()) as { url: string }).url,
    },
    {
      ...{ protocol: WebPubSubJsonProtocol(), autoReconnect: false },
      // Its timers outlive it by 40 s.
      ...{ keepAliveIntervalInMs: 0, keepAliveTimeoutInMs: 0 },
    },
  );
  const stopped = new Promise<void>((resolve) => client.on('stopped', () => resolve()));
  await client.start();
  await client.joinGroup('room');
  for (let message = 0; message < messages; message++) {
    await client.sendToGroup('room', published, 'text');
    await setTimeout(50);
  }
  client.stop();
  await stopped;
}

describe('a scenario of a recording', () => {
  const test = sideBySide();

  for (const [what, withTarget] of [
    ['', (body) => withHubHere('', ({ url }) => body(url))],
    [', behind Azure SignalR Service', withService],
  ] as readonly [string, (body: (url: string) => Promise<void>) => Promise<void>][])
    test(
      `does what the clients did, as often and with texts as long${what}`,
      withFolder((folder) =>
        withTarget(async (url) => {
          const { found, sent } = await recorded(folder, url);
          assert.equal(found.target, url);
          assert.deepEqual(
            found.calls.map(({ method, count }) => [method, count]),
            calls.map((name) => [name, 8 * (name === 'SendMessage' ? messages : 1)]),
          );
          assert.deepEqual(
            found.kinds.map((kind) => [kind.clients, kind.sessions, kind.unfinished]),
            [[2, 8, 0]],
          );
          const text = folder.read('chat.signalr.yaml');
          assert.doesNotMatch(text, /a-secret-token|a line of text/);
          const sizes = [...new Set(sent.sizes)].sort((a, b) => a - b);
          const times = (size: number): number => sent.sizes.filter((each) => each === size).length;
          assert.equal(
            /\{text:([^}]*)\}/.exec(text)?.[1],
            sizes.map((size) => `${size}B ${times(size)}`).join(', '),
          );
          const secret = { SIGNALR_BENCH_SECRET_SIGNALRBENCH: 'any' };
          assert.equal((await folder.run(['validate', 'chat.signalr.yaml'], secret)).code, 0);
          // As it was written. What was said is judged, not how late it was.
          const { stderr } = await folder.run(['run', 'chat.signalr.yaml', '--yes'], secret);
          assert.doesNotMatch(stderr, /broken off|cannot/i);
          judge(folder.result('.signalr-bench'), sent);
        }),
      ),
    );

  test(
    'sends to groups of Web PubSub as its official clients did',
    withFolder(async (folder) => {
      const emulator = await startWebPubSubEmulator();
      const app = createServer((_request, response) => {
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ url: Peer.urlOf(emulator, { role: everything }) }));
      }).listen(0, '127.0.0.1');
      try {
        await once(app, 'listening');
        const target = `http://127.0.0.1:${(app.address() as AddressInfo).port}/negotiate`;
        const recording = folder.startHere(['record', '--target', target, '--out', 'chat']);
        const { url } = JSON.parse(await recording.said(/^\{.*\}$/m)) as { url: string };
        const perClient = 10;
        await Promise.all([1, 2].map(() => publish(url, perClient)));
        recording.signal('SIGINT');
        const { code, stderr } = await recording.finished;
        assert.equal(code, 0, stderr);
        await judgePublished(folder, emulator.connectionString);
      } finally {
        app.close();
        app.closeAllConnections();
        await emulator.dispose();
      }
    }),
  );

  test(
    'is the same from the log of the JavaScript client',
    withFolder((folder) =>
      withHubHere('', async ({ url }) => {
        const lines: string[] = [];
        const logger: ILogger = {
          log: (level, message) =>
            lines.push(`[${new Date().toISOString()}] ${LogLevel[level]}: ${message}\n`),
        };
        const connection = new HubConnectionBuilder()
          .withUrl(url, { logMessageContent: true })
          .configureLogging(logger)
          .build();
        await connection.start();
        for (let round = 0; round < 5; round++) {
          await connection.invoke('GetHistory', 'nowhere', round);
          await setTimeout(20);
        }
        await connection.stop();
        folder.write('client.log', lines.join(''));
        const { code, stdout, stderr } = await folder.run(['import', 'client.log', '--json']);
        assert.equal(code, 0, stderr);
        const { found } = JSON.parse(stdout) as { found: Findings };
        assert.deepEqual([found.target, found.clients, found.protocols], [url, 1, ['json']]);
        assert.deepEqual(found.calls, [{ method: 'GetHistory', count: 5, as: 'answered' }]);
      }),
    ),
  );
});
