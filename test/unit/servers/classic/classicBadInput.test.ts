import * as assert from 'node:assert/strict';
import { startClassicHub } from '../../../../src/servers/classic/classicHub';
import { readClassicMessage } from '../../../../src/servers/classic/classicProtocol';
import type { BenchHub } from '../../../../src/servers/hub/benchHub';
import type { BenchHubOptions } from '../../../../src/servers/hub/benchHubOptions';
import { ClassicPeer, classicUrl, hubData, negotiate } from '../../../fakes/classicPeer';
import { VirtualTime } from '../../../fakes/virtualTime';

describe('requests that the hub of ASP.NET SignalR refuses', () => {
  let hub: BenchHub;
  beforeEach(async () => (hub = await startClassicHub()));
  afterEach(() => hub.dispose());

  const answerTo = async (command: string, query: Record<string, string>): Promise<string> => {
    const response = await fetch(classicUrl(hub.url, command, query));
    return `${response.status} ${await response.text()}`;
  };

  it('name another hub, or come by another protocol', async () => {
    const unknown = '[{"name":"Other"}]';
    assert.equal(
      await answerTo('negotiate', { connectionData: unknown }),
      "500 'Other' Hub could not be resolved.",
    );
    for (const connectionData of [
      '{',
      '[{}]',
      '[5]',
      `${hubData.slice(0, -1)},${hubData.slice(1)}`,
    ])
      assert.match(
        await answerTo('negotiate', { connectionData }),
        /^500 connectionData has to be/,
      );
    const core = await fetch(`${hub.url}/negotiate?negotiateVersion=1`, { method: 'POST' });
    assert.equal(core.status, 404);
    assert.match(await core.text(), /connectionType: AspNet/);
    assert.match(await answerTo('negotiate', { callback: 'f' }), /^403 JSONP is not served/);
  });

  it('have no transport, or no token of this server', async () => {
    const { ConnectionToken: connectionToken } = await negotiate(hub.url);
    const transport = 'longPolling';
    assert.equal(
      await answerTo('connect', { connectionToken, transport: 'foreverFrame' }),
      '400 Protocol error: Unknown transport.',
    );
    assert.equal(
      await answerTo('connect', { transport }),
      '400 Protocol error: Missing connection token.',
    );
    const own = await startClassicHub();
    const foreign = (await negotiate(own.url)).ConnectionToken;
    await own.dispose();
    for (const token of [foreign, 'x', '!', connectionToken.slice(4)])
      assert.equal(
        await answerTo('connect', { transport, connectionToken: token }),
        '400 The ConnectionId is in the incorrect format.',
      );
    assert.equal(
      await answerTo('connect', { transport: 'webSockets', connectionToken }),
      '400 Not a valid web socket request.',
    );
    assert.equal(hub.connectionCount, 0);
  });

  it('send what is no call', async () => {
    const peer = await ClassicPeer.start(hub.url);
    const { ConnectionToken: connectionToken } = peer.negotiated;
    const url = classicUrl(hub.url, 'send', { transport: 'longPolling', connectionToken });
    for (const data of ['', '{', '[]', '{"H":"other","M":"Echo","A":[]}', '{"H":"signalrbench"}']) {
      const body = new URLSearchParams({ data });
      const response = await fetch(url, { method: 'POST', body });
      assert.match(`${response.status} ${await response.text()}`, /^500 A send has to be a call/);
    }
    // Over a web socket nothing answers, and nothing ends.
    peer.socket.send('garbage');
    peer.socket.send(Buffer.from([1, 2]));
    assert.equal((await peer.invoke('GetConnectionId')).R, peer.negotiated.ConnectionId);
    assert.equal(hub.counts.invocations, 1);
  });

  it('are forms of more fields than ASP.NET takes', async () => {
    const { ConnectionToken: connectionToken } = await negotiate(hub.url);
    const url = classicUrl(hub.url, 'send', { transport: 'longPolling', connectionToken });
    const answer = async (fields: number): Promise<string> => {
      const response = await fetch(url, {
        method: 'POST',
        body: Array(fields).fill('a').join('&'),
      });
      return `${response.status} ${await response.text()}`;
    };
    assert.equal(await answer(1001), '400 A form has at most 1000 fields.');
    assert.match(await answer(1000), /^400 This connection has ended/);
  });

  it('come from pages of elsewhere, or in another method', async () => {
    const elsewhere = await fetch(classicUrl(hub.url, 'negotiate'), {
      headers: { Origin: 'https://example.com' },
    });
    assert.equal(elsewhere.status, 403);
    const put = await fetch(classicUrl(hub.url, 'negotiate'), { method: 'PUT' });
    assert.equal(put.status, 405);
    const here = await fetch(classicUrl(hub.url, 'negotiate'), {
      headers: { Origin: 'http://localhost:3000' },
    });
    assert.equal(here.headers.get('access-control-allow-origin'), 'http://localhost:3000');
    assert.equal(here.headers.get('access-control-allow-credentials'), 'true');
  });
});

describe('calls of ASP.NET SignalR', () => {
  const read = (text: string): unknown => {
    const message = readClassicMessage(Buffer.from(text));
    return message && [message.hub, message.target, message.invocationId, message.argumentCount];
  };

  it('have their members in any order, and ids of two kinds', () => {
    assert.deepEqual(read('{"I":0,"A":[1,{"x":[2]}],"M":"Echo","H":"h"}'), ['h', 'Echo', '0', 2]);
    assert.deepEqual(read(' {"H":"h","M":"m","A":null,"S":{},"I":"7","Z":1} '), ['h', 'm', '7', 0]);
    assert.deepEqual(read('{"H":"h","M":"m"}'), ['h', 'm', '', 0]);
  });

  it('are none when malformed, too deep, or with too long a state', () => {
    const state = JSON.stringify({ x: 'y'.repeat(4100) });
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    for (const text of [
      '',
      '{}',
      '{"H":"h","M":"m","I":{}}',
      '{"H":"h","M":"m","I":1.5}',
      '{"H":"h","M":"m"}}',
      `{"H":"h","M":"m","S":${state}}`,
      `{"H":"h","M":"m","A":${deep}}`,
      `{"H":"h","M":"${'m'.repeat(600)}"}`,
    ])
      assert.equal(read(text), undefined, text.slice(0, 40));
  });
});

describe('faults of the hub of ASP.NET SignalR', () => {
  let hub: BenchHub;
  const start = async (options: BenchHubOptions): Promise<BenchHub> =>
    (hub = await startClassicHub(options));
  afterEach(() => hub.dispose());

  it('drop and double deliveries, and refuse connects', async () => {
    await start({ dropEvery: 3, dupEvery: 2, refuse: 1, throttle: { count: 1, retryAfterS: 2 } });
    await assert.rejects(negotiate(hub.url), /503.*--refuse/);
    await assert.rejects(negotiate(hub.url), /429.*--throttle/);
    const peer = await ClassicPeer.start(hub.url);
    for (const n of [1, 2, 3, 4]) await peer.invoke('Echo', { n });
    assert.deepEqual(
      peer.calls('RecordLatency').map(([payload]) => (payload as { n: number }).n),
      [1, 2, 2, 4, 4],
    );
  });

  it('hold what is read while the hub stalls', async () => {
    const time = new VirtualTime().install();
    try {
      await start({ stall: { afterMs: 0, forMs: 300 } });
      const peer = await ClassicPeer.start(hub.url);
      await peer.invoke('Echo', { n: 1 });
      await time.to(299);
      const others = [2, 3].map((n) => peer.invoke('Echo', { n }));
      // What has come before this request would have been read.
      await negotiate(hub.url);
      assert.deepEqual(peer.calls('RecordLatency'), [[{ n: 1 }]]);
      await time.to(300);
      await Promise.all(others);
      assert.deepEqual(peer.calls('RecordLatency'), [[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
    } finally {
      time.restore();
    }
  });

  it('close with an error', async () => {
    await start({ closeAfter: 1 });
    const peer = await ClassicPeer.start(hub.url);
    peer.send({ H: 'signalrbench', M: 'Echo', A: [{}], I: 0 });
    await assert.rejects(
      peer.until(() => false),
      /closed/,
    );
    assert.match(peer.got.at(-1)!.E!, /^Closed on purpose after 1 invocations/);
    await assert.rejects(ClassicPeer.open(hub.url, peer), /400/);
    assert.equal(hub.connectionCount, 0);
  });

  it('drop the oldest of more than 1,000 messages for who is away', async () => {
    await start({});
    const [away, other] = [await ClassicPeer.start(hub.url), await ClassicPeer.start(hub.url)];
    await away.lose();
    await other.untilHeard();
    for (let n = 1; n <= 1002; n++) await other.invoke('Broadcast', { n });
    const again = await ClassicPeer.open(hub.url, away);
    await again.until(({ M = [] }) => JSON.stringify(M).includes('{"n":1002}'));
    assert.deepEqual(
      again.calls('RecordLatency'),
      Array.from({ length: 1000 }, (_, at) => [{ n: at + 3 }]),
    );
  });

  it('drop the oldest for who does not read, and go on in order', async () => {
    await start({ maxUnreadBytes: 256 * 1024 });
    const [slow, other] = [await ClassicPeer.start(hub.url), await ClassicPeer.start(hub.url)];
    slow.socket.pause();
    const blob = 'x'.repeat(20_000);
    const to = { 'information.ConnectionId': slow.negotiated.ConnectionId };
    // More than 1,000, and what sockets hold.
    const count = 2000;
    for (let n = 0; n < count; n++) await other.invoke('SendToClient', { ...to, n, blob });
    slow.socket.resume();
    const numbers = (): number[] =>
      slow.calls('RecordLatency').map(([payload]) => (payload as { n: number }).n);
    await slow.until(() => numbers().at(-1) === count - 1);
    assert.deepEqual(
      numbers(),
      [...new Set(numbers())].sort((a, b) => a - b),
    );
    assert.ok(numbers().length >= 1000 && numbers().length < count, `${numbers().length}`);
    assert.equal(slow.closed, false);
  });

  it('let in by a token of the key alone', async () => {
    await start({ tokenKey: 'key' });
    await assert.rejects(negotiate(hub.url), /401/);
  });

  it('forget a client that stays away', async () => {
    const time = new VirtualTime().install();
    const peer = await start({}).then(() => ClassicPeer.start(hub.url));
    await peer.lose();
    // Once this is answered, the hub knows of the loss.
    await negotiate(hub.url);
    await time.to(29_000);
    assert.equal(hub.connectionCount, 1);
    await time.to(31_000);
    time.restore();
    assert.equal(hub.connectionCount, 0);
    // It comes back as from another server of the same keys: with nothing missed, and in no group.
    const again = await ClassicPeer.open(hub.url, peer);
    assert.equal((await again.invoke('GetConnectionId')).R, peer.negotiated.ConnectionId);
  });
});
