import * as assert from 'node:assert/strict';
import { startClassicHub } from '../../../../src/servers/classic/classicHub';
import type { BenchHub } from '../../../../src/servers/hub/benchHub';
import {
  ClassicPeer,
  classicUrl,
  eventsOf,
  negotiate,
  type Envelope,
} from '../../../fakes/classicPeer';
import { VirtualTime } from '../../../fakes/virtualTime';

describe('server-sent events of ASP.NET SignalR', () => {
  let hub: BenchHub;
  beforeEach(async () => (hub = await startClassicHub()));
  afterEach(() => hub.dispose());

  it('begin with a word of their own, and bring what a request causes', async () => {
    const { ConnectionToken: connectionToken, ConnectionId } = await negotiate(hub.url);
    const query = { transport: 'serverSentEvents', connectionToken };
    const events = eventsOf(await fetch(classicUrl(hub.url, 'connect', query)));
    assert.equal((await events.next()).value, 'initialized');
    const first = JSON.parse((await events.next()).value!) as Envelope;
    assert.deepEqual([first.S, first.M], [1, []]);
    const started = await fetch(classicUrl(hub.url, 'start', query));
    assert.equal(await started.text(), '{ "Response": "started" }');
    const greeting = JSON.parse((await events.next()).value!) as Envelope;
    assert.deepEqual(greeting.M, [{ H: 'SignalRBench', M: 'OnConnected', A: [ConnectionId] }]);
    // White space of the client, which would end the event.
    const data = '{"H":"signalrbench","M":"Echo","A":[{"n":\r\n1}],"I":7}';
    const body = new URLSearchParams({ data });
    const sent = await fetch(classicUrl(hub.url, 'send', query), { method: 'POST', body });
    assert.deepEqual(await sent.json(), { I: '7' });
    const echo = JSON.parse((await events.next()).value!) as Envelope;
    assert.deepEqual(echo.M, [{ H: 'SignalRBench', M: 'RecordLatency', A: [{ n: 1 }] }]);
    await fetch(classicUrl(hub.url, 'abort', query), { method: 'POST' });
    assert.equal((await events.next()).done, true);
    assert.equal(hub.connectionCount, 0);
  });
});

describe('long polling of ASP.NET SignalR', () => {
  let hub: BenchHub;
  let query: Record<string, string>;
  const post = async (command: string, form: Record<string, string> = {}): Promise<Envelope> => {
    const body = new URLSearchParams(form);
    const response = await fetch(classicUrl(hub.url, command, query), { method: 'POST', body });
    const text = await response.text();
    assert.ok(response.ok, text);
    return (text === '' ? {} : JSON.parse(text)) as Envelope;
  };
  const call = (M: string, ...A: unknown[]): Record<string, string> => ({
    data: JSON.stringify({ H: 'signalrbench', M, A, I: 0 }),
  });

  beforeEach(async () => {
    hub = await startClassicHub();
    const { ConnectionToken: connectionToken } = await negotiate(hub.url);
    query = { transport: 'longPolling', connectionToken };
  });
  afterEach(() => hub.dispose());

  it('brings with each poll what came since the last', async () => {
    const first = await post('connect');
    assert.deepEqual([first.S, first.M], [1, []]);
    await post('start');
    const greeting = await post('poll', { messageId: first.C! });
    assert.equal(greeting.M?.[0]?.M, 'OnConnected');
    const waiting = post('poll', { messageId: greeting.C! });
    await post('send', call('Echo', { n: 1 }));
    const echo = await waiting;
    assert.deepEqual(
      echo.M?.map(({ A }) => A),
      [[{ n: 1 }]],
    );
    await post('send', call('Echo', { n: 2 }));
    const again = await post('poll', { messageId: echo.C! });
    assert.deepEqual(
      again.M?.map(({ A }) => A),
      [[{ n: 2 }]],
    );
    await post('abort');
    assert.equal(hub.connectionCount, 0);
  });

  it('keeps a client in the groups that its token shows, and in no others', async () => {
    const first = await post('connect');
    await post('send', call('JoinGroup', 'a'));
    const { C: messageId = '', G: groupsToken = '' } = await post('poll', { messageId: first.C! });
    assert.notEqual(groupsToken, '');
    const toGroup = call('SendToGroup', { 'information.GroupName': 'a' });
    await post('send', toGroup);
    const shown = await post('poll', { messageId, groupsToken });
    assert.equal(shown.M?.length, 1);
    // As in the official server, which knows the groups by the token alone.
    const forgetful = post('reconnect', { messageId: shown.C! });
    await post('send', toGroup);
    await post('send', call('Echo', { n: 1 }));
    assert.deepEqual(
      (await forgetful).M?.map(({ A }) => A),
      [[{ n: 1 }]],
    );
  });

  it('knows a client that has missed its first groups token', async () => {
    const first = await post('connect');
    await post('send', call('JoinGroup', 'a'));
    await post('poll', { messageId: first.C! });
    const again = await post('reconnect', { messageId: first.C! });
    assert.notEqual(again.G, undefined);
    const waiting = post('poll', { messageId: again.C!, groupsToken: again.G! });
    await post('send', call('SendToGroup', { 'information.GroupName': 'a' }));
    assert.equal((await waiting).M?.length, 1);
  });

  it('takes a groups token of nobody else', async () => {
    const other = await ClassicPeer.start(hub.url);
    await other.invoke('JoinGroup', 'a');
    const first = await post('connect');
    const waiting = post('reconnect', { messageId: first.C!, groupsToken: other.groupsToken });
    await other.invoke('SendToGroup', { 'information.GroupName': 'a' });
    await post('send', call('Echo', { n: 1 }));
    assert.deepEqual(
      (await waiting).M?.map(({ A }) => A),
      [[{ n: 1 }]],
    );
  });

  it('sends white space to keep a poll alive, and ends one that waits for long', async () => {
    await hub.dispose();
    const time = new VirtualTime().install();
    try {
      hub = await startClassicHub();
      const { ConnectionToken: connectionToken } = await negotiate(hub.url);
      query = { transport: 'longPolling', connectionToken };
      const first = await post('connect');
      const body = new URLSearchParams({ messageId: first.C! });
      const poll = fetch(classicUrl(hub.url, 'poll', query), { method: 'POST', body });
      await negotiate(hub.url);
      await time.to(110_000);
      const text = await (await poll).text();
      assert.match(text, /^ +\{"C":"/);
      assert.deepEqual((JSON.parse(text) as Envelope).M, []);
    } finally {
      time.restore();
    }
  });
});
