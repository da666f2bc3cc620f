import assert from 'node:assert/strict';
import { noSignals, skipAloud } from '../fakes/skipAloud';
import { json, Peer, reliableJson } from '../fakes/pubSubPeer';
import { CliFolder } from './cliFolder';

const groupCount = 10;
const membersPerGroup = 6;
const messages = 500;

describe('signalr-bench serve web-pubsub', function () {
  let folder: CliFolder;

  before(() => (folder = new CliFolder()));
  after(() => folder.dispose());

  it('delivers each message once to each member of its group, and ends on SIGTERM', async function () {
    if (process.platform === 'win32') skipAloud(this, noSignals);
    const serving = folder.start(['serve', 'web-pubsub', '--port', '0']);
    let firstLine = '';
    serving.child.stdout?.on('data', (text: string) => (firstLine += text));
    await serving.said('\n');
    const { connectionString } = JSON.parse(firstLine.split('\n')[0]!) as {
      connectionString: string;
    };
    const emulator = { connectionString };
    const groups: Peer[][] = [];
    for (let group = 0; group < groupCount; group++) {
      const claims = { role: ['webpubsub.sendToGroup'], 'webpubsub.group': [`g${group}`] };
      const protocol = group % 2 === 0 ? json : reliableJson;
      const members = Array.from({ length: membersPerGroup }, () =>
        Peer.connect(emulator, { claims, protocol }),
      );
      groups.push(await Promise.all(members));
    }
    for (let n = 0; n < messages; n++) {
      const group = n % groupCount;
      const sender = groups[group]![n % membersPerGroup]!;
      sender.send({ type: 'sendToGroup', group: `g${group}`, data: n });
    }
    for (const [group, members] of groups.entries()) {
      const expected = Array.from({ length: messages }, (_, n) => n).filter(
        (n) => n % groupCount === group,
      );
      for (const member of members) {
        const received: unknown[] = [];
        while (received.length < expected.length) received.push((await member.message())['data']);
        // Senders are on sockets of their own: only each one's messages have an order.
        assert.deepEqual(
          received.sort((a, b) => Number(a) - Number(b)),
          expected,
        );
      }
    }
    const closed = groups.flat().map((peer) => peer.closed);
    serving.child.kill('SIGTERM');
    const done = await serving.finished;
    assert.deepEqual([done.code, done.stdout.split('\n').length], [0, 2]);
    assert.match(done.stderr, /not of Azure/);
    for (const code of await Promise.all(closed)) assert.ok(code === 1001, String(code));
    assert.equal(
      groups.flat().reduce((sum, { received }) => sum + received.length, 0),
      groupCount * membersPerGroup,
    );
  });
});
