import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import type { Endpoint, PersonalEndpoint, SigningRule } from '../../../../src/base/endpoint';
import { identityPlaceholders, parsePersonalText } from '../../../../src/base/personalText';
import { PersonalEndpoints } from '../../../../src/wire/connect/personalEndpoints';
import { ConnectFailure, mayRetry } from '../../../../src/wire/connectFailure';
import { endpointOf } from '../../../fakes/endpoint';

const parts = (text: string) => parsePersonalText(text, identityPlaceholders).parts;

const rule: SigningRule = {
  ...{ kind: 'rule', count: 4, key: 'a key of some length', userClaim: 'sub' },
  head: { alg: 'HS256', typ: 'JWT', kid: 'k1' },
  user: parts('user-{index}'),
  claims: {
    name: { parts: parts('{data.name}') },
    roles: { items: [{ parts: parts('r{index}') }, { value: 7 }] },
  },
  audience: 'chat',
  issuer: 'bench',
  lifetimeMs: 60_000,
};

const withPersonal = (
  personal: Partial<PersonalEndpoint>,
  more: Partial<Endpoint> = {},
): Endpoint =>
  endpointOf('http://127.0.0.1:1/', {
    ...more,
    personal: { headers: {}, query: {}, ...personal },
  });

interface Read {
  readonly head: object;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: string;
  readonly signature: Buffer;
}

/** RFC 7515, 7.1, without a library. */
function read(token = ''): Read {
  const [head = '', claims = '', signature = '', ...rest] = token.split('.');
  assert.deepEqual(rest, []);
  const json = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());
  return {
    head: json(head) as object,
    claims: json(claims) as Read['claims'],
    signed: `${head}.${claims}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

describe('the endpoint of one connection', () => {
  it('is the same for all where nothing is personal', async () => {
    const endpoint = endpointOf('http://127.0.0.1:1/', { accessToken: 't', headers: { a: 'b' } });
    assert.deepEqual(await new PersonalEndpoints(endpoint).of(3), { endpoint });
  });

  it('has a token of a rule, signed as others verify it, which lives as long as it should', async () => {
    const data = { rows: [{ name: 'ann' }, { name: 'bob' }], shared: false };
    let nowMs = 1_700_000_000_500;
    const endpoints = new PersonalEndpoints(
      withPersonal({ identities: rule, data }),
      undefined,
      () => nowMs,
    );
    const { endpoint, renewAtMs } = await endpoints.of(5);
    assert.equal(endpoint.personal, undefined);
    const { head, claims, signed, signature } = read(endpoint.accessToken);
    assert.deepEqual(head, { alg: 'HS256', typ: 'JWT', kid: 'k1' });
    // Connection 5 is identity 1, which has the row 1.
    assert.deepEqual(claims, {
      ...{ sub: 'user-1', name: 'bob', roles: ['r1', 7], aud: 'chat', iss: 'bench' },
      ...{ iat: 1_700_000_000, exp: 1_700_000_060 },
    });
    assert.deepEqual(signature, createHmac('sha256', rule.key).update(signed).digest());
    assert.equal(renewAtMs, 1_700_000_060_000 - 12_000);
    assert.deepEqual(endpoints.valuesOf(5), { name: 'bob', roles: ['r1', 7], user: 'user-1' });
    nowMs += 50_000;
    const later = await endpoints.of(5);
    assert.equal(read(later.endpoint.accessToken).claims['exp'], 1_700_000_110);
  });

  const pairs: readonly (readonly [string, { publicKey: KeyObject; privateKey: KeyObject }])[] = [
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ];
  for (const [alg, { publicKey, privateKey }] of pairs)
    it(`signs with a private key: ${alg}`, async () => {
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const identities = { ...rule, key, claims: {}, head: { alg, typ: 'JWT' } as const };
      const { endpoint } = await new PersonalEndpoints(withPersonal({ identities })).of(0);
      const { signed, signature } = read(endpoint.accessToken);
      const by = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
      const hash = alg === 'EdDSA' ? null : 'sha256';
      assert.ok(verify(hash, Buffer.from(signed), by, signature));
    });

  it('has the values of its row, in turn, and the token that is written where one is', async () => {
    const identities = {
      kind: 'rows',
      rows: [{ values: { token: 'T0', user: 'ann' } }, { values: { token: 'T1', user: 'bob' } }],
    } as const;
    const headers = { 'X-User': ['u:', { name: 'identity', column: 'user' }] } as const;
    const query = { room: [{ name: 'group' }] } as const;
    const personal = { identities, headers, query };
    const tokens = async (more: Partial<PersonalEndpoint>, common: Partial<Endpoint> = {}) => {
      const endpoints = new PersonalEndpoints(
        withPersonal({ ...personal, ...more }, common),
        (index) => `g${index}`,
      );
      const { endpoint, renewAtMs } = await endpoints.of(3);
      assert.equal(renewAtMs, undefined);
      assert.deepEqual(endpoint.headers, { 'X-User': 'u:bob' });
      assert.deepEqual(endpoint.query, { room: 'g3' });
      return endpoint.accessToken;
    };
    assert.equal(await tokens({}), 'T1');
    assert.equal(await tokens({}, { accessToken: 'same' }), 'same');
    assert.equal(
      await tokens({ accessToken: ['x', { name: 'identity', column: 'user' }] }),
      'xbob',
    );
  });

  it('has the newest token of its row, and a failure where there is none', async () => {
    const failed = { errorClass: 'timeout', message: 'too late' } as const;
    const identities = {
      kind: 'rows',
      rows: [
        { values: { token: 'T0' }, expiresMs: 100_000 },
        { values: {}, failed },
      ],
    } as const;
    const endpoints = new PersonalEndpoints(withPersonal({ identities }), undefined, () => 40_000);
    assert.equal((await endpoints.of(2)).renewAtMs, 88_000);
    await assert.rejects(
      endpoints.of(1),
      (error) =>
        error instanceof ConnectFailure && error.errorClass === 'timeout' && !mayRetry(error),
    );
    endpoints.renewed([[0, { values: { token: 'T9' }, expiresMs: 40_500 }]]);
    const { endpoint, renewAtMs } = await endpoints.of(0);
    assert.equal(endpoint.accessToken, 'T9');
    assert.equal(renewAtMs, 41_000);
  });
});
