import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { AccessTokens } from '../../../../src/wire/connect/accessTokens';
import { recordLatencyShape } from '../../../../src/wire/message/messageLayout';
import { jsonCodec, messagePackCodec } from '../../../../src/wire/message/hubCodec';
import { holeLengths, MessageTemplate } from '../../../../src/wire/message/messageTemplate';
import {
  WeakServerConnection,
  type SendAudience,
} from '../../../../src/wire/service/persistentSends';
import type { ServiceFailure } from '../../../../src/wire/rest/restCalls';
import { emptyStamp } from '../../../../src/wire/message/stamp';
import { endpointOf } from '../../../fakes/endpoint';
import { startStubService, type StubService } from '../../../fakes/stubService';
import { until } from '../../../fakes/until';

const shape = recordLatencyShape({ method: 'RecordLatency', blob: 'x'.repeat(100), binary: false });
const stamp = { ...emptyStamp(), source: 7, sequence: 3 };

describe('sends over a server connection', () => {
  let service: StubService;
  let sends: WeakServerConnection;
  const failures: ServiceFailure[] = [];

  beforeEach(async () => {
    failures.length = 0;
    service = await startStubService();
    const restUrl = service.origin;
    const where = { hub: 'chat', audience: 'http://127.0.0.1', restUrl };
    const access = { kind: 'signalr', accessKey: 'k', ...where } as const;
    const endpoint = endpointOf(restUrl);
    const reported = (failure: ServiceFailure): unknown => failures.push(failure);
    sends = new WeakServerConnection(endpoint, access, new AccessTokens(access), reported, 20);
  });
  afterEach(async () => {
    sends.close();
    await service.dispose();
  });

  function send(audience: SendAudience, receiver?: string): void {
    const name = receiver === undefined ? undefined : Buffer.from(receiver, 'utf8');
    const template = sends.template(shape, audience, name);
    if (!sends.send(template.fill(stamp, name, 1_800_000_000_000))) template.detach();
  }

  it('are a weak connection and whole frames of both hub protocols, byte for byte', async () => {
    await sends.open();
    assert.ok(sends.isOpen);
    send('everyone');
    send('user', 'user12');
    send('group', 'gé');
    const [connection] = service.connections;
    assert.ok(connection);
    await until('the delivery', () => connection.messages.length === 4);
    const [json, messagepack] = [jsonCodec, messagePackCodec].map((codec) =>
      MessageTemplate.of(shape, holeLengths(undefined), codec, false).fill(
        stamp,
        undefined,
        1_800_000_000_000,
      ),
    );
    const payloads = [
      ['json', json],
      ['messagepack', messagepack],
    ];
    const [handshake, everyone, user, group] = connection.messages;
    assert.equal(handshake?.type === 1 && handshake.connectionType, 2);
    assert.deepEqual(everyone, { type: 10, excludedConnectionIds: [], payloads });
    assert.deepEqual(user, { type: 8, userId: 'user12', payloads });
    assert.deepEqual(group, {
      ...{ type: 13, groupName: 'gé', excludedConnectionIds: [], payloads },
      excludedUserIds: [],
    });
    const { url, headers } = connection.request;
    assert.match(url ?? '', /^\/server\/\?hub=chat&cid=/);
    const claims = decodeJwt(headers.authorization!.replace('Bearer ', ''));
    assert.equal(claims.aud, 'http://127.0.0.1/server/?hub=chat');
    assert.equal(claims['nameid'], headers['x-asrs-server-id']);
  });

  it('answer echoes, and come back after an error of the service, whose text they report', async () => {
    await sends.open();
    const [first] = service.connections;
    first!.send({ type: 3, messages: [] }, { type: 3, messages: ['echo', 'a'] });
    await until('the delivery', () => first!.messages.length === 2);
    assert.deepEqual(first!.messages[1], { type: 3, messages: ['echo', 'a'] });
    first!.send({ type: 15, errorMessage: 'Maximum message count limit reached: 100000' });
    await until('the opening', () => service.connections.length === 2 && sends.isOpen);
    assert.deepEqual(failures, [
      {
        errorClass: 'closed',
        text: 'server connection: the service reports an error: Maximum message count limit reached: 100000',
      },
    ]);
  });

  it('report why they cannot be opened, and try again', async () => {
    service.refusals.push(401);
    await sends.open();
    assert.equal(sends.isOpen, false);
    service.handshakes.push({ type: 2, errorMessage: 'no such hub' });
    await until('the failure', () => failures.length === 2);
    assert.deepEqual(
      failures.map(({ errorClass }) => errorClass),
      ['unauthorized', 'handshake'],
    );
    assert.match(failures[1]!.text, /no such hub/);
  });

  it('are errors of the class by which the connection was lost, one for each message', async () => {
    service.refusals.push(401);
    await sends.open();
    const [refusal] = failures;
    send('everyone');
    send('user', 'user12');
    const { errorClass, text } = refusal!;
    const lost = { errorClass, text: `message not sent: ${text}` };
    assert.deepEqual([errorClass, failures], ['unauthorized', [refusal, lost, lost]]);
  });

  it('give a service up that is silent, and one that sends garbage', async () => {
    await sends.open();
    sends.tick(performance.now() + 31_000);
    assert.equal(failures[0]?.errorClass, 'timeout');
    await until('the opening', () => sends.isOpen);
    service.connections[1]!.send(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
    await until('the failure', () => failures.length === 2);
    assert.equal(failures[1]?.errorClass, 'protocol');
  });
});
