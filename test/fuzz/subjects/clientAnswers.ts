import assert from 'node:assert/strict';
import { ConnectFailure } from '../../../src/wire/connectFailure';
import { readClassicNegotiation } from '../../../src/wire/classic/classicNegotiation';
import { readNegotiation } from '../../../src/wire/connect/connectHub';
import { EventReader } from '../../../src/wire/http/httpInput';
import { redirectedHub } from '../../../src/wire/http/negotiationRequest';
import { Cookies } from '../../../src/wire/socket/cookies';
import { checkUpgradeAnswer } from '../../../src/wire/socket/upgrade';
import { endpointOf } from '../../fakes/endpoint';
import { inPieces, unless, type Subject } from '../subject';

const hub = new URL('http://127.0.0.1:5050/chat?a=b');
const endpoint = endpointOf(hub.href);
const offered =
  '"availableTransports":[{"transport":"WebSockets","transferFormats":["Text","Binary"]}]';

export const negotiation: Subject = {
  name: 'negotiation',
  holds:
    'the answer leads to an http(s) URL, on this machine where it has to stay there, or fails in a sentence without line breaks',
  seeds: () => [
    `{"negotiateVersion":1,"connectionId":"a","connectionToken":"b",${offered}}`,
    `{"connectionId":"a",${offered}}`,
    '{"url":"https://127.0.0.1/client/?hub=chat","accessToken":"abc"}',
    '{"url":"//[::1]:80/x/negotiate?hub=chat"}',
    '{"error":"no\\nroom"}',
    '{"ProtocolVersion":"1.5"}',
  ],
  pieces: [
    'javascript:',
    'file:///',
    '\\\\evil',
    '@evil',
    'http://',
    '\\u2028',
    '0x7f.1',
    '%00',
    '#',
  ],
  check: (input) => {
    const body = input.toString('utf8');
    const own = { ...endpoint, allowedHosts: [] };
    const isOnLoopback = ({ hostname }: URL): boolean =>
      /^(127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:0:0|7f[0-9a-f]{2}:[0-9a-f]+)\]|(.*\.)?localhost\.?)$/.test(
        hostname,
      );
    const judge = (read: () => URL): void => {
      try {
        const url = read();
        assert.match(url.protocol, /^https?:$/);
        assert.ok(isOnLoopback(url), url.href);
      } catch (error) {
        if (!(error instanceof ConnectFailure)) throw error;
        // eslint-disable-next-line no-control-regex
        assert.doesNotMatch(error.message, /[\u0000-\u001f\u007f\u2028\u2029]/);
      }
    };
    judge(() => readNegotiation(body, own, hub).url);
    judge(() => readClassicNegotiation(body, own, hub).url);
    judge(() => redirectedHub(own, hub, body));
  },
};

/** By the words of WHATWG HTML, 9.2.6, for what SignalR uses of it. */
function eventsIn(text: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  const lines = text.split('\n').slice(0, -1);
  for (const whole of lines) {
    const line = whole.replace(/\r$/, '');
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    if (line !== '') continue;
    if (data.length > 0) events.push(data.join('\n'));
    data = [];
  }
  return events;
}

export const serverSentEvents: Subject = {
  name: 'server-sent-events',
  holds:
    'the events are those of the standard, however the bytes are cut, and only ConnectFailure is thrown',
  seeds: () => [
    ':\r\n\r\ndata: {"type":6}\x1e\r\n\r\n',
    'data: a\r\ndata:b\n\nid: 7\nevent: x\nretry: 1\ndata\n\n',
    'data: {"type":1,"target":"a","arguments":["ü"]}\x1e\r\n\r\ndata: {"type":6}\x1e\r\n\r\n',
  ],
  pieces: ['data:', '\r\n\r\n', '\n\n', '\r', '\uFEFF'],
  check: (input) => {
    const found: string[] = [];
    const reader = new EventReader(1_000_000);
    inPieces(input, (buffer, start, end) =>
      reader.read(buffer, start, end, (bytes, from, to) =>
        found.push(bytes.toString('latin1', from, to)),
      ),
    );
    assert.deepEqual(found, eventsIn(input.toString('latin1')));
    unless([ConnectFailure], () =>
      new EventReader(16).read(input, 0, input.length, () => undefined),
    );
  },
};

const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
const accepted = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}`;

export const upgradeAnswers: Subject = {
  name: 'upgrade-answers',
  holds:
    'only what RFC 6455 calls an acceptance is one, and what cookies say fits in a line of a bounded length',
  seeds: () => [
    accepted,
    `${accepted}\r\nSec-WebSocket-Extensions: permessage-deflate`,
    `${accepted}\r\nSec-WebSocket-Protocol: json.webpubsub.azure.v1`,
    'HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nSet-Cookie: a=b; Path=/; Secure; Max-Age=0',
    'HTTP/1.1 301 Moved\r\nLocation: /else\r\nSet-Cookie: a=b; Expires=Wed, 21 Oct 2015 07:28:00 GMT',
  ],
  check: (input) => {
    const head = input.toString('latin1');
    const judged = unless([ConnectFailure], () => {
      checkUpgradeAnswer(head, accept, hub);
      return true;
    });
    if (judged === true) {
      assert.match(head, /^HTTP\/1\.[01] 101/);
      assert.ok(head.includes(accept) && /upgrade\s*:\s*websocket/i.test(head));
      assert.doesNotMatch(head, /(?:^|\n)sec-websocket-extensions\s*:/i);
    }
    const cookies = new Cookies();
    const lines = head.split('\r\n').map((line) => line.replace(/^Set-Cookie: /, ''));
    cookies.take(lines, hub);
    const sent = cookies.headerFor(hub) ?? '';
    assert.ok(sent.length <= 17_000);
    assert.match(sent, /^[\u0020-\u007e]*$/);
  },
};
