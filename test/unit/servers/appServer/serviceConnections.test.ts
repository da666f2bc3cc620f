import assert from 'node:assert/strict';
import { AppServerHub } from '../../../../src/servers/appServer/appServerHub';
import {
  adviseOnEnd,
  type ServerConnection,
} from '../../../../src/servers/appServer/serviceConnection';
import { ServerConnections } from '../../../../src/servers/appServer/appServer';
import { serviceType } from '../../../../src/wire/service/serviceMessage';
import { VirtualTime } from '../../../fakes/virtualTime';

/** Connections that get no token. */
function withoutToken(onProblem: (text: string) => void): ServerConnections {
  return new ServerConnections(new AppServerHub({}), {
    ...{ url: 'ws://127.0.0.1:1/server/?hub=h', serverId: 's', signedIn: false, onProblem },
    token: () => Promise.reject(new Error('no key')),
  });
}

describe('connections of an app server to its service', () => {
  it('say why none can be opened where there is no token, and end nothing', async () => {
    const said = await new Promise<string>((resolve) => {
      // The service asks for one more.
      const message = { type: serviceType.ping, messages: ['target', 't'] } as const;
      withoutToken(resolve).onMessage({} as ServerConnection, message);
    });
    assert.equal(said, 'A server connection could not be opened: no key.');
  });

  it('wait twice as long after each failure, up to a minute, and as long as the service asks', async () => {
    const time = new VirtualTime().install();
    const { random } = Math;
    Math.random = () => 0;
    try {
      for (const [retryAfterMs, waits] of [
        [undefined, [1, 2, 4, 8, 16, 32, 60, 60]],
        [3000, [3, 2, 4, 8, 16, 32, 60, 60]],
      ] as const) {
        const beginMs = time.nowMs;
        const triedS = [0];
        const tried = (): unknown => triedS.push((time.nowMs - beginMs) / 1000);
        const lost = { isOnDemand: false } as ServerConnection;
        const connections = withoutToken(tried);
        connections.onEnd(lost, { reason: 'gone', retryAfterMs });
        await time.to(beginMs + 200_000);
        void connections.dispose();
        // What is lost is said at once, before the first wait.
        const atS = triedS.slice(1);
        assert.deepEqual(
          atS.slice(1).map((at, index) => at - atS[index]!),
          waits,
        );
      }
    } finally {
      Math.random = random;
      time.restore();
    }
  });
});

describe('the advice on a server connection that is refused', () => {
  it('distinguishes a key that is wrong from a resource that takes none', () => {
    assert.match(adviseOnEnd({ status: 401 }, false), /^Check the access key/);
    const forbidden = adviseOnEnd({ status: 403 }, false);
    assert.match(forbidden, /Serverless mode.* access keys are disabled.* network access rules/);
    for (const status of [401, 403])
      assert.match(adviseOnEnd({ status }, true), /^Assign the role SignalR App Server/);
  });
});
