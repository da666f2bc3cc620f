import assert from 'node:assert/strict';
import * as http from 'node:http';
import * as https from 'node:https';
import { connectHub } from '../../../src/wire/connect/connectHub';
import type { Endpoint } from '../../../src/base/endpoint';
import type { HubConnection } from '../../../src/wire/hub/clientConnection';
import { SocketAgents } from '../../../src/wire/socket/socket';
import { endpointOf } from '../../fakes/endpoint';
import { hubFrame } from '../../fakes/frames';
import { certificate, certificateKey, startRawHub, type RawHub } from '../../fakes/rawHub';
import { RecordingListener } from '../../fakes/recordingListener';
import { testServers } from '../../fakes/testServers';

const options = { maximumMessageBytes: 100_000, maximumUnsentBytes: 1024 * 1024 };

describe('a connection', () => {
  const listen = testServers();
  let hub: RawHub;
  let listener: RecordingListener;

  async function start(secure: boolean): Promise<void> {
    hub = await startRawHub({ secure });
    listener = new RecordingListener();
  }
  afterEach(() => hub.dispose());

  async function open(url: string, changes: Partial<Endpoint> = {}): Promise<HubConnection> {
    const endpoint = endpointOf(url, { skipNegotiation: true, ...changes });
    const agents = new SocketAgents(endpoint, 1);
    try {
      return await connectHub(
        0,
        { endpoint, agents, listener, options },
        new AbortController().signal,
      );
    } finally {
      agents.destroy();
    }
  }

  it('over TLS works with the right authority, by address and by name', async () => {
    await start(true);
    for (const url of [hub.url, hub.url.replace('127.0.0.1', 'localhost')]) {
      const connection = await open(url, { ca: certificate });
      const peer = await hub.nextPeer();
      peer.socket.write(hubFrame({ type: 6 }));
      assert.equal(await listener.nextText(), '{"type":6}\x1e');
      connection.destroy();
    }
  });

  it('over TLS works with any certificate when insecureTls is set', async () => {
    await start(true);
    (await open(hub.url, { insecureTls: true })).destroy();
  });

  it('over TLS is refused with class tls when the certificate is not trusted', async () => {
    await start(true);
    await assert.rejects(open(hub.url), { errorClass: 'tls', message: /certificate/ });
  });

  it('over TLS is refused with class tls by a server that does not speak TLS', async () => {
    await start(false);
    const port = await listen(http.createServer());
    await assert.rejects(open(`https://127.0.0.1:${port}/`), { errorClass: 'tls' });
  });

  it('negotiates with the same authority and the same distrust', async () => {
    await start(true);
    const server = https.createServer({ cert: certificate, key: certificateKey }, (_, response) =>
      response.end(JSON.stringify({ url: hub.url, error: 'reached' })),
    );
    const url = `https://127.0.0.1:${await listen(server)}/hub`;
    await assert.rejects(open(url, { skipNegotiation: false }), { errorClass: 'tls' });
    for (const trust of [{ ca: certificate }, { insecureTls: true }])
      await assert.rejects(open(url, { skipNegotiation: false, ...trust }), /reached/);
  });

  it('to localhost finds a server that listens on 127.0.0.1 only', async () => {
    await start(false);
    (await open(hub.url.replace('127.0.0.1', 'localhost'))).destroy();
  });

  it('to a host that does not exist fails with class dns', async () => {
    await start(false);
    await assert.rejects(open('http://does-not-exist.invalid/hub'), { errorClass: 'dns' });
  });

  it('adds the query, spreads over the URLs and hides both in errors', async () => {
    await start(false);
    const other = await startRawHub({ head: () => 'HTTP/1.1 503 Busy' });
    const endpoint = endpointOf('', {
      urls: [hub.url, other.url],
      query: { key: 'hidden' },
      skipNegotiation: true,
    });
    const agents = new SocketAgents(endpoint, 1);
    const context = { endpoint, agents, listener, options };
    try {
      const first = await connectHub(2, context, new AbortController().signal);
      assert.match((await hub.nextPeer()).request, /^GET \/hub\?key=hidden HTTP/);
      await assert.rejects(connectHub(1, context, new AbortController().signal), {
        errorClass: 'upgrade',
        message: `upgrade: ${other.url} answered 503 Busy`,
      });
      first.destroy();
    } finally {
      await other.dispose();
    }
  });
});
