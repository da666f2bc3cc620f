import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as http from 'node:http';
import {
  defectWarning,
  guardAsync,
  listenOnLoopback,
  loopbackServer,
  stopServer,
} from '../../../../src/servers/http/loopbackServer';

describe('the handling of a request that takes its time', () => {
  it('ends the request with an error of its own, and never the server', async () => {
    const handled = async (request: http.IncomingMessage, response: http.ServerResponse) => {
      await Promise.resolve();
      if (request.url === '/bad') throw new Error('a defect');
      response.end('good');
    };
    const server = loopbackServer({
      answer: (request, response) => guardAsync(response, handled(request, response)),
    });
    const port = await listenOnLoopback(server, 0);
    const ask = (path: string): http.ClientRequest =>
      http.get({ host: '127.0.0.1', port, path, agent: false });
    try {
      const warned = once(process, 'warning');
      const [error] = (await once(ask('/bad'), 'error')) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ECONNRESET');
      const [{ name, message }] = (await warned) as [Error];
      assert.equal(name, defectWarning);
      assert.match(message, /^Error: a defect/);
      const [response] = (await once(ask('/'), 'response')) as [http.IncomingMessage];
      assert.equal(response.statusCode, 200);
      response.resume();
    } finally {
      await stopServer(server);
    }
  });
});
