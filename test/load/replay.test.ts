import assert from 'node:assert/strict';
import { HubConnectionBuilder, HubConnectionState, LogLevel, Subject } from '@microsoft/signalr';
import type { Result } from '../../src/results/result';
import { withHubHere } from '../fakes/loadHub';
import { assertRan, withFolder, type CliFolder } from './cliFolder';

const times = 5;
const posted = 4;
const echoes = 3;
const items = 4;

/** Two clients of a chat: calls with and without an answer, one that is refused, and what they hear. */
async function chat(url: string): Promise<void> {
  const [ann, bob] = ['ann', 'bob'].map(() =>
    new HubConnectionBuilder()
      .withUrl(url, { accessTokenFactory: () => 'a-secret-token' })
      .configureLogging(LogLevel.None)
      .build(),
  );
  let unheard = 2 * posted + echoes;
  let allHeard: () => void = () => undefined;
  const hearing = new Promise<void>((resolve) => (allHeard = resolve));
  const heard = (): void => {
    if (--unheard === 0) allHeard();
  };
  for (const one of [ann!, bob!]) {
    one.on('MessagePosted', heard);
    one.on('RecordLatency', heard);
    await one.start();
    await one.invoke('JoinRoom', 'lobby');
  }
  for (let message = 0; message < posted; message++)
    await ann!.invoke('SendMessage', 'lobby', { author: 'ann', text: `"${message}" är da` });
  for (let message = 0; message < echoes; message++)
    await bob!.send('Echo', { 'payload.MessageBlob': `text ${message}` });
  await new Promise<void>((complete, error) =>
    bob!
      .stream('StreamingDownload', { text: 'an item' }, items, 0)
      .subscribe({ next: () => undefined, complete, error }),
  );
  const uploads = [new Subject(), new Subject()];
  const counted = uploads.map((upload) => bob!.invoke<number>('StreamingUpload', upload));
  for (let item = 0; item < items; item++)
    for (const upload of uploads) upload.next({ text: `item ${item}` });
  for (const upload of uploads) upload.complete();
  await Promise.all(counted);
  await assert.rejects(bob!.invoke('NoSuchMethod', 1), /does not exist/);
  await bob!.invoke('GetHistory', 'lobby', 3);
  await hearing;
  for (const one of [ann!, bob!]) {
    await one.invoke('LeaveRoom', 'lobby');
    await one.stop();
    assert.equal(one.state, HubConnectionState.Disconnected);
  }
}

async function recorded(folder: CliFolder, target: string): Promise<void> {
  const recording = folder.startHere(['record', '--target', target, '--out', 'chat']);
  const first = await recording.said(/^\{.*\}$/m);
  await chat((JSON.parse(first) as { url: string }).url);
  recording.signal('SIGINT');
  const { code, stderr } = await recording.finished;
  assert.equal(code, 0, stderr);
}

describe('a replay', () => {
  it(
    'does what each client did as often as asked, and says what came',
    withFolder((folder) =>
      withHubHere('', async ({ url }) => {
        await recorded(folder, url);
        const token = { SIGNALR_BENCH_SECRET_SIGNALRBENCH: 'other-token' };
        // How long it takes is not judged.
        const replay = ['run', 'chat.recording.jsonl', '--set', 'slo.p99=1m'];
        const run = await folder.run([...replay, '--clients', `x${times}`, '--speed', '2'], token);
        assertRan(run);
        const result = folder.result('.signalr-bench');
        assert.equal(result.connections.connected, 2 * times);
        const [step] = result.steps;
        assert.deepEqual(step!.errors, {});
        const counts = (step!.calls ?? []).map(
          ({ name, recorded: seen, sent, expected, received, came }) => [
            ...[name, seen, sent, expected, received, came],
          ],
        );
        const answered = (name: string, count: number): unknown[] => [
          ...[name, count, count, count, count, undefined],
        ];
        const came = (name: string, count: number, least: number): void => {
          const row = counts.find(([one]) => one === name) ?? [];
          assert.deepEqual(row.slice(0, 5), [name, count, 0, 0, 0]);
          assert.ok(Number(row[5]) >= least, `${name}: ${row[5]}`);
        };
        assert.deepEqual(counts.slice(0, 9), [
          answered('JoinRoom', 2 * times),
          answered('SendMessage', posted * times),
          answered('LeaveRoom', 2 * times),
          ['Echo', echoes * times, echoes * times, 0, 0, undefined],
          answered('StreamingDownload', times),
          answered('StreamingUpload', 2 * times),
          [
            'StreamingUpload items sent',
            ...[2, 2].map((of) => of * items * times),
            0,
            0,
            undefined,
          ],
          answered('NoSuchMethod', times),
          answered('GetHistory', times),
        ]);
        came('RecordLatency', echoes * times, echoes * times);
        came('StreamingDownload items', items * times, items * times);
        // Who writes hears it at least; all replays are in one room, those that are there at that moment.
        came('MessagePosted', 2 * posted * times, posted * times);
        // Who connects is greeted before the measured time.
        came('OnConnected', 2 * times, 0);
        assert.equal(counts.length, 13);
        assert.deepEqual(
          [step!.sessions!.started, step!.sessions!.completed, step!.sessions!.brokenOff],
          [2 * times, 2 * times, 0],
        );
        const other = ['config.transport=LongPolling', 'config.protocol=messagepack'];
        // A worker is never idle in a step of a few milliseconds.
        const long = ['config.singleStepDuration=1s', 'scenario.parameters.spread=0s'];
        const sets = [...other, ...long].flatMap((each) => ['--set', each]);
        const polled = await folder.run([...replay, '--out', 'polled', '--json', ...sets], token);
        assertRan(polled);
        const { steps } = JSON.parse(polled.stdout) as Result;
        assert.deepEqual(
          steps[0]!.calls!.slice(0, 9).map(({ sent, received }) => [sent, received]),
          [
            ...[2, posted, 2].map((count) => [count, count]),
            [echoes, 0],
            [1, 1],
            [2, 2],
            [2 * items, 0],
            [1, 1],
            [1, 1],
          ],
        );
        const stored = folder.read(folder.onlyResult('.signalr-bench'), 'result.json');
        assert.doesNotMatch(stored + run.stdout + run.stderr, /är da|other-token|a-secret-token/);
      }),
    ),
  );

  it(
    'is refused with a sentence where there is nothing to replay, or the flags make no sense',
    withFolder(async (folder) => {
      const header = {
        ...{ schema: 'signalr-bench-recording/1', target: 'http://127.0.0.1:9/chat' },
        ...{ startedAt: '2026-11-23T10:00:00.000Z', kind: 'signalr' },
      };
      const opened = { t: 0, client: 1, ev: 'open', transport: 'WebSockets', protocol: 'json' };
      const called = { type: 1, invocationId: '0', target: 'Next', arguments: [1] };
      const lines = [
        header,
        { ...opened, path: '/chat', query: [] },
        { t: 10, client: 1, ev: 'out', m: called, bytes: 60 },
      ].map((line) => JSON.stringify(line));
      const whole = `${lines.join('\n')}\n`;
      folder.write('one.recording.jsonl', whole);
      folder.write('renamed.txt', whole);
      folder.write(
        'two.recording.jsonl',
        whole +
          whole.slice(whole.indexOf('\n') + 1).replace(/"t":\d+,"client":1/g, '"t":20,"client":2'),
      );
      folder.write('empty.recording.jsonl', '');
      folder.write('other.recording.jsonl', 'config: {}\n');
      folder.write('header.recording.jsonl', `${lines[0]!}\n`);
      folder.write('listened.recording.jsonl', `${lines.slice(0, 2).join('\n')}\n`);
      folder.write('cut.recording.jsonl', whole.slice(0, -20));
      folder.write('echo.yaml', 'config: { target: local }\n');
      const refused = async (args: string, problem: RegExp): Promise<void> => {
        const { code, stderr } = await folder.run(['run', ...args.split(' ')]);
        assert.equal(code, 2, args);
        assert.match(stderr, problem, args);
        assert.doesNotMatch(stderr, /^ {4}at /m, args);
      };
      await refused('empty.recording.jsonl', /empty.recording.jsonl is empty/);
      await refused('other.recording.jsonl', /other\.recording\.jsonl is not a recording/);
      await refused('header.recording.jsonl', /has no client of a SignalR hub/);
      await refused('listened.recording.jsonl', /nothing to replay/);
      await refused('cut.recording.jsonl', /nothing to replay|last line .* not whole/);
      await refused('none.recording.jsonl', /There is no file .*none.recording.jsonl/);
      const one = 'one.recording.jsonl';
      await refused(`${one} --speed 0`, /--speed .* Expected a number from 0.01 to 1000/);
      await refused(`${one} --speed fast`, /--speed .* Expected a number/);
      await refused(`${one} --clients 0`, /--clients .* Expected how often, from x1 to x1000000/);
      await refused(`${one} --clients 10000000`, /--clients .* Expected how often/);
      await refused(
        'two.recording.jsonl --clients x1000000',
        /1,000,000 × 2 recorded clients are 2,000,000 connections; at most 1,000,000 are possible/,
      );
      await refused(`${one} --spread soon`, /--spread .* Expected a duration/);
      await refused(`${one} --set config.driver=sdk`, /A replay sends by our own client/);
      await refused(
        `renamed.txt --on hosts --bus nats://127.0.0.1:9 --agents 2`,
        /one machine alone/,
      );
      await refused('echo.yaml --speed 2', /--speed belongs to the replay of a recording/);
      for (const command of ['validate', 'estimate']) {
        const { code, stdout, stderr } = await folder.run([command, 'renamed.txt']);
        assert.equal(code, 2);
        assert.match(stdout + stderr, /is a recording, not a scenario: replay it with run/);
      }
      // The host is not there: everything else was right.
      const { code, stderr } = await folder.run(['run', 'renamed.txt']);
      assert.equal(code, 3, stderr);
    }),
  );
});
