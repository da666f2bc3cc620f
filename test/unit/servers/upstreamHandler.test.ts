import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { upstreamHandler } from '../../../src/servers/upstream/upstreamHandler';
import { encodeMessagePackMessage } from '../../../src/wire/message/messagePackMessage';
import { endpointOf } from '../../fakes/endpoint';

const accessKey = 'made up for tests';

describe('the upstream handler', () => {
  let rest: Server;
  let status = 202;
  let handler: Awaited<ReturnType<typeof upstreamHandler>>;
  const problems: string[] = [];

  before(async () => {
    rest = createServer((_request, response) => response.writeHead(status).end());
    rest.listen(0, '127.0.0.1');
    await once(rest, 'listening');
    const restUrl = `http://127.0.0.1:${(rest.address() as AddressInfo).port}`;
    const access = { hub: 'chat', audience: restUrl, restUrl, accessKey };
    const settings = {
      endpoint: endpointOf(restUrl),
      service: { kind: 'signalr' as const, ...access },
    };
    handler = await upstreamHandler(settings, 0, (text) => problems.push(text));
  });
  beforeEach(() => {
    status = 202;
    problems.length = 0;
  });
  after(async () => {
    await handler.dispose();
    rest.closeAllConnections();
    rest.close();
  });

  const signature = (key = accessKey): string =>
    `sha256=${createHmac('sha256', key).update('one').digest('hex')}`;

  async function post(
    body: Uint8Array | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const request = await fetch(handler.url, {
      method: 'POST',
      body: typeof body === 'string' ? body : Buffer.from(body),
      headers: {
        'X-ASRS-Connection-Id': 'one',
        'X-ASRS-Category': 'messages',
        'X-ASRS-Signature': signature(),
        'Content-Type': 'application/x-msgpack',
        ...headers,
      },
    });
    await request.arrayBuffer();
    return request.status;
  }
  const echo = encodeMessagePackMessage({ type: 1, target: 'Echo', arguments: [{ a: 1 }] });

  it('refuses events that others have signed, and says so', async () => {
    assert.equal(await post(echo, { 'X-ASRS-Signature': signature('another') }), 401);
    const cloud = { 'ce-type': 'azure.webpubsub.user.Echo', 'ce-connectionid': 'one' };
    assert.equal(await post('hello', { ...cloud, 'ce-signature': signature('another') }), 401);
    assert.deepEqual(new Set(problems).size, 1);
    assert.match(problems[0]!, /401: it is not signed with the access key/);
    assert.equal(problems.length, 2);
  });

  it('says that the service takes none of its calls', async () => {
    assert.equal(await post(echo), 200);
    status = 503;
    assert.equal(await post(echo), 502);
    assert.deepEqual(problems, [
      'The upstream handler could not send a message: REST: POST answered 503.',
    ]);
  });

  it('refuses an event that is too long, and goes on', async () => {
    assert.equal(await post(Buffer.alloc(3 * 1024 * 1024)), 413);
    assert.equal(await post(echo), 200);
  });
});
