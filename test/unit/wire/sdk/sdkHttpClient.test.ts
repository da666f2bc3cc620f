import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { Cookies } from '../../../../src/wire/socket/cookies';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import type { ConnectFailure } from '../../../../src/wire/connectFailure';
import { SdkHttpClient } from '../../../../src/wire/sdk/sdkHttpClient';
import type { SdkOwner } from '../../../../src/wire/sdk/sdkSockets';
import { endpointOf } from '../../../fakes/endpoint';
import { testServers } from '../../../fakes/testServers';
import { VirtualTime } from '../../../fakes/virtualTime';

describe('requests of the official client', () => {
  const listen = testServers();
  let url: string;
  let client: SdkHttpClient;
  let agents: SocketAgents;
  let time: VirtualTime;
  /** What was asked for, and what comes next of it. */
  const asked: string[] = [];
  const answers: ((response: ServerResponse) => void)[] = [];

  beforeEach(async () => {
    time = new VirtualTime().install();
    asked.length = answers.length = 0;
    const server = createServer((request, response) => {
      asked.push(request.method!);
      request.resume().on('end', () => answers.shift()!(response));
    });
    url = `http://127.0.0.1:${await listen(server)}/hub?id=x`;
    const endpoint = endpointOf(url);
    agents = new SocketAgents(endpoint, 1);
    const owner: Partial<SdkOwner> = {
      ...{ endpoint, agents, cookies: new Cookies(), maximumBytes: 1000, stopwatch: undefined },
      signal: new AbortController().signal,
      sending: () => undefined,
      sent: () => undefined,
      failed: (failure: ConnectFailure) => failure,
    };
    client = new SdkHttpClient(owner as SdkOwner);
  });
  afterEach(() => {
    time.restore();
    agents.destroy();
  });

  const good = (response: ServerResponse): void => void response.end('{}');
  const gone = (response: ServerResponse): void => void response.socket!.destroy();
  const cut = (response: ServerResponse): void => {
    response.writeHead(200, { 'Content-Length': 5 }).write('ab', () => response.destroy());
  };
  const send = (): Promise<unknown> => client.send({ method: 'POST', url, content: 'message' });
  const poll = (): Promise<unknown> => client.send({ method: 'GET', url });

  it('send a message again only where the socket was idle', async () => {
    answers.push(good, gone, good, gone);
    await send();
    await time.to(1000);
    await send();
    assert.equal(asked.length, 3);
    // The hub may have had this one.
    await assert.rejects(send(), { errorClass: 'reset' });
    assert.equal(asked.length, 4);
  });

  it('poll again over a new socket, but not for an answer that is cut', async () => {
    answers.push(good, gone, good, cut);
    await poll();
    await poll();
    assert.equal(asked.length, 3);
    await assert.rejects(poll(), { errorClass: 'closed' });
    assert.equal(asked.length, 4);
  });
});
