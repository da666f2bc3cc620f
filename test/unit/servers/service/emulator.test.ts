import assert from 'node:assert/strict';
import { SignJWT } from 'jose';
import { stringClaims, TokenCheck } from '../../../../src/servers/service/emulator';

const key = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGH';
const nowMs = 1_800_000_000_000;
const client = 'http://localhost:8888/client/?hub=chat&id=7';
const rest = 'http://localhost:8888/api/hubs/chat/users/a%20b/:send?api-version=2022-06-01';

function sign(claims: Record<string, unknown>, signingKey = key, alg = 'HS256'): Promise<string> {
  const all = { exp: nowMs / 1000 + 60, ...claims };
  return new SignJWT(all)
    .setProtectedHeader({ alg, typ: 'JWT', kid: '-123' })
    .sign(new TextEncoder().encode(signingKey));
}

describe('the check of access tokens', () => {
  const tokens = new TokenCheck({ accessKeys: [key], nowMs: () => nowMs });

  async function statusFor(aud: unknown, url: string): Promise<number> {
    const outcome = await tokens.check(await sign({ aud }), [url]);
    return 'status' in outcome ? outcome.status : 200;
  }

  it('accepts the audience with and without port and query', async () => {
    const accepted = [
      ['http://localhost/client/?hub=chat', client],
      ['http://localhost:8888/client/?hub=chat', client],
      ['http://LOCALHOST/client?hub=chat', client],
      ['http://localhost/client/', client],
      [['http://elsewhere/', 'http://localhost/client/?hub=chat'], client],
      ['http://localhost/api/hubs/chat/users/a%20b/:send', rest],
      ['http://localhost/api/hubs/chat/users/a%20b/%3Asend?api-version=2022-06-01', rest],
      [rest, rest],
    ] as const;
    for (const [aud, url] of accepted) assert.equal(await statusFor(aud, url), 200, String(aud));
  });

  it('of applications goes by the sign-in, where there is one', async () => {
    const own = new TokenCheck({
      accessKeys: [key],
      nowMs: () => nowMs,
      signIns: (token) =>
        token === 'good' ? 'accepted' : token === 'poor' ? 'forbidden' : 'unauthorized',
    });
    const signed = await sign({ aud: rest });
    const statusOf = async (token: string | undefined): Promise<number> => {
      const outcome = await own.checkApplication(token, [rest]);
      return 'status' in outcome ? outcome.status : 200;
    };
    assert.equal(await statusOf(signed), 200);
    assert.equal(await statusOf('good'), 200);
    assert.equal(await statusOf('poor'), 403);
    assert.equal(await statusOf('other'), 401);
    assert.equal(await statusOf(undefined), 401);
    const asClient = await own.check('good', [client]);
    assert.ok('status' in asClient && asClient.status === 401);
    const without = await tokens.checkApplication('good', [rest]);
    assert.ok('status' in without && without.status === 401);
  });

  it('accepts the two keys that were lent last, by the name in the header', async () => {
    const own = new TokenCheck({ accessKeys: [key], nowMs: () => nowMs });
    const claims = { aud: client, exp: nowMs / 1000 + 60 };
    const keys = [own.issueKey(), own.issueKey()];
    const statusOf = async ({ id, text }: { id: string; text: string }): Promise<number> => {
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: id })
        .sign(new TextEncoder().encode(text));
      const outcome = await own.check(token, [client]);
      return 'status' in outcome ? outcome.status : 200;
    };
    for (const each of keys) assert.equal(await statusOf(each), 200);
    assert.equal(await statusOf({ id: keys[0]!.id, text: keys[1]!.text }), 401);
    assert.equal(await statusOf({ id: 'none', text: keys[1]!.text }), 401);
    own.issueKey();
    assert.deepEqual([await statusOf(keys[0]!), await statusOf(keys[1]!)], [401, 200]);
  });

  it('refuses another path, hub, host, port, scheme, and no URL at all', async () => {
    const refused = [
      ['http://localhost/client/?hub=other', client],
      ['http://localhost/server/?hub=chat', client],
      ['http://localhost/client/more?hub=chat', client],
      ['http://127.0.0.2/client/?hub=chat', client],
      ['http://localhost:8889/client/?hub=chat', client],
      ['https://localhost/client/?hub=chat', client],
      ['http://localhost/api/hubs/chat/users/a/b/:send', rest],
      ['http://localhost/api/hubs/chat/users/a%2Fb/:send', rest.replace('%20', '/')],
      ['client', client],
      [7, client],
      [undefined, client],
    ] as const;
    for (const [aud, url] of refused) assert.equal(await statusFor(aud, url), 401, String(aud));
  });

  it('hands back all claims, remembered ones too', async () => {
    const token = await sign({ aud: 'http://localhost/client/?hub=chat', role: ['a', 'b'] });
    for (let turn = 0; turn < 2; turn++) {
      const outcome = await tokens.check(token, [client]);
      assert.ok('claims' in outcome);
      assert.deepEqual(stringClaims(outcome.claims['role']), ['a', 'b']);
      assert.equal(outcome.expiresMs, nowMs + 60_000);
    }
    const elsewhere = await tokens.check(token, [rest]);
    assert.ok('status' in elsewhere && elsewhere.status === 401);
  });

  it('tolerates clocks that differ a little, also for a token it knows', async () => {
    let now = nowMs;
    const clocked = new TokenCheck({ accessKeys: [key], nowMs: () => now });
    const token = await sign({ aud: 'http://localhost/client/?hub=chat' });
    now = nowMs + 89_999;
    assert.ok('claims' in (await clocked.check(token, [client])));
    now = nowMs + 90_000;
    const text = 'The access token has expired.';
    assert.deepEqual(await clocked.check(token, [client]), { status: 401, text });
  });

  it('takes either key while one is rotated, and forgets the old one', async () => {
    const rotated = new TokenCheck({ accessKeys: [key, 'second'], nowMs: () => nowMs });
    const aud = 'http://localhost/client/?hub=chat';
    const tokenOfBoth = [await sign({ aud }), await sign({ aud }, 'second', 'HS512')] as const;
    for (const token of tokenOfBoth) assert.ok('claims' in (await rotated.check(token, [client])));
    rotated.rotate(['second']);
    const text = 'The signature of the access token does not fit the access key.';
    assert.deepEqual(await rotated.check(tokenOfBoth[0], [client]), { status: 401, text });
    assert.ok('claims' in (await rotated.check(tokenOfBoth[1], [client])));
  });

  it('refuses what is no token, and shows none of it', async () => {
    const aud = 'http://localhost/client/?hub=chat';
    const good = await sign({ aud });
    const [head, body] = good.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const bad = [
      undefined,
      '',
      'secret',
      'a.b.c',
      `${none}.${body}.`,
      `${head}.${body}.`,
      `${head}.${body}.AAAA`,
      `${head}.e30.${good.split('.')[2]}`,
      await sign({ aud }, 'another'),
      await sign({ aud, exp: undefined }),
    ];
    for (const token of bad) {
      const outcome = await tokens.check(token, [client]);
      assert.ok('status' in outcome && outcome.status === 401, token);
      if (token) assert.ok(!outcome.text.includes(token));
    }
    const long = await tokens.check('a'.repeat(4097), [client]);
    assert.ok('status' in long && long.status === 413);
  });
});
