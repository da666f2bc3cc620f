import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { withFolder } from '../load/cliFolder';
import { judgeRun } from '../load/recordedTraffic';
import { sharedAspNetServer } from './aspnetServer';

interface Posted {
  readonly id: string;
  readonly author: string;
}

const messages = 3;
/** As long as those of a run. */
const room = 'a-room-of-two-people';

/** Writes, and acknowledges each message of its own by the number that only the callback has. */
async function person(url: string, name: string): Promise<void> {
  const connection = new HubConnectionBuilder()
    .withUrl(url)
    .configureLogging(LogLevel.None)
    .build();
  const posts = new EventEmitter();
  connection.on('MessagePosted', (posted: Posted) => posts.emit(posted.author, posted.id));
  await connection.start();
  await connection.invoke('JoinRoom', room);
  await setTimeout(60);
  for (let message = 0; message < messages; message++) {
    const heard = once(posts, name) as Promise<[string]>;
    const text = `${name} writes line no. ${message} `.repeat(5);
    await connection.invoke('SendMessage', room, { author: name, text });
    const [id] = await heard;
    await setTimeout(60);
    await connection.invoke('Acknowledge', id);
    await setTimeout(60);
  }
  await connection.invoke('LeaveRoom', room);
  await setTimeout(30);
  await connection.stop();
}

describe('numbers that an ASP.NET Core chat gives in callbacks alone', function () {
  const server = sharedAspNetServer();

  it(
    'are sent back by the scenario of a recording, and none is refused',
    withFolder(async (folder) => {
      const target = new URL('/chat', server.url).href;
      const recording = folder.startHere(['record', '--target', target, '--out', 'chat']);
      const { url } = JSON.parse(await recording.said(/^\{.*\}$/m)) as { url: string };
      await Promise.all(['annie', 'bob'].map((name) => person(url, name)));
      recording.signal('SIGINT');
      const { code, stderr } = await recording.finished;
      assert.equal(code, 0, stderr);
      assert.match(
        folder.read('chat.signalr.yaml'),
        /- on: MessagePosted\n +keep: \{ id: '\$\[0\]\.id' \}\n[^-]*- wait: .*\n +- call: Acknowledge\n +arguments: \[ '\{id\}' \]/,
      );
      // The hub refuses what is the number of no message.
      const { calls } = await judgeRun(folder);
      for (const name of ['MessagePosted', 'Acknowledge'])
        assert.ok(calls!.find((call) => call.name === name)!.received > 0, name);
    }),
  );
});
