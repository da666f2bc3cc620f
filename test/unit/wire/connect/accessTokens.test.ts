import assert from 'node:assert/strict';
import { decodeJwt, jwtVerify } from 'jose';
import { AccessTokens } from '../../../../src/wire/connect/accessTokens';
import type { ServiceAccess } from '../../../../src/base/endpoint';
import { findUseCase } from '../../../../src/usecases/registry';
import { permissionsOf } from '../../../../src/usecases/useCase';

const access = {
  kind: 'signalr',
  hub: 'chat',
  audience: 'http://localhost',
  restUrl: 'http://localhost:8888',
  accessKey: 'bm90LWEtcmVhbC1rZXk=',
} as const satisfies ServiceAccess;

describe('access tokens', () => {
  it('of clients of Azure SignalR are made out to the hub, and name the user', async () => {
    const token = await new AccessTokens(access, 0xc0ffee).forClient(7);
    // The key is the text itself, although it looks like base64.
    const key = new TextEncoder().encode(access.accessKey);
    const { payload, protectedHeader } = await jwtVerify(token, key);
    assert.equal(protectedHeader.alg, 'HS256');
    assert.equal(payload.aud, 'http://localhost/client/?hub=chat');
    assert.equal(payload['nameid'], 'user_c0ffee_7');
    assert.ok(payload.exp! > Date.now() / 1000 + 3600);
  });

  it('of clients of Web PubSub may join and send where the run does, and nothing else', async () => {
    const pubSub = { ...access, kind: 'webpubsub' } as const;
    const rolesFor = async (name: string): Promise<unknown> => {
      const permissions = permissionsOf(findUseCase(name)!.run);
      const tokens = new AccessTokens(pubSub, 0, [...permissions, ...permissions]);
      const payload = decodeJwt(await tokens.forClient(0));
      assert.equal(payload.aud, 'http://localhost/client/hubs/chat');
      assert.equal(payload.sub, 'user_0_0');
      return payload['role'];
    };
    const [join, send] = ['webpubsub.joinLeaveGroup', 'webpubsub.sendToGroup'];
    assert.deepEqual(await rolesFor('sendToGroup'), [join, send]);
    assert.deepEqual(await rolesFor('restSendToGroup'), [join]);
    assert.equal(await rolesFor('echo'), undefined);
    const ofSignalr = new AccessTokens(access, 0, ['joinGroups', 'sendToGroups']);
    assert.equal(decodeJwt(await ofSignalr.forClient(0))['role'], undefined);
  });

  it('of a REST path are signed once, and anew before they expire', async () => {
    let nowS = 1_000_000;
    const tokens = new AccessTokens(access, 0, [], () => nowS);
    const first = await tokens.forRest('/api/hubs/chat/:send');
    assert.equal(decodeJwt(first).aud, 'http://localhost/api/hubs/chat/:send');
    nowS = decodeJwt(first).exp! - 301;
    assert.equal(await tokens.forRest('/api/hubs/chat/:send'), first);
    nowS += 2;
    const second = await tokens.forRest('/api/hubs/chat/:send');
    assert.ok(decodeJwt(second).exp! > decodeJwt(first).exp!);
  });

  it('after a sign-in are its own, and for clients signed with the key that was lent', async () => {
    const { kind, hub, audience, restUrl } = access;
    const first = { bearer: 'one', signingKey: { id: 'k1', text: 'lent' } };
    const tokens = new AccessTokens({ kind, hub, audience, restUrl, ...first });
    assert.equal(await tokens.forRest('/api/hubs/chat/:send'), 'one');
    assert.equal(await tokens.forServer('server'), 'one');
    const lent = await jwtVerify(await tokens.forClient(0), new TextEncoder().encode('lent'));
    assert.equal(lent.protectedHeader.kid, 'k1');
    tokens.renew({ bearer: 'two', signingKey: { id: 'k2', text: 'new' } });
    assert.equal(await tokens.forRest('/api/hubs/chat/:send'), 'two');
    const renewed = await jwtVerify(await tokens.forClient(0), new TextEncoder().encode('new'));
    assert.equal(renewed.protectedHeader.kid, 'k2');
  });
});
