import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import { AccessTokens } from '../../../../src/wire/connect/accessTokens';
import { recordLatencyShape } from '../../../../src/wire/message/messageLayout';
import type { ServiceAccess } from '../../../../src/base/endpoint';
import {
  maximumSockets,
  RestCalls,
  type ServiceFailure,
} from '../../../../src/wire/rest/restCalls';
import { emptyStamp } from '../../../../src/wire/message/stamp';
import { endpointOf } from '../../../fakes/endpoint';
import { until } from '../../../fakes/until';
import { upgradeUnasked } from '../../../fakes/upgrading';
import { VirtualTime } from '../../../fakes/virtualTime';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly audience: unknown;
  readonly body: string;
}

describe('REST calls', () => {
  let server: Server | undefined;
  let calls: RestCalls | undefined;
  const failures: ServiceFailure[] = [];
  let freed = 0;
  const seen: Seen[] = [];

  async function start(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    kind: ServiceAccess['kind'] = 'signalr',
  ): Promise<RestCalls> {
    failures.length = 0;
    freed = 0;
    seen.length = 0;
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
        const { method, url } = request;
        seen.push({ method, url, audience: decodeJwt(token).aud, body });
        answer(request, response);
      });
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const restUrl = `http://127.0.0.1:${port}`;
    const access = { kind, hub: 'chat', audience: 'http://127.0.0.1', restUrl, accessKey: 'k' };
    calls = new RestCalls(
      ...([
        endpointOf(restUrl),
        access,
        new AccessTokens(access, 0xc0ffee, ['joinGroups', 'sendToGroups']),
      ] as const),
      (failure) => failures.push(failure),
      () => (freed += 1),
    );
    return calls;
  }

  afterEach(() => {
    calls?.close();
    server?.closeAllConnections();
    server?.close();
  });

  it('send to everybody, a user, a group and a connection, each with a token for its path', async () => {
    const rest = await start((_, response) => response.writeHead(202).end());
    for (const receiver of [
      { kind: 'all' },
      { kind: 'user', index: 3 },
      { kind: 'group', group: 'a/b' },
      { kind: 'connection', id: 'c' },
    ] as const)
      assert.equal(await rest.sendAndWait(receiver, Buffer.from('{}')), undefined);
    const paths = ['', '/users/user_c0ffee_3', '/groups/a%2Fb', '/connections/c'].map(
      (part) => `/api/hubs/chat${part}/:send`,
    );
    assert.deepEqual(
      seen.map(({ url }) => url),
      paths.map((path) => `${path}?api-version=2022-11-01`),
    );
    assert.deepEqual(
      seen.map(({ audience }) => audience),
      paths.map((path) => `http://127.0.0.1${path}`),
    );
  });

  it('carry an invocation to Azure SignalR and the bare payload to Web PubSub', async () => {
    for (const kind of ['signalr', 'webpubsub'] as const) {
      const rest = await start((_, response) => response.writeHead(202).end(), kind);
      const template = rest.template(recordLatencyShape({ method: 'RecordLatency', blob: 'x' }));
      const body = template.fill(emptyStamp(), undefined, Date.now());
      assert.equal(await rest.sendAndWait({ kind: 'all' }, body), undefined);
      const reported = JSON.parse(seen[0]!.body) as Record<string, unknown>;
      const data =
        kind === 'signalr' ? (reported['arguments'] as [Record<string, unknown>])[0] : reported;
      assert.deepEqual(Object.keys(data), [
        ...['bench.Stamp', 'payload.Timestamp', 'payload.MessageBlob'],
      ]);
      assert.equal(reported['target'], kind === 'signalr' ? 'RecordLatency' : undefined);
      calls?.close();
      server?.close();
    }
  });

  for (const [kind, remembered, version] of [
    ['signalr', 'ttl=86400&', '2022-11-01'],
    ['webpubsub', '', '2024-12-01'],
  ] as const)
    it(`put users and connections into groups of ${kind}`, async () => {
      const rest = await start((_, response) => response.writeHead(200).end(), kind);
      assert.equal(await rest.changeGroup('PUT', 4, 'g'), undefined);
      assert.equal(await rest.changeGroup('DELETE', 'c', 'g'), undefined);
      assert.deepEqual(
        seen.map(({ method, url }) => `${method} ${url}`),
        [
          `PUT /api/hubs/chat/users/user_c0ffee_4/groups/g?${remembered}api-version=${version}`,
          `DELETE /api/hubs/chat/groups/g/connections/c?api-version=${version}`,
        ],
      );
    });

  it('are classed by status, with the sentence of the service', async () => {
    const rest = await start((_, response) => {
      response.writeHead(401).end(JSON.stringify({ code: 'x', message: 'bad\naudience' }));
    });
    assert.deepEqual(await rest.sendAndWait({ kind: 'all' }, Buffer.from('{}')), {
      errorClass: 'unauthorized',
      text: 'REST: POST answered 401: bad audience',
      status: 401,
    });
    rest.send({ kind: 'all' }, () => Buffer.from('{}'));
    await until('the failure', () => failures.length > 0);
    assert.deepEqual(
      failures.map(({ errorClass }) => errorClass),
      ['unauthorized'],
    );
  });

  it('wait as long as a service asks after 429, and repeat nothing', async () => {
    const times: number[] = [];
    const rest = await start((_, response) => {
      times.push(performance.now());
      if (times.length === 1) response.writeHead(429, { 'Retry-After': '1' }).end();
      else response.writeHead(202).end();
    });
    const first = await rest.sendAndWait({ kind: 'all' }, Buffer.from('1'));
    assert.equal(first?.errorClass, 'throttled');
    assert.equal(await rest.sendAndWait({ kind: 'all' }, Buffer.from('2')), undefined);
    assert.deepEqual(
      seen.map(({ body }) => body),
      ['1', '2'],
    );
    assert.ok(times[1]! - times[0]! >= 950, `${times[1]! - times[0]!} ms`);
  });

  it('take no more messages than there are sockets, and report when one is free', async () => {
    const open: ServerResponse[] = [];
    const rest = await start((_, response) => open.push(response));
    for (let call = 0; call < maximumSockets; call++) {
      assert.ok(rest.takesMessages);
      rest.send({ kind: 'all' }, () => Buffer.from('{}'));
    }
    assert.equal(rest.takesMessages, false);
    // What waits goes first.
    const waiting = rest.health();
    await until('the calls', () => open.length === maximumSockets);
    open[0]!.writeHead(202).end();
    await until('the call that waits', () => open.length > maximumSockets);
    assert.deepEqual([rest.takesMessages, freed], [false, 0]);
    for (const response of open.slice(1)) response.writeHead(202).end();
    assert.equal(await waiting, undefined);
    await until('a free socket', () => freed > 0);
    assert.deepEqual([rest.takesMessages, freed, failures], [true, 1, []]);
  });

  it('take messages while a service throttles, and write them when they leave', async () => {
    const rest = await start((_, response) => {
      if (seen.length === 1) response.writeHead(429, { 'Retry-After': '1' }).end();
      else response.writeHead(202).end();
    });
    await rest.sendAndWait({ kind: 'all' }, Buffer.from('1'));
    let written = 0;
    for (let call = 0; call <= maximumSockets; call++) {
      assert.ok(rest.takesMessages);
      rest.send({ kind: 'all' }, () => Buffer.from(String((written += 1))));
    }
    assert.equal(written, 0);
    await until('the calls', () => seen.length === 2 + maximumSockets);
    assert.deepEqual([written, failures], [1 + maximumSockets, []]);
  });

  it('that wait fail when the calls are closed, and so do later ones', async () => {
    const rest = await start((_, response) => response.writeHead(429).end());
    await rest.sendAndWait({ kind: 'all' }, Buffer.from('1'));
    const waiting = rest.changeGroup('PUT', 1, 'g');
    rest.close();
    const over = { errorClass: 'closed', text: 'REST: the run is over' };
    assert.deepEqual(await waiting, over);
    assert.deepEqual(await rest.health(), over);
    assert.equal(seen.length, 1);
  });

  it('ask for the token of a client, and for a key', async () => {
    const answers = ['{"token":"t"}', '{"KeyId":"k","AccessKey":"text"}'];
    const rest = await start((_, response) => response.end(answers.shift()), 'webpubsub');
    assert.equal(await rest.clientToken(3), 't');
    assert.deepEqual(await rest.signingKey(), { id: 'k', text: 'text' });
    const roles = ['webpubsub.joinLeaveGroup', 'webpubsub.sendToGroup'];
    const query = `userId=user_c0ffee_3&minutesToExpire=1440&role=${roles.join('&role=')}`;
    assert.deepEqual(
      seen.map(({ method, url }) => `${method} ${url}`),
      [
        `POST /api/hubs/chat/:generateToken?${query}&api-version=2024-12-01`,
        'GET /api/v1/auth/accessKey?api-version=2024-12-01',
      ],
    );
  });

  it('that ask for a token end with the signal, wherever they are, and leave no more', async () => {
    const rest = await start((_, response) => {
      // The first is never answered; the second makes the others wait.
      if (seen.length === 2) response.writeHead(429, { 'Retry-After': '1' }).end();
      else if (seen.length > 2) response.end('{"token":"t"}');
    }, 'webpubsub');
    const connect = new AbortController();
    const asked = [rest.clientToken(0, connect.signal)];
    await until('the call', () => seen.length > 0);
    const throttled = await rest.clientToken(1, connect.signal);
    assert.equal(typeof throttled === 'object' && throttled.errorClass, 'throttled');
    asked.push(rest.clientToken(2, connect.signal));
    connect.abort();
    asked.push(rest.clientToken(3, connect.signal));
    const failure = {
      errorClass: 'timeout',
      text: 'REST: :generateToken was not answered in time',
    };
    assert.deepEqual(await Promise.all(asked), [failure, failure, failure]);
    assert.equal(await rest.clientToken(4), 't');
    const users = seen.map(({ url = '' }) => /userId=user_c0ffee_(\d)/.exec(url)?.[1]);
    assert.deepEqual(users, ['0', '1', '4']);
  });

  it('are failures when a service answers something else', async () => {
    const answers = ['', 'null', '[]', '{"token":7}', '{"errorClass":"dns"}', 'x'.repeat(100_000)];
    const rest = await start((_, response) => response.end(answers.shift()));
    while (answers.length > 0) {
      const answer = await rest.clientToken(0);
      assert.ok(typeof answer === 'object' && answer.errorClass === 'protocol');
      assert.match(answer.text, /the answer holds no (token|JSON object)/);
    }
  });

  it('fail where a service changes the protocol that nobody asked it to', async () => {
    const rest = await start((request) => upgradeUnasked(request));
    const failure = await rest.sendAndWait({ kind: 'all' }, Buffer.from('{}'));
    assert.equal(failure?.text, 'REST: the server switches to another protocol');
  });

  it('fail where an answer is cut, whatever its head says', async () => {
    const rest = await start((_, response) => {
      response.writeHead(202, { 'Content-Length': 5 }).write('ab', () => response.destroy());
    });
    const failure = {
      errorClass: 'closed',
      text: 'REST: the server ended the connection in the middle of an answer',
    };
    assert.deepEqual(await rest.sendAndWait({ kind: 'all' }, Buffer.from('{}')), failure);
    assert.deepEqual(await rest.clientToken(1), failure);
  });

  it('go once more over a new socket where the idle one was closed, and else never', async () => {
    const time = new VirtualTime().install();
    try {
      let closes = false;
      const rest = await start((request, response) => {
        if (closes) request.socket.destroy();
        else response.writeHead(202).end();
        closes = false;
      });
      const send = (): Promise<ServiceFailure | undefined> =>
        rest.sendAndWait({ kind: 'all' }, Buffer.from('{}'));
      assert.equal(await send(), undefined);
      await time.to(1000);
      closes = true;
      assert.equal(await send(), undefined);
      assert.equal(seen.length, 3);
      // The service may have had this one.
      await time.to(1900);
      closes = true;
      assert.equal((await send())?.errorClass, 'reset');
      assert.equal(seen.length, 4);
    } finally {
      time.restore();
    }
  });

  it('fail where there is no token for them, or their body cannot be written', async () => {
    const rest = await start((_, response) => response.writeHead(202).end());
    const { port } = server!.address() as AddressInfo;
    const restUrl = `http://127.0.0.1:${port}`;
    const access = {
      ...({ kind: 'signalr', hub: 'h', audience: restUrl, restUrl } as const),
      accessKey: 'k',
    };
    for (const forRest of [() => Promise.reject(new Error('no key')), async () => 'a\nb']) {
      const tokens = Object.assign(new AccessTokens(access), { forRest });
      const without = new RestCalls(endpointOf(restUrl), access, tokens);
      const failure = await without.sendAndWait({ kind: 'all' }, Buffer.from('{}'));
      assert.match(failure!.text, /^REST: (no key|.* line break or control character)$/);
      without.close();
    }
    rest.send({ kind: 'all' }, () => {
      throw new Error('no value for {data.x}');
    });
    await until('the failure', () => failures.length > 0);
    assert.deepEqual(failures, [{ errorClass: 'other', text: 'REST: no value for {data.x}' }]);
    // Its place is free again.
    assert.equal(await rest.sendAndWait({ kind: 'all' }, Buffer.from('{}')), undefined);
    assert.equal(seen.length, 1);
  });

  it('fail with a class when nobody listens', async () => {
    const rest = await start(() => undefined);
    await new Promise((resolve) => server!.close(resolve));
    const failure = await rest.sendAndWait({ kind: 'all' }, Buffer.from('{}'));
    assert.equal(failure?.errorClass, 'refused');
  });
});
