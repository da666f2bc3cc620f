import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  ConnectFailure,
  mayRetry,
  retryAfterMs,
  shownText,
} from '../../../../src/wire/connectFailure';
import { Cookies } from '../../../../src/wire/socket/cookies';
import { checkUpgradeAnswer, upgradeRequest } from '../../../../src/wire/socket/upgrade';

const url = new URL('http://user:pw@hub.test:81/a%20b/hub?id=secret&x=1');
const refused = (errorClass: string, message: RegExp) => (error: unknown) =>
  error instanceof ConnectFailure &&
  error.errorClass === errorClass &&
  message.test(error.message) &&
  !error.message.includes('secret') &&
  !error.message.includes('pw');

describe('an upgrade request', () => {
  it('asks for the path and query and carries headers and token', () => {
    const { bytes, accept } = upgradeRequest({
      url,
      headers: { 'X-A': '1' },
      accessToken: 't.o.k',
    });
    const lines = bytes.split('\r\n');
    assert.equal(lines[0], 'GET /a%20b/hub?id=secret&x=1 HTTP/1.1');
    assert.ok(lines.includes('Host: hub.test:81'));
    assert.ok(lines.includes('Authorization: Bearer t.o.k'));
    assert.ok(lines.includes('X-A: 1'));
    assert.deepEqual(lines.slice(-2), ['', '']);
    const key = /^Sec-WebSocket-Key: (.*)$/m.exec(bytes)![1]!.trim();
    assert.equal(Buffer.from(key, 'base64').length, 16);
    const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
    assert.equal(
      accept,
      createHash('sha1')
        .update(key + guid)
        .digest('base64'),
    );
  });

  it('keeps the headers of the upgrade itself', () => {
    const headers = {
      HOST: 'evil',
      'Content-Length': '9',
      'sec-websocket-key': 'k',
      Upgrade: 'h2c',
    };
    const { bytes } = upgradeRequest({ url, headers });
    assert.doesNotMatch(bytes, /evil|Content-Length|h2c|: k\r/i);
  });

  it('has one Authorization header: the token replaces a configured one', () => {
    const { bytes } = upgradeRequest({
      url,
      headers: { authorization: 'Basic abc' },
      accessToken: 'tok',
    });
    assert.deepEqual(bytes.match(/authorization: .*/gi), ['Authorization: Bearer tok\r'.trim()]);
  });

  it('has one Cookie header: what servers have set behind what was configured', () => {
    const cookies = new Cookies();
    cookies.take(['node=1; Path=/'], url);
    const { bytes } = upgradeRequest({ url, headers: { cookie: 'own=0' }, cookies });
    assert.deepEqual(bytes.match(/cookie: .*/gi), ['Cookie: own=0; node=1']);
  });

  // The last ones become line breaks when their high byte is cut off on the way to the socket.
  for (const value of ['a\r\nEvil: 1', 'a\nb', 'a\u0000', 'a\u010d\u010aEvil: 1', '\u2028']) {
    it(`refuses ${JSON.stringify(value)} in a header, a header's name or the token`, () => {
      const failure = refused('upgrade', /line break or control character/);
      assert.throws(() => upgradeRequest({ url, headers: { 'X-A': value } }), failure);
      assert.throws(() => upgradeRequest({ url, headers: { [value]: '1' } }), failure);
      assert.throws(() => upgradeRequest({ url, headers: {}, accessToken: value }), failure);
    });
  }
});

describe('an upgrade answer', () => {
  const good = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: WebSocket',
    'SEC-WEBSOCKET-ACCEPT:  acc',
  ];

  it('is accepted with any letter case and spacing of its headers', () => {
    checkUpgradeAnswer(good.join('\r\n'), 'acc', url);
  });

  const table: readonly (readonly [string, readonly string[], string, RegExp])[] = [
    ['something that is no HTTP', ['SSH-2.0-OpenSSH'], 'protocol', /does not speak HTTP/],
    ['401', ['HTTP/1.1 401 Unauthorized'], 'unauthorized', /hub answered 401 Unauthorized$/],
    ['403', ['HTTP/1.1 403 No'], 'unauthorized', /403/],
    ['404', ['HTTP/1.1 404 Not Found'], 'notFound', /404/],
    ['429', ['HTTP/1.1 429 Too Many'], 'throttled', /429/],
    ['503', ['HTTP/1.0 503 Busy'], 'upgrade', /503 Busy/],
    ['200', ['HTTP/1.1 200 OK'], 'upgrade', /200/],
    [
      'a wrong Sec-WebSocket-Accept',
      [...good.slice(0, 2), 'Sec-WebSocket-Accept: no'],
      'upgrade',
      /not a WebSocket server/,
    ],
    ['no Upgrade header', [good[0]!, good[2]!], 'upgrade', /not a WebSocket server/],
    [
      'an extension',
      [...good, 'Sec-WebSocket-Extensions: permessage-deflate'],
      'upgrade',
      /not offered/,
    ],
    [
      'an extension behind a line feed',
      [...good, 'X: a\nSec-WebSocket-Extensions: permessage-deflate'],
      'upgrade',
      /not offered/,
    ],
    ['a subprotocol', [...good, 'Sec-WebSocket-Protocol: json'], 'upgrade', /not offered/],
  ];
  for (const [name, lines, errorClass, message] of table) {
    it(`with ${name} is a failure of class ${errorClass}`, () => {
      assert.throws(
        () => checkUpgradeAnswer(lines.join('\r\n'), 'acc', url),
        refused(errorClass, message),
      );
    });
  }

  it('of 429 says how long to wait', () => {
    assert.throws(
      () => checkUpgradeAnswer('HTTP/1.1 429 Slow\r\nRetry-After: 7', 'acc', url),
      (error) => error instanceof ConnectFailure && error.retryAfterMs === 7000 && mayRetry(error),
    );
  });
});

describe('Retry-After', () => {
  it('is seconds or a date; anything else is no answer', () => {
    const nowMs = Date.UTC(2030, 0, 1);
    const date = new Date(nowMs + 5000).toUTCString();
    assert.equal(retryAfterMs('3', nowMs), 3000);
    assert.equal(retryAfterMs(' 0 ', nowMs), 0);
    assert.equal(retryAfterMs(date, nowMs), 5000);
    assert.equal(retryAfterMs(date, nowMs + 60_000), 0);
    assert.equal(retryAfterMs('soon', nowMs), undefined);
    for (const forever of ['9'.repeat(400), '86401', new Date(nowMs * 2).toUTCString()])
      assert.equal(retryAfterMs(forever, nowMs), 86_400_000);
    assert.equal(retryAfterMs(undefined, nowMs), undefined);
  });
});

describe('text from a server', () => {
  it('is shown as one short printable line', () => {
    assert.equal(shownText(' a\r\n\u001b[31mb\u0085c '), 'a [31mb c');
    assert.equal(shownText('\u202egnp.exe\u2066 is\u200f\u2028here'), 'gnp.exe is here');
    assert.equal(shownText('x'.repeat(500)).length, 201);
  });
});
