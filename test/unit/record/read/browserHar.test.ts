import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import { openImportFile } from '../../../../src/record/read/openImportFile';
import type { RecordedEvent } from '../../../../src/record/recording';
import { parseScenario } from '../../../../src/scenario/parseScenario';

const folder = path.resolve('test', 'fixtures', 'har');
const secret = 'hunter2';

/** File, transport, protocol, and whether there were cookies: those of the page's own server go to all ports of its host. */
const files = [
  ['webSockets', 'WebSockets', 'json', true],
  ['webSocketsMessagePack', 'WebSockets', 'messagepack', false],
  ['serverSentEvents', 'ServerSentEvents', 'json', true],
  ['longPolling', 'LongPolling', 'json', true],
  ['longPollingMessagePack', 'LongPolling', 'messagepack', true],
] as const;

async function imported(name: string) {
  const recording = (await openImportFile(path.join(folder, `${name}.har`)))!;
  const events = recording.events as readonly RecordedEvent[];
  return { recording, events, notes: recording.notes() };
}

/** Methods that were called, or called back, in the order of their times. */
const targets = (events: readonly RecordedEvent[], direction: 'in' | 'out'): string[] =>
  events.flatMap((event) =>
    event.ev === direction && 'm' in event && 'target' in event.m ? [event.m.target] : [],
  );

const texts = ['Good morning, everybody', 'Is the meeting at ten?', 'See you there'];

describe('HAR files that a browser has exported', () => {
  for (const [name, transport, protocol, cookies] of files)
    it(`are read: ${name}`, async () => {
      assert.ok(readFileSync(path.join(folder, `${name}.har`), 'utf8').includes(secret));
      const { recording, events, notes } = await imported(name);
      assert.deepEqual(notes, []);
      const [opened] = events;
      assert.ok(opened?.ev === 'open');
      assert.deepEqual(
        [opened.transport, opened.protocol, opened.headers, opened.cookies === true],
        [transport, protocol, ['x-api-key'], cookies],
      );
      assert.ok(opened.token === true || opened.query.includes('access_token'));
      assert.deepEqual(
        events.filter(({ ev }) => ev === 'open' || ev === 'close').map(({ client }) => client),
        [1, 1],
      );
      assert.ok(events.every(({ ev }) => ev !== 'gap') && !events.some((event) => 'raw' in event));
      const isPlain = protocol === 'messagepack';
      const posts = texts.flatMap(() => [...(isPlain ? [] : ['Typing']), 'SendMessage']);
      assert.deepEqual(targets(events, 'out'), [
        ...['JoinRoom', ...(isPlain ? [] : ['Present']), ...posts],
        ...['GetHistory', 'Acknowledge', 'LeaveRoom'],
      ]);
      const posted = targets(events, 'in').filter((target) => target === 'MessagePosted');
      assert.equal(posted.length, texts.length);
      const { yaml, found } = await scenarioFromRecording(recording);
      assert.equal(found.kinds[0]?.unfinished, 0);
      assert.match(yaml!, /callback: MessagePosted\n\s+receivers: group/);
      assert.match(yaml!, /repeat: 3\n/);
      for (const text of [yaml!, JSON.stringify({ found, recording })])
        assert.ok(!text.includes(secret));
      const { scenario, problems } = parseScenario(yaml!);
      assert.deepEqual(
        problems.filter(({ severity }) => severity === 'error'),
        [],
      );
      assert.ok(scenario !== undefined);
      assert.deepEqual(found.transports, [transport]);
    });

  it('are refused with what to do where the texts of server-sent events are left out', async () => {
    await assert.rejects(imported('serverSentEventsSanitized'), {
      code: 'import-file',
      message:
        /\.har: The events of 1 client with server-sent events are without their text: left out\. Allow "HAR with sensitive data" in the settings of the developer tools, and export with it\.$/,
    });
  });
});
