import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { HttpRequests } from '../../../src/wire/http/httpChannel';
import { PollInput, type InputOwner } from '../../../src/wire/http/httpInput';
import { jsonCodec } from '../../../src/wire/message/hubCodec';
import { endpointOf } from '../../fakes/endpoint';
import type { Subject } from '../subject';

const maximumBytes = 4096;
/** For what hangs; no slowness of a machine comes near it. */
const mostWaitMs = 120_000;
const end = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';
let url = '';
/** What the server says to the first poll; to the next ones that all is over. */
let answer: Buffer | undefined;

/** What becomes of a poll that gets that answer. */
async function polled(input: Buffer): Promise<{ bytes: number; endings: string[] }> {
  answer = input;
  const requests = new HttpRequests({ url: new URL(url), headers: {} }, jsonCodec);
  const outcome = { bytes: 0, endings: [] as string[] };
  let timer: NodeJS.Timeout | undefined;
  let over: () => void = () => undefined;
  const waiting = new Promise<void>((resolve, reject) => {
    over = resolve;
    timer = setTimeout(() => reject(new Error('a poll hangs')), mostWaitMs);
  });
  const ended = (how: string): void => {
    outcome.endings.push(how);
    over();
  };
  const owner: InputOwner = {
    get stopped() {
      return outcome.endings.length > 0;
    },
    onReady: () => undefined,
    onMessages: (_buffer, start, stop) => (outcome.bytes += stop - start),
    onServerEnd: () => ended('the server'),
    onFailure: ({ message }) => ended(message),
  };
  const poll = new PollInput(requests, endpointOf(url), owner, maximumBytes);
  poll.open();
  try {
    await waiting;
  } finally {
    clearTimeout(timer);
    poll.destroy();
  }
  return outcome;
}

export const polls: Subject = {
  name: 'long-polling',
  holds:
    'a poll ends once, as the server’s end or as a failure in one line, with no more bytes of messages than are allowed',
  isSlow: true,
  seeds: () => [
    'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"type":6}\x1e',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n{"type":6}\x1e\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.0 200 OK\r\n\r\n{"type":7}\x1e',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno',
    'HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n',
  ],
  pieces: ['Content-Length: 99999999999', 'Transfer-Encoding: gzip', '\r\n\r\n', 'Upgrade: h2c'],
  prepare: async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.end(answer ?? end);
        answer = undefined;
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hub?id=a`;
    return async () => {
      server.close();
      await once(server, 'close');
    };
  },
  check: async (input) => {
    const { bytes, endings } = await polled(input);
    assert.equal(endings.length, 1, endings.join('; '));
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(endings[0]!, /[\u0000-\u001f\u007f\u2028\u2029]/);
    assert.ok(bytes <= maximumBytes);
  },
};
