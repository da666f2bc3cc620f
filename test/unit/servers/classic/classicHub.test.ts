import { startClassicHub } from '../../../../src/servers/classic/classicHub';
import type { BenchHub } from '../../../../src/servers/hub/benchHub';
import { ClassicPeer, negotiate } from '../../../fakes/classicPeer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conversationWith, type Conversation } from '../../../fakes/classicConversation';
import * as assert from 'node:assert/strict';

describe('the hub of ASP.NET SignalR', () => {
  let hub: BenchHub;
  beforeEach(async () => (hub = await startClassicHub()));
  afterEach(() => hub.dispose());

  it('sends to groups, to everyone and to one client', async () => {
    const [first, second] = [await ClassicPeer.start(hub.url), await ClassicPeer.start(hub.url)];
    await first.invoke('JoinGroup', 'a');
    assert.deepEqual(first.calls('JoinGroup'), [[]]);
    const toGroup = { 'information.GroupName': 'a', n: 1 };
    const toFirst = { 'information.ConnectionId': first.negotiated.ConnectionId, n: 2 };
    await second.invoke('SendToGroup', toGroup);
    await second.invoke('SendToClient', toFirst);
    await second.invoke('Broadcast', { n: 3 });
    await first.invoke('LeaveGroup', 'a');
    await second.invoke('SendToGroup', toGroup);
    await first.invoke('ConnectionId');
    assert.deepEqual(first.calls('RecordLatency'), [[toGroup], [toFirst], [{ n: 3 }]]);
    assert.deepEqual(second.calls('RecordLatency'), [[{ n: 3 }]]);
    assert.equal(hub.counts.deliveries, 4);
  });

  it('sends to a lost connection when it is back', async () => {
    const [lost, other] = [await ClassicPeer.start(hub.url), await ClassicPeer.start(hub.url)];
    await lost.invoke('JoinGroup', 'a');
    await lost.lose();
    await other.untilHeard();
    await other.invoke('SendToGroup', { 'information.GroupName': 'a', n: 1 });
    await other.invoke('Broadcast', { n: 2 });
    const again = await ClassicPeer.open(hub.url, lost);
    await again.until(({ M }) => M !== undefined);
    assert.deepEqual(again.calls('RecordLatency'), [
      [{ 'information.GroupName': 'a', n: 1 }],
      [{ n: 2 }],
    ]);
  });

  it('has versions of the protocol within its bounds', async () => {
    const versionFor = async (clientProtocol: string): Promise<unknown> =>
      ((await negotiate(hub.url, { clientProtocol })) as { ProtocolVersion?: string })
        .ProtocolVersion;
    assert.deepEqual(
      [await versionFor('1.5'), await versionFor('2.1'), await versionFor('1.0')],
      ['1.5', '2.0', '1.4'],
    );
  });
});

/** Of Microsoft.AspNet.SignalR.Core 2.4.1, written by `test/interop/classicServer.test.ts`. */
const recorded = JSON.parse(
  readFileSync(join('test', 'fixtures', 'classic', 'officialServer.json'), 'utf8'),
) as Conversation;

describe('the hub of ASP.NET SignalR in a recorded conversation', () => {
  it('answers as the official server did', async () => {
    const hub = await startClassicHub();
    try {
      assert.deepEqual(await conversationWith(hub.url), recorded);
    } finally {
      await hub.dispose();
    }
  });
});
