import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A hub on loopback that sends its clients to `to`, as an app server with Azure SignalR does. */
export async function redirectingHub(
  to: string,
): Promise<{ readonly url: string; readonly dispose: () => void }> {
  const server = http.createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ url: to, accessToken: 'service' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hub`,
    dispose: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
