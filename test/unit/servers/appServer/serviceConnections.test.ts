import assert from 'node:assert/strict';
import { AppServerHub } from '../../../../src/servers/appServer/appServerHub';
import type { ServerConnection } from '../../../../src/servers/appServer/serviceConnection';
import { ServerConnections } from '../../../../src/servers/appServer/serviceConnections';
import { serviceType } from '../../../../src/wire/service/serviceMessage';

describe('connections of an app server to its service', () => {
  it('say why none can be opened where there is no token, and end nothing', async () => {
    const problems: string[] = [];
    const said = new Promise<void>((resolve) => {
      const onProblem = (text: string): void => {
        problems.push(text);
        resolve();
      };
      const connections = new ServerConnections(new AppServerHub({}), {
        ...{ url: 'ws://127.0.0.1:1/server/?hub=h', serverId: 's', signedIn: false, onProblem },
        token: () => Promise.reject(new Error('no key')),
      });
      // The service asks for one more.
      const message = { type: serviceType.ping, messages: ['target', 't'] } as const;
      connections.received({} as ServerConnection, message);
    });
    await said;
    assert.deepEqual(problems, ['A server connection could not be opened: no key.']);
  });
});
