import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpTransport } from '../../../../src/base/endpoint';
import { ConnectFailure } from '../../../../src/wire/connectFailure';
import { ConnectStopwatch } from '../../../../src/wire/socket/socket';
import { Cookies } from '../../../../src/wire/socket/cookies';
import { HttpConnection } from '../../../../src/wire/http/httpConnection';
import { endpointOf } from '../../../fakes/endpoint';
import { answer, HttpHub, type HeldRequest } from '../../../fakes/httpHub';
import { certificate } from '../../../fakes/rawHub';
import { RecordingListener } from '../../../fakes/recordingListener';
import { VirtualTime } from '../../../fakes/virtualTime';

const eventStream = { 'Content-Type': 'text/event-stream' };
const noTime = { maximumMessageBytes: 100_000, maximumUnsentBytes: 10_000 };
const message = (text: string): Buffer => Buffer.from(`{"type":1,"x":"${text}"}\x1e`);

describe('HttpConnection', () => {
  let hub: HttpHub;
  let listener: RecordingListener;
  let connections: HttpConnection[];
  let renewals: number;
  let renew: () => Promise<string | undefined>;
  let renewAtMs: number | undefined;
  let time: VirtualTime;

  beforeEach(async () => {
    time = new VirtualTime().install();
    hub = new HttpHub();
    listener = new RecordingListener();
    connections = [];
    renewals = 0;
    renew = () => Promise.resolve(undefined);
    renewAtMs = undefined;
    await hub.listen();
  });
  afterEach(() => {
    time.restore();
    for (const connection of connections) connection.destroy();
    return hub.dispose();
  });

  function open(
    transport: HttpTransport,
    signal = new AbortController().signal,
    stopwatch?: ConnectStopwatch,
  ): Promise<HttpConnection> {
    const where = {
      url: hub.url,
      headers: { 'X-Own': 'y' },
      cookies: new Cookies(),
      accessToken: 'token 0',
      renew: async () => ({ accessToken: await renew() }),
      renewAtMs,
    };
    const endpoint = endpointOf(hub.url.href, { transport, ca: certificate });
    const opening = HttpConnection.open(where, {
      index: 7,
      endpoint,
      listener,
      options: noTime,
      signal,
      stopwatch,
    });
    opening.then(
      (connection) => connections.push(connection),
      () => undefined,
    );
    return opening;
  }

  /** Opens with server-sent events; returns the request that holds the stream. */
  async function streaming(): Promise<{ connection: HttpConnection; stream: HeldRequest }> {
    const opening = open('ServerSentEvents');
    const stream = await hub.next('GET');
    assert.equal(stream.headers.accept, 'text/event-stream');
    stream.response.writeHead(200, { ...eventStream, 'Set-Cookie': 'node=3; Path=/' });
    stream.response.write(':\r\n');
    const shake = await hub.next('POST');
    assert.equal(shake.body, '{"protocol":"json","version":1}\x1e');
    assert.equal(shake.headers.cookie, 'node=3', 'a cookie of the stream');
    assert.equal(shake.headers['x-own'], 'y');
    answer(shake);
    stream.response.write('data: {}\x1e\r\n\r\n');
    return { connection: await opening, stream };
  }

  /** Opens with long polling; returns the poll that waits. */
  async function polling(): Promise<{ connection: HttpConnection; poll: HeldRequest }> {
    const opening = open('LongPolling');
    answer(await hub.next('GET'));
    const shake = await hub.next('POST');
    answer(shake);
    answer(await hub.next('GET'), 200, '{}\x1e{"type":6}\x1e');
    const connection = await opening;
    assert.equal(await listener.nextText(), '{"type":6}\x1e', 'what came behind the handshake');
    return { connection, poll: await hub.next('GET') };
  }

  async function failureOf(opening: Promise<unknown>): Promise<ConnectFailure> {
    const failure: unknown = await opening.then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(failure instanceof ConnectFailure);
    return failure;
  }

  it('hands on what the stream brings, with its length in it', async () => {
    const { connection, stream } = await streaming();
    assert.equal(connection.isOpen, true);
    assert.equal(connection.index, 7);
    assert.equal(connection.hasOwnKeepAlive, false);
    stream.response.write('data: {"type":6}\x1e\r\n');
    stream.response.write('\r\n');
    assert.equal(await listener.nextText(), '{"type":6}\x1e');
    assert.deepEqual(listener.frameBytes, ['data: {"type":6}\x1e\r\n\r\n'.length]);
  });

  it('reports the phases of connecting', async () => {
    const stopwatch = new ConnectStopwatch();
    const opening = open('LongPolling', undefined, stopwatch);
    answer(await hub.next('GET'));
    answer(await hub.next('POST'));
    answer(await hub.next('GET'), 200, '{}\x1e');
    await opening;
    assert.deepEqual(Object.keys(stopwatch.us), ['tcp', 'upgrade', 'handshake']);
  });

  it('sends one request at a time, and together what was due meanwhile', async () => {
    const { connection } = await streaming();
    const frame = message('a');
    connection.send(frame);
    // The bytes may be used again at once.
    frame.fill(0);
    const first = await hub.next('POST');
    assert.equal(first.body, message('a').toString());
    connection.send(message('b'));
    connection.send(message('c'));
    // Long enough for a request to arrive.
    await sleep(50);
    assert.equal(hub.held, 0);
    answer(first);
    const second = await hub.next('POST');
    assert.equal(second.body, `${message('b').toString()}${message('c').toString()}`);
    answer(second);
  });

  it('polls again at once, and hands on what came', async () => {
    const { connection, poll } = await polling();
    assert.equal(connection.hasOwnKeepAlive, true);
    answer(poll, 200, '{"type":6}\x1e{"type":6}\x1e');
    assert.equal(await listener.nextText(), '{"type":6}\x1e{"type":6}\x1e');
    answer(await hub.next('GET'));
    assert.equal(await listener.nextText(), '', 'an empty poll is a sign of life');
  });

  it('ends long polling by DELETE, behind a send that is on its way', async () => {
    const { connection } = await polling();
    connection.send(message('a'));
    const sent = await hub.next('POST');
    connection.close();
    assert.equal(connection.stopped, true);
    answer(sent);
    answer(await hub.next('DELETE'), 202);
    assert.deepEqual(listener.losses, []);
  });

  it('ends a stream by letting go of it', async () => {
    const { connection, stream } = await streaming();
    const closed = new Promise((resolve) => stream.response.once('close', resolve));
    connection.close();
    await closed;
    assert.deepEqual(listener.losses, []);
  });

  it('is closed with the reason when the server ends the stream', async () => {
    const { stream } = await streaming();
    stream.response.end('data: {"type":7,"error":"Enough."}\x1e\r\n\r\n');
    assert.deepEqual(await listener.lostOnce, {
      errorClass: 'closed',
      text: 'the server closed the connection and allows no reconnect: Enough.',
    });
  });

  it('lets go of a stream that a Close message ends and the server does not', async () => {
    const { connection, stream } = await streaming();
    const closed = new Promise((resolve) => stream.response.once('close', resolve));
    stream.response.write('data: {"type":7,"allowReconnect":true}\x1e\r\n\r\n');
    assert.deepEqual(await listener.lostOnce, {
      errorClass: 'closed',
      text: 'the server closed the connection',
    });
    await closed;
    assert.deepEqual([connection.isOpen, connection.mayReconnect], [false, true]);
  });

  it('deletes a connection with long polling that a Close message ends', async () => {
    const { connection, poll } = await polling();
    answer(poll, 200, '{"type":7}\x1e{"type":6}\x1e');
    assert.deepEqual(await listener.lostOnce, {
      errorClass: 'closed',
      text: 'the server closed the connection and allows no reconnect',
    });
    answer(await hub.next('DELETE'), 202);
    assert.deepEqual([connection.isOpen, connection.mayReconnect], [false, false]);
    assert.equal(listener.losses.length, 1);
  });

  it('is closed when a poll is answered 204', async () => {
    const { poll } = await polling();
    answer(poll, 204);
    assert.equal((await listener.lostOnce).errorClass, 'closed');
  });

  it('is closed when the stream breaks off', async () => {
    const { stream } = await streaming();
    stream.response.destroy();
    const { errorClass, text } = await listener.lostOnce;
    assert.equal(errorClass, 'closed');
    assert.match(text, /in the middle of an answer/);
  });

  it('goes on with a new token before the old one has expired', async () => {
    renewAtMs = 0;
    renew = () => Promise.resolve(`token ${(renewals += 1)}`);
    const { connection, poll } = await polling();
    // Asked for with the first request, and used from the next one on.
    assert.equal(renewals, 1);
    connection.send(message('a'));
    const first = await hub.next('POST');
    assert.equal(first.headers.authorization, 'Bearer token 1');
    answer(first);
    answer(poll, 200, '{"type":6}\x1e');
    assert.equal((await hub.next('GET')).headers.authorization, 'Bearer token 1');
    assert.equal(renewals, 1, 'the new one has no end');
  });

  it('sends and polls once more with a new token when the old one has expired', async () => {
    const { connection, poll } = await polling();
    renew = () => Promise.resolve(`token ${(renewals += 1)}`);
    connection.send(message('a'));
    const first = await hub.next('POST');
    assert.equal(first.headers.authorization, 'Bearer token 0');
    connection.send(message('b'));
    answer(poll, 401);
    answer(first, 401);
    const again = await hub.next('POST');
    assert.equal(again.body, message('a').toString(), 'what waits stays behind it');
    assert.equal(again.headers.authorization, 'Bearer token 1');
    answer(again);
    assert.equal((await hub.next('POST')).body, message('b').toString());
    const next = await hub.next('GET');
    assert.equal(next.headers.authorization, 'Bearer token 1');
    assert.equal(renewals, 1, 'one for both');
    answer(next, 401);
    assert.deepEqual(await listener.lostOnce.then(({ errorClass }) => errorClass), 'unauthorized');
  });

  it('goes on with the old token where the new one cannot be sent', async () => {
    renewAtMs = time.nowMs;
    renew = () => Promise.resolve(`token\n${(renewals += 1)}`);
    const { connection } = await polling();
    connection.send(message('a'));
    const sent = await hub.next('POST');
    assert.equal(sent.headers.authorization, 'Bearer token 0');
    assert.ok(renewals > 0);
    answer(sent);
    assert.equal(connection.isOpen, true);
  });

  for (const [status, errorClass] of [
    [401, 'unauthorized'],
    [404, 'notFound'],
    [413, 'request'],
    [500, 'request'],
  ] as const) {
    it(`is lost as ${errorClass} when a send or poll is answered ${status}`, async () => {
      const { connection } = await streaming();
      connection.send(message('a'));
      answer(await hub.next('POST'), status);
      // The reason may still come over the stream.
      await time.waitedFor(1000);
      await time.to(1000);
      assert.equal((await listener.lostOnce).errorClass, errorClass);
      assert.match(listener.losses[0]!.text, new RegExp(`^send: .* answered ${status}`));
      listener = new RecordingListener();
      answer((await polling()).poll, status);
      assert.equal((await listener.lostOnce).errorClass, errorClass);
      assert.match(listener.losses[0]!.text, new RegExp(`^poll: .* answered ${status}`));
    });

    it(`is not opened, as ${errorClass}, when the stream is answered ${status}`, async () => {
      const opening = open('ServerSentEvents');
      answer(await hub.next('GET'), status, 'no', { 'Retry-After': '3' });
      const failure = await failureOf(opening);
      assert.equal(failure.errorClass, errorClass);
      assert.equal(failure.retryAfterMs, 3000);
    });
  }

  it('prefers the reason that comes over the stream to the status of a send', async () => {
    const { connection, stream } = await streaming();
    connection.send(message('a'));
    answer(await hub.next('POST'), 404);
    await time.waitedFor(1000);
    stream.response.end('data: {"type":7,"error":"Too long."}\x1e\r\n\r\n');
    assert.deepEqual(await listener.lostOnce, {
      errorClass: 'closed',
      text: 'the server closed the connection and allows no reconnect: Too long.',
    });
  });

  it('is refused by the hub in the handshake', async () => {
    const opening = open('LongPolling');
    answer(await hub.next('GET'));
    answer(await hub.next('POST'));
    answer(await hub.next('GET'), 200, '{"error":"No such protocol."}\x1e');
    const failure = await failureOf(opening);
    assert.equal(failure.errorClass, 'handshake');
    assert.match(failure.message, /No such protocol/);
  });

  it('is no stream when the answer is something else', async () => {
    const opening = open('ServerSentEvents');
    answer(await hub.next('GET'), 200, '<html>', { 'Content-Type': 'text/html' });
    assert.equal((await failureOf(opening)).errorClass, 'request');
  });

  it('goes over TLS', async () => {
    await hub.dispose();
    hub = new HttpHub(true);
    await hub.listen();
    const { connection, stream } = await streaming();
    stream.response.write('data: {"type":6}\x1e\r\n\r\n');
    assert.equal(await listener.nextText(), '{"type":6}\x1e');
    connection.send(message('a'));
    assert.equal((await hub.next('POST')).body, message('a').toString());
  });

  it('is blocked when the server does not answer sends', async () => {
    const { connection } = await streaming();
    for (let sent = 0; sent < 100 && connection.isOpen; sent++)
      connection.send(message('x'.repeat(500)));
    assert.equal((await listener.lostOnce).errorClass, 'blocked');
  });

  it('violates the protocol with a message that is cut off', async () => {
    const opening = open('LongPolling');
    answer(await hub.next('GET'));
    answer(await hub.next('POST'));
    answer(await hub.next('GET'), 200, '{"half":');
    assert.equal((await failureOf(opening)).errorClass, 'protocol');
  });

  it('sends over a new socket when the server has closed the idle one', async () => {
    const sockets: Socket[] = [];
    hub.server.on('connection', (socket) => sockets.push(socket));
    const { connection } = await streaming();
    const [, idle] = sockets;
    await time.to(1000);
    idle!.destroy();
    await once(idle!, 'close');
    connection.send(message('a'));
    const sent = await hub.next('POST');
    assert.equal(sent.body, message('a').toString());
    assert.equal(sent.response.socket, sockets[2]);
    answer(sent);
    assert.equal(connection.isOpen, true);
  });

  it('does not send messages again that the server may have had', async () => {
    const { connection } = await streaming();
    connection.send(message('a'));
    answer(await hub.next('POST'));
    await time.to(900);
    connection.send(message('b'));
    const { response } = await hub.next('POST');
    (response.socket as Socket).resetAndDestroy();
    await time.waitedFor(100);
    await time.to(1900);
    assert.equal((await listener.lostOnce).errorClass, 'reset');
    assert.equal(hub.held, 0);
  });

  it('cannot be opened with a header that would end the line', async () => {
    const where = { url: hub.url, headers: { 'X-Own': 'a\r\nEvil: 1' } };
    const endpoint = endpointOf(hub.url.href, { transport: 'LongPolling' });
    const { signal } = new AbortController();
    const failure = await failureOf(
      HttpConnection.open(where, { index: 0, endpoint, listener, options: noTime, signal }),
    );
    assert.match(failure.message, /line break/);
  });
});
