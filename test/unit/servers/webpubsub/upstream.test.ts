import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../../../src/servers/webpubsub/webPubSubEmulator';
import { endpointOf, json, Peer, rest } from '../../../fakes/pubSubPeer';

interface Event {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('upstream events of the emulator of Web PubSub', () => {
  let emulator: WebPubSubEmulator;
  let handler: Server;
  let origin: string;
  const events: Event[] = [];
  let answer: (event: Event, response: ServerResponse) => void;
  let allow: Record<string, string> = {};

  /** The type of each event so far, without its prefix. */
  const types = (): string[] =>
    events
      .filter(({ method }) => method === 'POST')
      .map(({ headers }) => String(headers['ce-type']).replace('azure.webpubsub.', ''));

  beforeEach(async () => {
    events.length = 0;
    allow = { 'WebHook-Allowed-Origin': '*' };
    answer = (_, response) => response.writeHead(204).end();
    handler = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const event = { method, url, headers, body: Buffer.concat(chunks).toString() };
        events.push(event);
        if (method === 'OPTIONS') response.writeHead(200, allow).end();
        else answer(event, response);
      });
    });
    await new Promise<void>((resolve) => handler.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(handler.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    await emulator.dispose();
    handler.close();
    handler.closeAllConnections();
  });

  const start = async (path = '/e', more: { upstreamTimeoutMs?: number } = {}): Promise<void> => {
    emulator = await startWebPubSubEmulator({ upstream: `${origin}${path}`, ...more });
  };

  const accept = ({ headers }: Event, response: ServerResponse, reply: () => void): void => {
    if (String(headers['ce-type']).includes('.sys.')) response.writeHead(204).end();
    else reply();
  };

  const untilOver = async (): Promise<void> => {
    while (emulator.connectionCount > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('carry all attributes, and the state the handler has set', async () => {
    answer = ({ headers, body }, response) => {
      const state = { 'ce-connectionState': `${String(headers['ce-connectionstate'] ?? '')}+` };
      response.writeHead(200, { ...state, 'Content-Type': String(headers['content-type']) });
      response.end(headers['ce-eventname'] === 'connect' ? '{"userId":"anna ü"}' : body);
    };
    await start('/api/{hub}?event={event}');
    const peer = await Peer.connect(emulator, { claims: { sub: 'ann', role: 'r', n: 1 } });
    const id = String(peer.connected['connectionId']);
    assert.equal(peer.connected['userId'], 'anna ü');
    const echo = await peer.ask({ type: 'event', event: 'to do', ackId: 1, data: { a: 1 } });
    assert.deepEqual([echo['type'], echo['success']], ['ack', true]);
    assert.deepEqual(await peer.message(), {
      type: 'message',
      from: 'server',
      dataType: 'json',
      data: { a: 1 },
    });
    peer.send({ type: 'event', event: 'to do', dataType: 'binary', data: 'AQI=' });
    assert.equal((await peer.message())['data'], 'AQI=');
    peer.socket.terminate();
    await untilOver();
    while (types().length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    const [preflight, connect, connected, first, second, disconnected] = events;
    assert.deepEqual(
      [preflight!.method, preflight!.url, preflight!.headers['webhook-request-origin']],
      ['OPTIONS', '/api/chat?event=validate', endpointOf(emulator).slice(7)],
    );
    const asked = JSON.parse(connect!.body) as Record<string, Record<string, unknown>>;
    assert.deepEqual([asked['claims']!['role'], asked['claims']!['n']], [['r'], ['1']]);
    assert.deepEqual([asked['subprotocols'], asked['query']], [[json], {}]);
    assert.equal(connect!.headers['ce-userid'], 'ann');
    assert.deepEqual(
      [connected!.body, disconnected!.body],
      ['{}', '{"reason":"The connection was lost."}'],
    );
    const key = /AccessKey=([^;]+)/.exec(emulator.connectionString)![1]!;
    const { headers } = first!;
    assert.deepEqual(
      {
        type: headers['ce-type'],
        source: headers['ce-source'],
        signature: headers['ce-signature'],
        userId: headers['ce-userid'],
        subprotocol: headers['ce-subprotocol'],
        hub: headers['ce-hub'],
        version: [headers['ce-specversion'], headers['ce-awpsversion']],
        state: headers['ce-connectionstate'],
        contentType: headers['content-type'],
      },
      {
        type: 'azure.webpubsub.user.to do',
        source: `/hubs/chat/client/${id}`,
        signature: `sha256=${createHmac('sha256', key).update(id).digest('hex')}`,
        userId: 'anna %C3%BC',
        subprotocol: json,
        hub: 'chat',
        version: ['1.0', '1.0'],
        state: '+',
        contentType: 'application/json; charset=utf-8',
      },
    );
    assert.equal(first!.url, '/api/chat?event=to%20do');
    assert.deepEqual(
      [second!.headers['ce-connectionstate'], second!.headers['content-type']],
      ['++', 'application/octet-stream'],
    );
    assert.deepEqual(types().slice(0, 2), ['sys.connect', 'sys.connected']);
  });

  it('let the handler decide on connects', async () => {
    let reply: [status: number, body: string] = [204, ''];
    answer = (_, response) => response.writeHead(reply[0]).end(reply[1]);
    await start();
    const open = (protocol: string | string[] = ['mine', json]): Promise<Peer> =>
      Peer.open(emulator, { protocol });
    for (const [status, body, refusal] of [
      [403, '', 403],
      [401, '', 401],
      [503, '', 503],
      [302, '', 500],
      [200, 'garbage', 500],
      [200, '{"subprotocol":"theirs"}', 500],
      [200, JSON.stringify({ groups: Array(10_001).fill('g') }), 500],
    ] as const) {
      reply = [status, body];
      await assert.rejects(open(), new RegExp(`refused with ${refusal}`));
    }
    reply = [200, `{"subprotocol":"${json}","roles":["webpubsub.sendToGroup"],"groups":["g"]}`];
    const peer = await open();
    assert.equal(peer.socket.protocol, json);
    assert.equal((await peer.message())['event'], 'connected');
    const got = await peer.ask({ type: 'sendToGroup', group: 'g', data: 1 });
    assert.equal(got['group'], 'g');
    reply = [200, '{"subprotocol":"mine"}'];
    assert.equal((await open()).socket.protocol, 'mine');
  });

  it('echo the frames of simple clients, in order', async () => {
    answer = (event, response) =>
      accept(event, response, () => {
        const { 'content-type': type } = event.headers;
        // The first answer comes last.
        const delayMs = event.body === 'one' ? 30 : 0;
        setTimeout(
          () => response.writeHead(200, { 'Content-Type': type }).end(event.body),
          delayMs,
        );
      });
    await start();
    const peer = await Peer.open(emulator);
    peer.send('one');
    peer.send(Buffer.from('two'));
    for (let n = 0; n < 50; n++) peer.send(String(n));
    const frames = [];
    while (frames.length < 52) frames.push((await peer.frame()).toString());
    assert.deepEqual(frames, ['one', 'two', ...Array.from({ length: 50 }, (_, n) => String(n))]);
  });

  it('drop the client when the handler fails, and say why', async () => {
    const typed =
      (type: string, body: string | Buffer) =>
      (response: ServerResponse): void =>
        void response.writeHead(200, { 'Content-Type': type }).end(body);
    const failures: [reply: (response: ServerResponse) => void, reason: RegExp][] = [
      [(response) => response.writeHead(500).end(), /answered with 500/],
      [(response) => response.writeHead(302, { Location: '/' }).end(), /answered with 302/],
      [(response) => response.destroy(), /could not be reached \(ECONNRESET\)/],
      [(response) => response.end('x'.repeat(1024 * 1024 + 1)), /more than 1048576 bytes/],
      [typed('application/json', '{"a":"\\x"}'), /a body that is not JSON, or nested too deeply/],
      [
        typed('application/json', '['.repeat(64) + ']'.repeat(64)),
        /not JSON, or nested too deeply/,
      ],
      [typed('application/json', Buffer.from([0x22, 0xff, 0x22])), /a body that is not UTF-8 text/],
      [typed('text/plain', Buffer.from([0xff])), /a body that is not UTF-8 text/],
    ];
    const fails = async ([reply, reason]: (typeof failures)[number]): Promise<void> => {
      answer = (event, response) => accept(event, response, () => reply(response));
      const peer = await Peer.connect(emulator);
      const ack = await peer.ask({ type: 'event', event: 'e', ackId: 1, data: 1 });
      assert.equal((ack['error'] as { name: string }).name, 'InternalServerError');
      assert.match(String((await peer.message())['message']), reason);
      assert.equal(await peer.closed, 1000);
    };
    await start('/e');
    for (const failure of failures) await fails(failure);
    await emulator.dispose();
    await start('/e', { upstreamTimeoutMs: 2000 });
    await fails([() => undefined, /did not answer within 2 s/]);
  });

  it('drop the client whose event has a name that is not a segment of a path', async () => {
    await start('/api/{hub}/{event}');
    for (const [event, shown] of [
      ['..', "'..'"],
      ['.', "'.'"],
      ['', 'an empty name'],
    ] as const) {
      const peer = await Peer.connect(emulator);
      const ack = await peer.ask({ type: 'event', event, ackId: 1, data: 1 });
      const message = `The upstream has no URL for the event ${shown}: it is not a segment of a path.`;
      assert.deepEqual(ack['error'], { name: 'InternalServerError', message });
      assert.equal(await peer.closed, 1000);
    }
    assert.ok(events.every(({ url }) => url.startsWith('/api/chat/')));
    assert.deepEqual(
      types().filter((type) => type.startsWith('user.')),
      [],
    );
  });

  it('go to handlers on this machine that want them, and are refused clearly otherwise', async () => {
    emulator = await startWebPubSubEmulator();
    const path = '/emulator/hubs/chat/handler';
    const put = async (body: object | string): Promise<unknown[]> => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const reply = await rest(emulator, 'PUT', path, { body: text });
      return [reply.status, reply.body['message']];
    };
    assert.equal((await rest(emulator, 'PUT', path, { token: null })).status, 401);
    const refused: [body: object | string, reason: RegExp][] = [
      ['', /JSON/],
      [{}, /url/],
      [{ url: origin, systemEvents: ['connect', 'reconnect'] }, /systemEvents/],
      [{ url: origin, systemEvents: 'connect' }, /systemEvents/],
      [{ url: 'nonsense' }, /not a URL/],
      [{ url: 'https://localhost/e' }, /http:/],
      [{ url: 'http://example.com/e' }, /loopback/],
      [{ url: 'http://{event}.localhost/e' }, /host/],
      [{ url: 'http://127.0.0.1:1/e' }, /could not be reached \(ECONNREFUSED\)/],
    ];
    for (const [body, reason] of refused) {
      const [status, message] = await put(body);
      assert.equal(status, 400);
      assert.match(String(message), reason);
    }
    for (const origins of ['example.com', '']) {
      allow = { 'WebHook-Allowed-Origin': origins };
      assert.match(String((await put({ url: origin }))[1]), /does not allow/);
    }
    const peer = await Peer.connect(emulator);
    allow = { 'WebHook-Allowed-Origin': 'example.com, 127.0.0.1' };
    assert.deepEqual(await put({ url: `${origin}/{event}` }), [200, undefined]);
    const ack = await peer.ask({ type: 'event', event: 'e', ackId: 1, data: 1 });
    assert.equal(ack['success'], true);
    assert.deepEqual(types(), ['user.e']);
    const withEvents = { url: origin, systemEvents: ['connected'] };
    assert.deepEqual(await put(withEvents), [200, undefined]);
    const other = await Peer.connect(emulator);
    assert.equal((await other.ask({ type: 'event', event: 'f', ackId: 1 }))['success'], true);
    while (types().length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(types().slice(1).sort(), ['sys.connected', 'user.f']);
    assert.equal((await rest(emulator, 'DELETE', path)).status, 204);
    assert.equal((await rest(emulator, 'DELETE', path)).status, 404);
    const later = await peer.ask({ type: 'event', event: 'e', ackId: 2, data: 1 });
    assert.equal((later['error'] as { name: string }).name, 'NotFound');
    await assert.rejects(startWebPubSubEmulator({ upstream: 'http://example.com' }), {
      code: 'bad-upstream',
    });
  });

  it('go to the first handler of the hub that wants them', async () => {
    emulator = await startWebPubSubEmulator();
    const put = async (body: object): Promise<number> => {
      const path = '/emulator/hubs/chat/handler';
      return (await rest(emulator, 'PUT', path, { body: JSON.stringify(body) })).status;
    };
    const handlers = [
      { url: `${origin}/first/{hub}/{event}`, userEvents: 'one,two', systemEvents: ['connected'] },
      { url: `${origin}/second`, userEvents: '', systemEvents: ['connect', 'connected'] },
      { url: `${origin}/third/{event}`, userEvents: 'three', systemEvents: [] },
    ];
    assert.equal(await put({ handlers: [...handlers, { url: 'http://example.com' }] }), 400);
    assert.equal(await put({ handlers: [{ url: origin, userEvents: ['one'] }] }), 400);
    assert.equal(await put({ handlers: 'one' }), 400);
    assert.equal(await put({ handlers }), 200);
    events.length = 0;
    const peer = await Peer.connect(emulator);
    for (const [index, event] of ['two', 'three', 'one', 'four'].entries()) {
      const ack = await peer.ask({ type: 'event', event, ackId: index + 1, data: 1 });
      assert.equal(ack['success'], event !== 'four', event);
    }
    const posted = events.filter(({ method }) => method === 'POST').map(({ url }) => url);
    assert.deepEqual(posted.sort(), [
      '/first/chat/connected',
      '/first/chat/one',
      '/first/chat/two',
      '/second',
      '/third/three',
    ]);
  });

  it('refuse clients while the handler cannot be reached, and take them once it can', async () => {
    const { port } = handler.address() as AddressInfo;
    await start();
    await new Promise((resolve) => handler.close(resolve));
    await assert.rejects(Peer.open(emulator), /refused with 500/);
    await new Promise<void>((resolve) => handler.listen(port, '127.0.0.1', resolve));
    await Peer.open(emulator);
    assert.equal(types()[0], 'sys.connect');
  });
});
