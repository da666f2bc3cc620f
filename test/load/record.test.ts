import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { openRecording } from '../../src/record/recordingFile';
import type { RecordedEvent } from '../../src/record/recording';
import { startFront, testCertificate } from '../fakes/loadFront';
import { startHubHere, withHubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { assertRan, withFolder, type CliFolder } from './cliFolder';

const urlOf = (line: string): string => (JSON.parse(line) as { url: string }).url;

async function chat(url: string, transport: HttpTransportType, messages: number): Promise<void> {
  const connection = new HubConnectionBuilder()
    .withUrl(url, { transport, accessTokenFactory: () => 'a-secret-token' })
    .configureLogging(LogLevel.None)
    .build();
  let received = 0;
  connection.on('RecordLatency', () => (received += 1));
  await connection.start();
  for (let number = 0; number < messages; number++)
    await connection.invoke('Echo', { 'payload.MessageBlob': `text ${number}` });
  await connection.stop();
  assert.equal(received, messages);
}

async function eventsOf(folder: CliFolder, name: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const recording = await openRecording(path.join(folder.path, name));
  for await (const event of recording.events) events.push(event);
  return events;
}

const callsIn = (events: readonly RecordedEvent[]): number =>
  events.filter((event) => event.ev === 'out' && 'm' in event && 'target' in event.m).length;

describe('record', () => {
  const test = sideBySide();

  test(
    'writes what clients did, for its owner alone and without tokens',
    withFolder((folder) =>
      withHubHere('', async ({ url: target }) => {
        const recording = folder.start(['record', '--target', target, '--out', 'chat.yaml']);
        const url = urlOf(await recording.said(/^\{.*\}$/m));
        const { WebSockets, ServerSentEvents, LongPolling } = HttpTransportType;
        for (const transport of [WebSockets, ServerSentEvents, LongPolling])
          await chat(url, transport, 10);
        recording.child.kill('SIGINT');
        const { code, stdout, stderr } = await recording.finished;
        assert.equal(code, 0, stderr);
        assert.equal(stdout.split('\n')[0], JSON.stringify({ url }));
        const events = await eventsOf(folder, 'chat.recording.jsonl');
        const callbacks = events.filter(
          (event) =>
            event.ev === 'in' &&
            'm' in event &&
            'target' in event.m &&
            event.m.target === 'RecordLatency',
        );
        assert.deepEqual([callsIn(events), callbacks.length], [30, 30]);
        assert.deepEqual(
          events.flatMap((event) => (event.ev === 'open' ? [event.transport] : [])),
          ['WebSockets', 'ServerSentEvents', 'LongPolling'],
        );
        assert.equal(events.filter(({ ev }) => ev === 'close').length, 3);
        assert.doesNotMatch(folder.read('chat.recording.jsonl'), /a-secret-token/);
        if (process.platform !== 'win32') {
          const { mode } = statSync(path.join(folder.path, 'chat.recording.jsonl'));
          assert.equal(mode & 0o777, 0o600);
        }
      }),
    ),
  );

  test(
    'leaves nothing where no client came, and says so',
    withFolder((folder) =>
      withHubHere('', async ({ url: target }) => {
        const { code, stderr } = await folder.run(['record', '--target', target, '--for', '1s']);
        assert.equal(code, 2);
        assert.match(stderr, /No client came/);
        assert.deepEqual(readdirSync(folder.path), []);
      }),
    ),
  );

  test(
    'says what the server answered where no client was let in',
    withFolder((folder) =>
      withHubHere('', async ({ url: target }) => {
        const recording = folder.start(['record', '--target', target]);
        const url = urlOf(await recording.said(/^\{.*\}$/m));
        const asked = await fetch(new URL('/other/negotiate?code=hidden', url), { method: 'POST' });
        assert.equal(asked.status, 404);
        recording.child.kill('SIGINT');
        const { code, stderr } = await recording.finished;
        assert.equal(code, 2);
        assert.match(stderr, /^\/other\/negotiate was asked for, and the server answered 404: /m);
        assert.doesNotMatch(stderr, /hidden/);
      }),
    ),
  );

  test(
    'refuses a target that is none, that nobody answers at, and a file that is there',
    withFolder(async (folder) => {
      const run = (...args: string[]): ReturnType<CliFolder['run']> =>
        folder.run(['record', ...args, '--for', '1s']);
      const nobody = 'http://127.0.0.1:9/chat';
      assert.equal((await run('--target', 'local')).code, 2);
      const refused = await run('--target', nobody);
      assert.equal(refused.code, 3);
      assert.match(
        refused.stderr,
        /^Cannot connect to http:\/\/127.0.0.1:9: .*ECONNREFUSED.*\. Start the hub, or correct the address\.$/m,
      );
      folder.write('there.recording.jsonl', '');
      const there = await run('--target', nobody, '--out', 'there.yaml');
      assert.equal(there.code, 2);
      assert.match(there.stderr, /a file .*there.recording.jsonl already/);
      assert.deepEqual(readdirSync(folder.path), ['there.recording.jsonl']);
    }),
  );

  test(
    'records a hub with a certificate of its own once it is trusted, and says how before',
    withFolder((folder) =>
      withHubHere('', async ({ url: hub }) => {
        const front = await startFront(hub, { tls: true });
        try {
          const target = ['record', '--target', front.url];
          const unknown = await folder.run([...target, '--out', 'unknown', '--for', '1s']);
          assert.equal(unknown.code, 3, unknown.stderr);
          assert.match(
            unknown.stderr,
            /^Cannot connect to https:.*certificate.* with --ca-file, or accept any certificate with --insecure-tls/,
          );
          folder.write('ca.pem', testCertificate);
          folder.write('none.pem', 'no certificate');
          const none = await folder.run([...target, '--ca-file', 'none.pem', '--for', '1s']);
          assert.equal(none.code, 2);
          assert.match(none.stderr, /none.pem holds no certificate in PEM form/);
          assert.deepEqual(readdirSync(folder.path).sort(), ['ca.pem', 'none.pem']);
          const token = { SIGNALR_BENCH_SECRET_SIGNALRBENCH: 'a-secret-token' };
          for (const [out, ...trust] of [
            ['named', '--ca-file', 'ca.pem'],
            ['any', '--insecure-tls'],
          ]) {
            const recording = folder.startHere([...target, '--out', out!, ...trust]);
            const url = urlOf(await recording.said(/^\{.*\}$/m));
            assert.match(url, /^http:/);
            await chat(url, HttpTransportType.WebSockets, 3);
            await chat(url, HttpTransportType.LongPolling, 3);
            recording.signal('SIGINT');
            const { code, stderr } = await recording.finished;
            assert.equal(code, 0, stderr);
            const events = await eventsOf(folder, `${out!}.recording.jsonl`);
            assert.equal(callsIn(events), 6);
            const scenario = folder.read(`${out!}.signalr.yaml`);
            assert.match(scenario, /^ {2}target: https:/m);
            const key = out === 'named' ? /^ {2}caFile: .*ca\.pem$/m : /^ {2}insecureTls: true #/m;
            assert.match(scenario, key);
            const again = await folder.run(['run', `${out!}.recording.jsonl`], token);
            assertRan(again);
          }
        } finally {
          await front.dispose();
        }
      }),
    ),
  );

  test(
    'keeps what was recorded when the hub goes away, and says that nobody answers',
    withFolder(async (folder) => {
      const hub = await startHubHere();
      const recording = folder.startHere(['record', '--target', hub.url, '--out', 'chat']);
      const url = urlOf(await recording.said(/^\{.*\}$/m));
      await chat(url, HttpTransportType.WebSockets, 3);
      const left = new HubConnectionBuilder().withUrl(url).configureLogging(LogLevel.None).build();
      const closed = new Promise<void>((resolve) => left.onclose(() => resolve()));
      await left.start();
      await left.invoke('Echo', { 'payload.MessageBlob': 'the last text' });
      await hub.dispose();
      await closed;
      await assert.rejects(chat(url, HttpTransportType.WebSockets, 1), /502/);
      await recording.said(/Cannot connect to http:.*ECONNREFUSED/);
      recording.signal('SIGINT');
      const { code, stderr } = await recording.finished;
      assert.equal(code, 0, stderr);
      const events = await eventsOf(folder, 'chat.recording.jsonl');
      assert.equal(callsIn(events), 4);
      assert.equal(events.filter(({ ev }) => ev === 'close').length, 2);
      assert.match(folder.read('chat.signalr.yaml'), /call: Echo/);
    }),
  );

  test(
    'ends when the clients are gone, and prints what passed as JSON',
    withFolder((folder) =>
      withHubHere('', async ({ url: target }) => {
        const withUser = target.replace('://', '://ann:hunter2@');
        const args = ['record', '--target', withUser, '--until-gone', '--json', '--out', 'x'];
        const recording = folder.startHere(args);
        const url = urlOf(await recording.said(/^\{.*\}$/m));
        await chat(url, HttpTransportType.WebSockets, 3);
        const { code, stdout, stderr } = await recording.finished;
        assert.equal(code, 0);
        assert.match(stderr, /^warning: user and password of --target are not sent/m);
        assert.doesNotMatch(stderr + stdout, /hunter2/);
        const { found, out } = JSON.parse(stdout.slice(stdout.indexOf('\n'))) as {
          found: { clients: number; calls: readonly { method: string; count: number }[] };
          out: string;
        };
        assert.equal(found.clients, 1);
        assert.deepEqual(
          found.calls.map(({ method, count: seen }) => [method, seen]),
          [['Echo', 3]],
        );
        assert.equal(out, 'x.signalr.yaml');
        const written = ['x.recording.jsonl', 'x.signalr.yaml'];
        assert.deepEqual(readdirSync(folder.path).sort(), written);
        assert.equal((await folder.run(['validate', out])).code, 0);
      }),
    ),
  );
});
