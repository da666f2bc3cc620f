import assert from 'node:assert/strict';
import * as http from 'node:http';
import { ConnectFailure, RedirectNotAllowed, mayRetry } from '../../../../src/wire/connectFailure';
import type { Endpoint } from '../../../../src/base/endpoint';
import { negotiate } from '../../../../src/wire/connect/connectHub';
import type { Negotiated } from '../../../../src/wire/socket/upgrade';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { endpointOf } from '../../../fakes/endpoint';
import { closedPort } from '../../../fakes/loadPeers';
import { testServers } from '../../../fakes/testServers';

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

const webSockets = [{ transport: 'WebSockets', transferFormats: ['Text', 'Binary'] }];
const admitted = {
  negotiateVersion: 1,
  connectionId: 'public',
  connectionToken: 'se/cret+1',
  availableTransports: [{ transport: 'LongPolling' }, ...webSockets],
};

const json =
  (value: unknown): Answer =>
  (_request, response) =>
    response.end(JSON.stringify(value));

describe('negotiate', () => {
  const listen = testServers();

  /** A server whose requests are remembered. */
  async function serve(answer: Answer): Promise<{ origin: string; seen: http.IncomingMessage[] }> {
    const seen: http.IncomingMessage[] = [];
    const server = http.createServer((request, response) => {
      seen.push(request);
      answer(request, response);
    });
    return { origin: `http://127.0.0.1:${await listen(server)}`, seen };
  }

  async function ask(
    url: string,
    changes: Partial<Endpoint> = {},
    signal = new AbortController().signal,
  ): Promise<Negotiated> {
    const endpoint = endpointOf(url, changes);
    const agents = new SocketAgents(endpoint, 2);
    try {
      return await negotiate(endpoint, { url }, agents, signal);
    } finally {
      agents.destroy();
    }
  }

  async function failure(answer: Answer, changes: Partial<Endpoint> = {}): Promise<ConnectFailure> {
    const { origin } = await serve(answer);
    const outcome = await ask(`${origin}/hub`, changes).catch((error: unknown) => error);
    assert.ok(outcome instanceof ConnectFailure, `no ConnectFailure but ${String(outcome)}`);
    return outcome;
  }

  it('posts to the hub with query, headers and token, and takes the connection token as id', async () => {
    const { origin, seen } = await serve(json(admitted));
    const { url, headers, accessToken } = await ask(`${origin}/a/hub/?own=1`, {
      headers: { 'X-App': 'y' },
      query: { tenant: 'a b' },
      accessToken: 'tok',
    });
    const [request] = seen;
    assert.equal(request?.method, 'POST');
    assert.equal(request.url, '/a/hub/negotiate?own=1&tenant=a+b&negotiateVersion=1');
    assert.equal(request.headers['x-app'], 'y');
    assert.equal(request.headers.authorization, 'Bearer tok');
    assert.equal(url.href, `${origin}/a/hub/?own=1&tenant=a+b&id=se%2Fcret%2B1`);
    assert.deepEqual([headers, accessToken], [{ 'X-App': 'y' }, 'tok']);
  });

  it('takes the connection id of a server that knows version 0 only', async () => {
    const { origin } = await serve(
      json({ connectionId: 'c0', connectionToken: 'ignored', availableTransports: webSockets }),
    );
    assert.equal((await ask(`${origin}/hub`)).url.searchParams.get('id'), 'c0');
  });

  it('follows a SignalR redirect with its own access token', async () => {
    const service = await serve(json(admitted));
    const app = await serve(
      json({ url: `${service.origin}/client/?hub=h`, accessToken: 'service' }),
    );
    const found = await ask(`${app.origin}/hub`, { accessToken: 'app', headers: { 'X-App': 'y' } });
    assert.equal(service.seen[0]?.headers.authorization, 'Bearer service');
    assert.equal(service.seen[0].url, '/client/negotiate?hub=h&negotiateVersion=1');
    assert.equal(found.accessToken, 'service');
    assert.equal(found.url.href, `${service.origin}/client/?hub=h&id=se%2Fcret%2B1`);
  });

  it('follows an HTTP redirect within the origin with credentials', async () => {
    const { origin, seen } = await serve((request, response) => {
      if (request.url?.startsWith('/old') === true)
        response.writeHead(307, { Location: '/new/negotiate?negotiateVersion=1' }).end();
      else json(admitted)(request, response);
    });
    const { url, accessToken } = await ask(`${origin}/old`, { accessToken: 'tok' });
    assert.equal(seen[1]?.headers.authorization, 'Bearer tok');
    assert.equal(url.pathname, '/new');
    assert.equal(accessToken, 'tok');
  });

  it('carries no credentials to another origin of an HTTP redirect', async () => {
    const other = await serve(json(admitted));
    const first = await serve((_request, response) =>
      response.writeHead(307, { Location: `${other.origin}/hub/negotiate` }).end(),
    );
    const found = await ask(`${first.origin}/hub`, {
      accessToken: 'tok',
      headers: { Cookie: 'session', 'X-Key': 'k' },
      query: { key: 'k' },
    });
    assert.equal(other.seen[0]?.headers.authorization, undefined);
    assert.equal(other.seen[0]?.headers.cookie, undefined);
    assert.equal(other.seen[0]?.headers['x-key'], undefined);
    assert.deepEqual([found.headers, found.accessToken], [{}, undefined]);
    assert.equal(found.url.searchParams.get('key'), null);
  });

  it('gives up a redirect loop of either kind', async () => {
    const loops: Answer[] = [
      (_request, response) => response.writeHead(308, { Location: '/hub/negotiate' }).end(),
      (request, response) =>
        json({ url: `http://${request.headers.host!}/hub` })(request, response),
    ];
    for (const loop of loops) {
      const { errorClass, message } = await failure(loop);
      assert.deepEqual([errorClass, message], ['negotiate', 'negotiate: more than 20 redirects']);
    }
  });

  it('keeps the cookies that servers set, and brings them back on the way', async () => {
    const { origin, seen } = await serve((request, response) => {
      const first = request.url?.startsWith('/a/') === true;
      response.setHeader('Set-Cookie', first ? ['node=1; Path=/'] : ['node=2; Path=/', 'x=y']);
      if (first) response.writeHead(307, { Location: '/b/hub/negotiate' }).end();
      else json(admitted)(request, response);
    });
    const { cookies, url } = await ask(`${origin}/a/hub`, { headers: { cookie: 'own=0' } });
    assert.equal(seen[0]?.headers.cookie, 'own=0');
    assert.equal(seen[1]?.headers.cookie, 'own=0; node=1');
    assert.equal(cookies?.headerFor(url), 'node=2; x=y');
  });

  it('asks for the transport of the endpoint', async () => {
    const offered = ['ServerSentEvents', 'LongPolling'].map((transport) => ({ transport }));
    const answer = json({ ...admitted, availableTransports: offered });
    const { origin } = await serve(answer);
    assert.ok(
      (await ask(`${origin}/hub`, { transport: 'LongPolling' })).url.searchParams.get('id'),
    );
    const { message } = await failure(answer);
    assert.match(message, /does not offer WebSockets, only ServerSentEvents and LongPolling$/);
  });

  it('leaves this machine by no redirect of either kind where nobody agreed to it', async () => {
    const away: Answer[] = [
      json({ url: 'http://signalr.example:81/client/?hub=h', accessToken: 'service' }),
      (_request, response) =>
        response.writeHead(307, { Location: 'http://signalr.example:81/negotiate' }).end(),
    ];
    for (const answer of away) {
      const found = await failure(answer, { allowedHosts: [] });
      assert.ok(found instanceof RedirectNotAllowed);
      assert.equal(found.host, 'signalr.example:81');
      assert.match(
        found.message,
        /redirects to signalr\.example:81, which gets no load: nobody has agreed/,
      );
      assert.equal(mayRetry(found), false);
    }
  });

  it('goes to the hosts that may get load, and to no other', async () => {
    const answer = json({ url: 'http://signalr.example:81/client/?hub=h', accessToken: 'service' });
    for (const allowedHosts of [
      ['hub.example'],
      ['signalr.example:80'],
      ['example'],
      ['*.signalr.example'],
      ['*.ample'],
    ]) {
      const { message } = await failure(answer, { allowedHosts });
      assert.match(
        message,
        /redirects to signalr\.example:81, which gets no load: nobody has agreed to it$/,
      );
    }
    for (const allowedHosts of [['signalr.example'], ['signalr.example:81'], ['*.example']])
      assert.doesNotMatch((await failure(answer, { allowedHosts })).message, /gets no load/);
  });

  it('goes on to another port of this machine without a word', async () => {
    const service = await serve(json(admitted));
    const app = await serve(json({ url: `${service.origin}/client` }));
    const { url } = await ask(`${app.origin}/hub`, { allowedHosts: [] });
    assert.equal(url.origin, service.origin);
  });

  const raw =
    (bytes: string): Answer =>
    (request) =>
      request.socket.write(bytes);
  const status =
    (code: number, body = '', headers = {}): Answer =>
    (_request, response) =>
      response.writeHead(code, headers).end(body);
  const offering = (availableTransports: unknown): Answer =>
    json({ ...admitted, availableTransports });
  const ok = 'HTTP/1.1 200 OK\r\n';
  const header = `X-Fill: ${'a'.repeat(1024)}\r\n`;
  const tooLong = /^negotiate: the headers of the answer are longer than the 16 KB that are read$/;
  const answers: readonly (readonly [string, Answer, RegExp, string?])[] = [
    ['an error member', json({ error: 'full\r\nup' }), /^negotiate: full up$/],
    ['an ASP.NET SignalR answer', json({ ProtocolVersion: '1.5' }), /ASP.NET SignalR server/],
    ['no WebSockets', offering([null, { transport: 'LongPolling' }]), /, only LongPolling$/],
    ['no transports', offering('WebSockets'), /not offer WebSockets, no transport at all$/],
    ['no id', json({ ...admitted, connectionToken: '' }), /no connection id/],
    ['no JSON', status(200, '<html>'), /not a JSON object; is this the URL/],
    ['JSON that is no object', json(null), /not a JSON object/],
    ['a redirect to a file', json({ url: 'file:///etc/passwd' }), /redirects to file: which/],
    ['a redirect to no URL', json({ url: 'http://' }), /not a URL/],
    ['401', status(401), /answered 401$/, 'unauthorized'],
    ['404', status(404), /answered 404$/, 'notFound'],
    ['500 with a sentence', status(500, 'Not connected\nyet.'), /500: Not connected yet\.$/],
    ['500 with a page', status(500, '<p>hidden', { 'Content-Type': 'text/html' }), /ed 500$/],
    ['an end', (request) => request.socket.destroy(), /negotiate: /, 'reset'],
    ['20 KB of headers', raw(`${ok}${header.repeat(20)}\r\n`), tooLong],
    ['headers without an end', raw(`${ok}${header.repeat(100)}`), tooLong],
    ['another protocol', raw('SSH-2.0-OpenSSH\r\n'), /^negotiate: .* is not valid HTTP \(/],
    ['a bad length', raw(`${ok}Content-Length: zz\r\n\r\n`), /Invalid character in Content-L/],
    ['a bad chunk', raw(`${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n`), /in chunk size\)$/],
    [
      'a switch of protocols',
      raw('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      /^negotiate: the server switches to another protocol$/,
    ],
  ];
  for (const [name, answer, message, errorClass = 'negotiate'] of answers) {
    it(`calls ${name} ${errorClass}`, async () => {
      const found = await failure(answer, { accessToken: 'hidden', query: { key: 'hidden' } });
      assert.equal(found.errorClass, errorClass);
      assert.match(found.message, message);
      assert.doesNotMatch(found.message, /hidden/);
    });
  }

  it('reads how long a throttled client shall wait, in seconds or by date', async () => {
    const throttle =
      (after: string): Answer =>
      (_request, response) =>
        response.writeHead(429, { 'Retry-After': after }).end();
    assert.equal((await failure(throttle('3'))).retryAfterMs, 3000);
    const byDate = await failure(throttle(new Date(Date.now() + 60_000).toUTCString()));
    assert.equal(byDate.errorClass, 'throttled');
    assert.ok(byDate.retryAfterMs! > 50_000 && byDate.retryAfterMs! <= 60_000);
    for (const neither of ['-5', '1.5', 'soon', '']) {
      assert.equal((await failure(throttle(neither))).retryAfterMs, undefined, neither);
    }
  });

  it('gives up an answer that does not end', async () => {
    const { errorClass, message } = await failure((_request, response) => {
      const more = (): void => {
        if (!response.destroyed && response.write('x'.repeat(65_536))) setImmediate(more);
      };
      response.on('drain', more);
      more();
    });
    assert.deepEqual([errorClass, message], ['negotiate', 'negotiate: the answer does not end']);
  });

  it('gives up a server that does not answer when the time is over', async () => {
    const { origin } = await serve(() => undefined);
    const asking = ask(`${origin}/hub?key=hidden`, {}, AbortSignal.timeout(50));
    await assert.rejects(asking, {
      errorClass: 'timeout',
      message: /no answer from .*hub\/negotiate in time$/,
    });
  });

  it('calls a port where nothing listens refused', async () => {
    await assert.rejects(ask(await closedPort()), { errorClass: 'refused' });
  });

  it('refuses a header or token that would end its line', async () => {
    for (const bad of ['a\r\nEvil: 1', 'a\n', 'a\u010d\u010aEvil: 1']) {
      for (const changes of [{ headers: { 'X-A': bad } }, { accessToken: bad }]) {
        const { errorClass, message } = await failure(json(admitted), changes);
        assert.equal(errorClass, 'negotiate');
        assert.match(message, /line break or control character/);
      }
    }
  });

  it('takes 14 KB of headers', async () => {
    const { origin } = await serve((_request, response) => {
      response.setHeader('X-Fill', 'a'.repeat(14 * 1024));
      response.end(JSON.stringify(admitted));
    });
    assert.equal((await ask(`${origin}/hub`)).connectionId, 'public');
  });
});
