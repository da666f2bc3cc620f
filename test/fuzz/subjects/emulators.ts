import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { startAzureSignalr } from '../../../src/servers/azureSignalr/serviceEmulator';
import { upstreamHandler } from '../../../src/servers/upstream/upstreamHandler';
import { startWebPubSubEmulator } from '../../../src/servers/webpubsub/webPubSubEmulator';
import { EmulatorPeer } from '../../fakes/emulatorPeer';
import { endpointOf as addressOf, tokenFor } from '../../fakes/pubSubPeer';
import { endpointOf } from '../../fakes/endpoint';
import type { Subject } from '../subject';

/** Who waits longer has found a server that forgot to answer. */
const answerWithinMs = 120_000;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** The input as a request: method and path, headers, an empty line, the body. What HTTP cannot say is left out. */
function requestIn(input: Buffer): Asked {
  const end = input.indexOf('\n\n');
  const head = input.toString('latin1', 0, end < 0 ? undefined : end);
  const [first = '', ...lines] = head.split('\n');
  const [method = '', path = ''] = first.split(' ', 2);
  const named = lines.flatMap((line) => {
    const [, name = '', value = ''] = /^([\w-]+): (.*)$/.exec(line) ?? [];
    const isOwn =
      /^(host|connection|content-length|transfer-encoding|expect|upgrade|origin|trailer|te)$/i.test(
        name,
      );
    return name === '' || isOwn ? [] : [[name, value.replace(/[^\x20-\x7e]/g, '')] as const];
  });
  return {
    method: http.METHODS.includes(method) && method !== 'CONNECT' ? method : 'POST',
    path: `/${path.replace(/^\//, '').replace(/[^\x21-\x7e]/g, (each) => encodeURIComponent(each))}`,
    headers: Object.fromEntries(named),
    body: end < 0 ? Buffer.alloc(0) : input.subarray(end + 2),
  };
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

function ask(port: number, { method, path, headers, body }: Asked): Promise<number> {
  return new Promise((resolve, reject) => {
    // Without it what a GET carries would be the beginning of the next request.
    const length = { 'Content-Length': body.length };
    const all = { ...headers, ...length };
    const options = { host: '127.0.0.1', port, method, path, headers: all, agent };
    const request = http.request({ ...options, timeout: answerWithinMs }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', reject);
    request.end(body);
  });
}

async function expectAnswer(port: number, asked: Asked, highest = 499): Promise<void> {
  const status = await ask(port, asked);
  assert.ok(status >= 200 && status <= highest, `${asked.method} ${asked.path}: ${status}`);
}

/** A client that comes back when a request has ended it, so that calls meet somebody. */
function keepClient(
  url: () => Promise<string>,
  protocol: string | undefined,
  hello?: string,
): () => void {
  let isOver = false;
  let socket: WebSocket | undefined;
  const open = async (): Promise<void> => {
    if (isOver) return;
    socket = new WebSocket(await url(), protocol === undefined ? [] : [protocol]);
    socket.on('error', () => undefined);
    socket.on('open', () => hello !== undefined && socket?.send(hello));
    socket.on('close', () => setTimeout(() => void open(), 50));
  };
  void open();
  return () => {
    isOver = true;
    socket?.terminate();
  };
}

const portOf = (url: string): number => Number(new URL(url).port);

let signalrPort = 0;

export const signalrRestCalls: Subject = {
  name: 'signalr-rest',
  holds: 'every call of the REST API of Azure SignalR is answered, below 500',
  seeds: () => [
    'POST /api/hubs/chat/:send?api-version=2022-06-01\nContent-Type: application/json\n\n{"target":"t","arguments":[1,"x"]}',
    'POST /api/v1/hubs/chat/groups/g/:send\n\n{"target":"t","arguments":[{}]}',
    'POST /api/hubs/chat/users/u/:send?excluded=a\n\n{"target":"t","arguments":[]}',
    'PUT /api/hubs/chat/groups/g/connections/c',
    'PUT /api/hubs/chat/users/u/groups/g?ttl=60',
    'GET /api/hubs/chat/users/u/groups/g',
    'DELETE /api/hubs/chat/connections/c?reason=x',
    'POST /api/hubs/chat/:closeConnections?reason=bye',
    'HEAD /api/hubs/chat/groups/g',
    'POST /api/hubs/chat/:generateToken?minutesToExpire=5&userId=u',
    'POST /api/hubs/chat/connections/c/:invoke\n\n{"target":"t","arguments":[]}',
    'PUT /emulator/hubs/chat/handler\n\n{"url":"http://127.0.0.1:1/","events":"*"}',
    'GET /api/v1/auth/accesskey',
    'GET /api/health',
  ],
  pieces: ['%2f', '%', '%c3', '..', '?excluded=', '&ttl=-1', '//', '{"handlers":['],
  isSlow: true,
  prepare: async () => {
    const emulator = await startAzureSignalr({ signIns: () => 'accepted' });
    const peer = new EmulatorPeer(emulator.connectionString);
    signalrPort = portOf(peer.url);
    const url = async (): Promise<string> =>
      `${peer.url.replace('http', 'ws')}/client/?hub=chat&access_token=${await peer.token('/client/?hub=chat', { nameid: 'u' })}`;
    const leave = keepClient(url, undefined, '{"protocol":"json","version":1}\x1e');
    return async () => {
      leave();
      await emulator.dispose();
    };
  },
  check: (input) => {
    const asked = requestIn(input);
    const headers = { ...asked.headers, Authorization: 'Bearer signed-in' };
    return expectAnswer(signalrPort, { ...asked, headers });
  },
};

let pubSubPort = 0;

function clientUrl(emulator: { readonly connectionString: string }): string {
  const address = `${addressOf(emulator)}/client/hubs/chat`;
  const token = tokenFor(emulator, address, { sub: 'u' });
  return `${address.replace('http', 'ws')}?access_token=${token}`;
}

export const pubSubRestCalls: Subject = {
  name: 'web-pubsub-rest',
  holds: 'every call of the REST API of Web PubSub is answered, below 500',
  seeds: () => [
    "POST /api/hubs/chat/:send?filter=userId%20ne%20'a'\nContent-Type: text/plain\n\nhello",
    'POST /api/hubs/chat/groups/g/:send?excluded=c\nContent-Type: application/json\n\n{"a":1}',
    'POST /api/hubs/chat/users/u/:send\nContent-Type: application/octet-stream\n\n\x01\x02',
    'POST /api/hubs/chat/:generateToken?userId=u&role=webpubsub.sendToGroup&minutesToExpire=5&group=g',
    'POST /api/hubs/chat/:addToGroups\nContent-Type: application/json\n\n{"groups":["g"],"filter":"userId eq \'u\'"}',
    'POST /api/hubs/chat/:removeFromGroups\nContent-Type: application/json\n\n{"groups":["g"]}',
    'PUT /api/hubs/chat/permissions/sendToGroup/connections/c?targetName=g',
    'PUT /api/hubs/chat/groups/g/connections/c',
    'GET /api/hubs/chat/groups/g/connections?maxPageSize=2',
    'DELETE /api/hubs/chat/users/u/groups',
    'PUT /emulator/hubs/chat/handler\n\n{"url":"http://127.0.0.1:1/","userEvents":"*","systemEvents":["connect"]}',
  ],
  pieces: [
    '%2f',
    '%',
    '..',
    '?filter=',
    "userId eq 'u'",
    '&minutesToExpire=1e9',
    '{"groups":[',
    '%00',
  ],
  isSlow: true,
  prepare: async () => {
    const emulator = await startWebPubSubEmulator({
      signIns: () => 'accepted',
      allowAnonymous: true,
    });
    const address = addressOf(emulator);
    pubSubPort = portOf(address);
    const url = (): Promise<string> => Promise.resolve(clientUrl(emulator));
    const leave = keepClient(url, 'json.webpubsub.azure.v1');
    return async () => {
      leave();
      await emulator.dispose();
    };
  },
  check: (input) => {
    const asked = requestIn(input);
    const headers = { ...asked.headers, Authorization: 'Bearer signed-in' };
    return expectAnswer(pubSubPort, { ...asked, headers });
  },
};

const accessKey = 'key';
let handlerPort = 0;

export const upstreamEvents: Subject = {
  name: 'upstream-events',
  holds:
    'every event of either service is answered by the upstream handler, below 500 where the service takes its calls',
  seeds: () => [
    'POST /\nContent-Type: application/json\nX-ASRS-Category: messages\nX-ASRS-Event: Echo\nX-ASRS-Hub: h\nX-ASRS-Connection-Id: c\n\n{"type":1,"invocationId":"1","target":"Echo","arguments":[{"bench.Stamp":"x"}]}\x1e',
    'POST /\nContent-Type: application/x-msgpack\nX-ASRS-Category: messages\nX-ASRS-Connection-Id: c\n\n\x0e\x96\x01\x80\xc0\xa4Echo\x91\xa2hi\x90',
    'POST /\nContent-Type: application/json\nX-ASRS-Category: messages\nX-ASRS-Connection-Id: c\n\n{"type":1,"target":"JoinGroup","arguments":["g"]}\x1e',
    'POST /\nContent-Type: application/json\nX-ASRS-Category: messages\nX-ASRS-Connection-Id: c\n\n{"type":1,"target":"SendToGroup","arguments":[{"information.GroupName":"g"}]}\x1e',
    'POST /\nX-ASRS-Category: connections\nX-ASRS-Event: connected\nX-ASRS-Connection-Id: c',
    'POST /\nContent-Type: text/plain\nce-type: azure.webpubsub.user.message\nce-connectionId: c\nce-specversion: 1.0\n\nhello',
    'POST /\nContent-Type: application/json\nce-type: azure.webpubsub.sys.connect\nce-connectionId: c\n\n{"claims":{},"query":{}}',
    'OPTIONS /\nWebHook-Request-Origin: a.webpubsub.azure.com',
  ],
  pieces: [
    '"__proto__":',
    'GetConnectionId',
    'Broadcast',
    'SendToClient',
    'LeaveGroup',
    'application/x-msgpack',
  ],
  isSlow: true,
  prepare: async () => {
    const service = http.createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(202).end());
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    const restUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const settings = {
      endpoint: endpointOf(`${restUrl}/`),
      service: { kind: 'signalr' as const, hub: 'h', audience: restUrl, restUrl, accessKey },
    };
    const handler = await upstreamHandler(settings, 0, () => undefined);
    handlerPort = portOf(handler.url);
    return async () => {
      await handler.dispose();
      service.closeAllConnections();
      service.close();
    };
  },
  check: (input) => {
    const asked = requestIn(input);
    const header = (wanted: string): string =>
      Object.entries(asked.headers).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
    const sign = (id: string): string =>
      `sha256=${createHmac('sha256', accessKey).update(id.trim()).digest('hex')}`;
    const headers = {
      ...asked.headers,
      'ce-signature': sign(header('ce-connectionid')),
      'x-asrs-signature': sign(header('x-asrs-connection-id')),
    };
    return expectAnswer(handlerPort, { ...asked, headers });
  },
};

let answer: Asked = { method: '', path: '', headers: {}, body: Buffer.alloc(0) };
let pubSub: { readonly connectionString: string };
let client: WebSocket | undefined;
let ackId = 0;

async function openClient(): Promise<WebSocket> {
  const opened = new WebSocket(clientUrl(pubSub), ['json.webpubsub.azure.v1']);
  await once(opened, 'open');
  return opened;
}

/** Sends an event. @returns once it is acknowledged, or the client is closed in order */
function eventIsOver(sender: WebSocket): Promise<void> {
  ackId += 1;
  const wanted = `"ackId":${ackId},`;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('neither ack nor close')), answerWithinMs);
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      sender.removeAllListeners('message').removeAllListeners('close');
      if (error === undefined) resolve();
      else reject(error);
    };
    sender.on('message', (data: Buffer) => data.includes(wanted) && settle());
    sender.on('close', (code) => settle(code === 1006 ? new Error('dropped') : undefined));
    sender.send(`{"type":"event","event":"e",${wanted}"dataType":"text","data":"x"}`);
  });
}

export const upstreamAnswers: Subject = {
  name: 'upstream-answers',
  holds:
    'whatever an event handler answers, the client of the Web PubSub emulator gets an ack, or is closed with a code',
  seeds: () => [
    'POST /200\nContent-Type: text/plain\nce-connectionState: eyJhIjoxfQ==\n\nhello',
    'POST /200\nContent-Type: application/json\n\n{"a":1}',
    'POST /200\nContent-Type: application/octet-stream\n\n\x00\xff',
    'POST /204\nce-connectionState: x',
    'POST /500\n\nno',
    'POST /401\n\n{"code":"unauthorized"}',
    'POST /302\nLocation: http://127.0.0.1:1/',
  ],
  pieces: [
    'application/json;charset=',
    'ce-connectionState: ',
    '/2',
    '/3',
    '/4',
    '/5',
    'Retry-After: 1',
  ],
  isSlow: true,
  prepare: async () => {
    const handler = http.createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        if (request.method === 'OPTIONS')
          response.writeHead(200, { 'WebHook-Allowed-Origin': '*' }).end();
        else {
          response.writeHead(
            Number(/^\/([2-5]\d\d)/.exec(answer.path)?.[1] ?? 200),
            answer.headers,
          );
          response.end(answer.body);
        }
      });
    });
    handler.listen(0, '127.0.0.1');
    await once(handler, 'listening');
    const upstream = `http://127.0.0.1:${(handler.address() as AddressInfo).port}/`;
    const emulator = await startWebPubSubEmulator({ upstream });
    pubSub = emulator;
    return async () => {
      client?.terminate();
      await emulator.dispose();
      handler.closeAllConnections();
      handler.close();
    };
  },
  check: async (input) => {
    if (client?.readyState !== WebSocket.OPEN) {
      answer = requestIn(Buffer.from('POST /204'));
      client = await openClient();
    }
    answer = requestIn(input);
    await eventIsOver(client);
  },
};
