import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { ConnectFailure } from '../../../../src/wire/connectFailure';
import { jsonCodec } from '../../../../src/wire/message/hubCodec';
import { HttpChannel, HttpRequests } from '../../../../src/wire/http/httpChannel';
import { endpointOf } from '../../../fakes/endpoint';
import { testServers } from '../../../fakes/testServers';

/** What became of one request. */
interface Outcome {
  readonly head?: IncomingMessage;
  readonly failure?: ConnectFailure;
  readonly body: string;
}

describe('answers over HTTP', () => {
  const listen = testServers();
  let port: number;
  let sockets: Socket[];
  let channel: HttpChannel | undefined;
  /** Written to each request that comes. */
  let answers: ((socket: Socket) => void)[];

  beforeEach(async () => {
    sockets = [];
    answers = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('data', () => answers.shift()?.(socket));
    });
    port = await listen(server);
  });
  afterEach(() => channel?.destroy());

  let body = '';
  let settle: (outcome: Outcome) => void = () => undefined;

  function ask(timeoutMs = 0): Promise<Outcome> {
    const url = new URL(`http://127.0.0.1:${port}/hub`);
    body = '';
    channel ??= new HttpChannel(
      new HttpRequests({ url, headers: {} }, jsonCodec),
      endpointOf(url.href),
      {
        answerBody: (bytes) => (body += bytes.toString('latin1')),
        answerEnded: (head) => settle({ head, body }),
        requestFailed: (failure) => settle({ failure, body }),
      },
      timeoutMs,
    );
    const outcome = new Promise<Outcome>((resolve) => (settle = resolve));
    channel.send(() => ({ method: 'GET', path: '/hub', headers: ['Host', url.host] }));
    return outcome;
  }
  beforeEach(() => (channel = undefined));

  const write = (text: string) => (socket: Socket) => void socket.write(text, 'latin1');
  const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi';

  it('are read with a length, in chunks, behind an interim answer, over one socket', async () => {
    const chunked =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n';
    answers = [write(whole), write(chunked), write(`HTTP/1.1 103 Early Hints\r\n\r\n${whole}`)];
    const bodies = [];
    for (let count = 0; count < 3; count++) bodies.push((await ask()).body);
    assert.deepEqual(bodies, ['hi', 'hel0123456789', 'hi']);
    assert.equal(sockets.length, 1);
  });

  it('end with the connection when nothing else says how long they are', async () => {
    answers = [(socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nall of it')];
    assert.equal((await ask()).body, 'all of it');
  });

  it('are failures at once where they switch to a protocol that nobody asked for', async () => {
    answers = [write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')];
    const { failure } = await ask();
    assert.equal(failure?.errorClass, 'protocol');
    assert.equal(failure.message, 'the server switches to another protocol');
  });

  it('go over a new socket, once, when the idle one is gone', async () => {
    answers = [
      write(whole),
      (socket) => socket.destroy(),
      write(whole),
      (socket) => socket.destroy(),
    ];
    assert.equal((await ask()).body, 'hi');
    assert.equal((await ask()).body, 'hi');
    assert.equal(sockets.length, 2);
    channel!.destroy();
    channel = undefined;
    answers = [(socket) => socket.destroy()];
    const { failure } = await ask();
    assert.match(String(failure?.errorClass), /^(closed|reset)$/);
    assert.equal(sockets.length, 3);
  });

  it('that break off fail the request, with what has come of them', async () => {
    answers = [(socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal')];
    const { failure } = await ask();
    assert.equal(failure?.errorClass, 'closed');
    assert.match(failure.message, /in the middle of an answer/);
  });

  it('that do not come in time fail the request', async () => {
    answers = [() => undefined];
    assert.equal((await ask(50)).failure?.errorClass, 'timeout');
  });

  for (const [what, text] of [
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['a length that is not a number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n'],
    [
      'a chunk that is too long',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n',
    ],
    [
      'a size without end',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(50_000)}`,
    ],
    ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(50_000)}`],
  ] as const)
    it(`are refused: ${what}`, async () => {
      answers = [write(text)];
      assert.equal((await ask()).failure?.errorClass, 'protocol');
    });
});
