import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { RecordingProxy } from '../../../src/record/proxy/recordingProxy';
import { startAppServer } from '../../../src/servers/appServer/appServer';
import { startAzureSignalr } from '../../../src/servers/azureSignalr/serviceEmulator';
import { startClassicHub } from '../../../src/servers/classic/classicHub';
import { startBenchHub } from '../../../src/servers/hub/benchHub';
import { defectWarning } from '../../../src/servers/http/loopbackServer';
import { startWebPubSubEmulator } from '../../../src/servers/webpubsub/webPubSubEmulator';
import { hubMethods } from '../../../src/usecases/registry';
import { jsonCodec, messagePackCodec, type HubCodec } from '../../../src/wire/message/hubCodec';
import {
  encodeServiceMessage,
  type ServiceMessage,
} from '../../../src/wire/service/serviceMessage';
import { ClassicPeer } from '../../fakes/classicPeer';
import { EmulatorPeer } from '../../fakes/emulatorPeer';
import { everything, json, Peer, protobuf, reliableJson } from '../../fakes/pubSubPeer';
import { startStubService } from '../../fakes/stubService';
import { withLengthPrefix } from '../../../src/wire/message/messagePack';
import type { Subject } from '../subject';

/** Who waits longer has found a server that serves nobody any more. */
const answerWithinMs = 60_000;
/** After so many inputs a sender begins anew, so that what it has started does not add up. */
const inputsPerSender = 48;
/** What servers may take more than in the beginning. */
const mostGrowthBytes = 256 * 1024 * 1024;
const looksEvery = 256;
/** Witnesses are asked after so many: who asks more often tries less. A fault is one of the last so many inputs. */
const asksEvery = 16;

/** Somebody who sends inputs to a running server as they are; comes back after each close. */
class Sender {
  private socket: WebSocket | undefined;
  private sent = 0;

  /** @param hello sent first */
  constructor(
    private readonly open: () => Promise<WebSocket>,
    private readonly hello?: string | Buffer,
    private readonly isText = false,
  ) {}

  async send(input: Buffer): Promise<void> {
    if (this.sent >= inputsPerSender) this.socket?.terminate();
    if (this.socket?.readyState !== WebSocket.OPEN) {
      this.socket = await this.open();
      this.sent = 0;
      if (this.hello !== undefined) this.socket.send(this.hello);
    }
    this.sent += 1;
    this.socket.send(this.isText ? input.toString() : input);
  }

  leave(): void {
    this.socket?.terminate();
  }
}

async function opened(url: string, protocols: string[] = [], options = {}): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, options);
  socket.on('error', () => undefined);
  socket.on('message', () => undefined);
  await once(socket, 'open');
  return socket;
}

/** A client that the servers have to go on serving: each `ask` waits for an answer to its question. */
class Witness {
  private readonly answers: (() => void)[] = [];

  constructor(
    private readonly socket: WebSocket,
    private readonly question: string,
    isAnswer: RegExp,
  ) {
    socket.on('message', (data: Buffer) => {
      if (isAnswer.test(data.toString())) this.answers.shift()?.();
    });
  }

  async ask(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      const isGone = (): void => reject(new Error('a client that did nothing was closed'));
      this.socket.once('close', isGone);
      timer = setTimeout(() => reject(new Error('no answer')), answerWithinMs);
    });
    const answer = new Promise<void>((resolve) => this.answers.push(resolve));
    this.socket.send(this.question);
    await Promise.race([answer, silence]).finally(() => clearTimeout(timer));
    this.socket.removeAllListeners('close');
  }

  leave(): void {
    this.socket.removeAllListeners('close');
    this.socket.terminate();
  }
}

interface Scene {
  readonly senders: readonly Sender[];
  readonly witnesses: readonly Witness[];
  readonly dispose: () => Promise<void>;
}

/** Servers to which each input goes over sockets, beside clients that they have to go on serving. */
function running(
  name: string,
  what: string,
  seeds: Subject['seeds'],
  open: () => Promise<Scene>,
): Subject {
  let scene: Scene | undefined;
  let inputs = 0;
  let atFirst = 0;
  const defects: Error[] = [];
  const noteDefect = (warning: Error): void => {
    if (warning.name === defectWarning) defects.push(warning);
  };
  const memory = (): number => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  return {
    name,
    holds: `${what} go on serving others, without a defect, in no more memory`,
    seeds,
    isSlow: true,
    learnsNothing: true,
    prepare: async () => {
      process.on('warning', noteDefect);
      scene = await open();
      atFirst = memory();
      return async () => {
        process.off('warning', noteDefect);
        for (const sender of scene!.senders) sender.leave();
        for (const witness of scene!.witnesses) witness.leave();
        await scene!.dispose();
      };
    },
    check: async (input) => {
      const { senders, witnesses } = scene!;
      await Promise.all(senders.map((sender) => sender.send(input)));
      inputs += 1;
      if (inputs % asksEvery === 0) await Promise.all(witnesses.map((witness) => witness.ask()));
      else await setImmediate();
      const [defect] = defects.splice(0);
      if (defect !== undefined) throw new Error(defect.message);
      if (inputs % looksEvery === 0)
        assert.ok(memory() - atFirst < mostGrowthBytes, `${memory() - atFirst} bytes more`);
    },
  };
}

/** Calls of every method with values of each kind, as one protocol writes them. */
function hubCalls({ encode }: HubCodec): Buffer[] {
  const chat = ['JoinRoom', 'SendMessage', 'GetHistory', 'Acknowledge', 'LeaveRoom'];
  const methods = hubMethods().flatMap(({ name, measureName = name }) => [name, measureName]);
  const payload = { 'payload.MessageBlob': 'x', 'information.GroupName': 'g' };
  const lists = [
    ...[[], ['r'], [payload], [payload, 3, 0], ['r', { author: 'a', text: 't' }], ['r', 5]],
    ...[[5], [1, 'x'], ['g', 1, 'x'], [null], [true, -1, 2 ** 53], [[[[]]], { a: { b: [] } }]],
  ];
  const calls = [...new Set([...methods, ...chat])].flatMap((target, at) =>
    [at, at + 1, at + 5].map((list) => {
      const args = lists[list % lists.length]!;
      return encode({ type: 1, invocationId: '1', target, arguments: args });
    }),
  );
  const stream = { invocationId: '2', target: 'StreamingEcho', arguments: [0] };
  return [
    ...calls,
    encode({ type: 4, ...stream, streamIds: ['s'] }),
    encode({ type: 4, ...stream, target: 'StreamingDownload', arguments: [payload, 5, 0] }),
    encode({ type: 2, invocationId: 's', item: payload }),
    encode({ type: 3, invocationId: 's' }),
    encode({ type: 3, invocationId: '7', result: 1 }),
    encode({ type: 5, invocationId: '2' }),
    encode({ type: 6 }),
    encode({ type: 7 }),
  ];
}

/** Drafts of a chat message in MessagePack with an author that JSON cannot say: behind `{text: 'a', author:`. */
const oddAuthors = [
  ...['d40102', 'cfffffffffffffffff', 'c40101', 'd6ff00000001', 'cb7ff8000000000000', 'a2ff80'],
  ...['81c301', '81c001', '81910101', `${'91'.repeat(60)}c0`, 'c1', 'dfffffffff', 'c6ffffffff'],
];

function oddCalls(): Buffer[] {
  const head = Buffer.from('960180a131ab53656e644d65737361676592a172', 'hex');
  return oddAuthors.map((author) => {
    const draft = Buffer.from(`82a474657874a161a6617574686f72${author}90`, 'hex');
    return withLengthPrefix([head, draft]);
  });
}

const shakeHands = '{"protocol":"json","version":1}\x1e';
const ask = '{"type":1,"invocationId":"w","target":"Acknowledge","arguments":["m"]}\x1e';
const answered = /"invocationId":"w"/;

async function hubWitness(url: string): Promise<Witness> {
  const socket = await opened(url);
  socket.send(shakeHands);
  return new Witness(socket, ask, answered);
}

/** The embedded hub, the same through the recording proxy, and app servers behind the emulator of Azure SignalR. */
async function hubs(protocol: 'json' | 'messagepack'): Promise<Scene> {
  const hello = `{"protocol":"${protocol}","version":1}\x1e`;
  const hub = await startBenchHub();
  const proxy = await RecordingProxy.start({
    target: new URL(hub.url),
    port: 0,
    way: { insecureTls: false },
    onEvent: () => undefined,
    onProblem: () => undefined,
  });
  const emulator = await startAzureSignalr({ mode: 'default' });
  const peer = new EmulatorPeer(emulator.connectionString);
  const service = {
    ...{ audience: 'http://127.0.0.1', clientEndpoint: peer.url, serverEndpoint: peer.url },
    accessKey: peer.key,
  };
  const app = await startAppServer({ service, hub: 'Chat', serverConnections: 2 });
  const path = '/client/?hub=chat';
  const token = await peer.token(path);
  const behind = `${peer.url}${path}&access_token=${token}`;
  const urls = [hub.url, proxy.url, behind];
  const serverless = await startAzureSignalr({ upstreams: [{ url: 'http://127.0.0.1:1/' }] });
  const alone = `${new EmulatorPeer(serverless.connectionString).url}${path}&access_token=${token}`;
  const isText = protocol === 'json';
  return {
    senders: [...urls, alone].map((url) => new Sender(() => opened(url), hello, isText)),
    witnesses: await Promise.all(urls.map(hubWitness)),
    dispose: async () => {
      await proxy.dispose();
      await Promise.all([hub, app, serverless].map((server) => server.dispose()));
      await emulator.dispose();
    },
  };
}

export const hubsInJson = running(
  'running-hubs-json',
  'hubs, also behind the recorder and behind the service,',
  () => hubCalls(jsonCodec),
  () => hubs('json'),
);

export const hubsInMessagePack = running(
  'running-hubs-messagepack',
  'hubs, also behind the recorder and behind the service,',
  () => [...hubCalls(messagePackCodec), ...oddCalls()],
  () => hubs('messagepack'),
);

const data = (connectionId: string, text: string): ServiceMessage => ({
  ...{ type: 6, connectionId },
  payload: Buffer.from(text),
});

/** What app servers and the service say to each other. */
function serviceMessages(): Buffer[] {
  const call = (target: string, args: string): string =>
    `{"type":1,"invocationId":"1","target":"${target}","arguments":${args}}\x1e`;
  const messages: readonly ServiceMessage[] = [
    { type: 4, connectionId: 'c', claims: [], protocol: 'json' },
    data('c', shakeHands),
    data('c', call('SendMessage', '["r",{"text":"t"}]')),
    data('c', call('JoinGroup', '["g"]')),
    { type: 3, messages: ['echo', 'a'] },
    { type: 5, connectionId: 'c', errorMessage: '' },
  ];
  return [...messages.map(encodeServiceMessage), Buffer.concat(messages.map(encodeServiceMessage))];
}

/** An app server that a hostile service speaks to, and the emulator that a hostile app server speaks to. */
async function serviceEnds(): Promise<Scene> {
  const stub = await startStubService();
  const accessKey = 'made up for tests';
  const at = (origin: string) => ({
    audience: 'http://127.0.0.1',
    clientEndpoint: origin,
    serverEndpoint: origin,
  });
  const quick = { backOffMs: 1, shortLifeMs: 0 };
  const app = await startAppServer({
    service: { ...at(stub.origin), accessKey },
    ...{ hub: 'Chat', serverConnections: 1, ...quick },
  });
  const emulator = await startAzureSignalr();
  const peer = new EmulatorPeer(emulator.connectionString);
  const good = await startAppServer({
    service: { ...at(peer.url), accessKey: peer.key },
    ...{ hub: 'Chat', serverConnections: 1 },
  });
  const token = await peer.token('/server/?hub=other', { nameid: 'hostile' });
  const headers = { Authorization: `Bearer ${token}` };
  const toService = (): Promise<WebSocket> =>
    opened(`${peer.url}/server/?hub=other`, [], { headers });
  const path = '/client/?hub=chat';
  const client = `${peer.url}${path}&access_token=${await peer.token(path)}`;
  const latest = async (): Promise<WebSocket> => {
    for (;;) {
      const open = stub.connections.find(({ isClosed }) => !isClosed);
      if (open?.socket.readyState === WebSocket.OPEN) return open.socket;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  return {
    senders: [
      new Sender(
        toService,
        encodeServiceMessage({
          type: 1,
          version: 1,
          connectionType: 0,
          target: '',
          migrationLevel: 0,
          allowStatefulReconnects: false,
        }),
      ),
      new Sender(latest),
    ],
    witnesses: [await hubWitness(client)],
    dispose: async () => {
      await Promise.all([app, good].map((server) => server.dispose()));
      await emulator.dispose();
      await stub.dispose();
    },
  };
}

export const serviceConnections = running(
  'running-service',
  'app servers, and the service that app servers speak to,',
  serviceMessages,
  serviceEnds,
);

async function pubSub(): Promise<Scene> {
  const emulator = await startWebPubSubEmulator();
  const protocols = [[json], [reliableJson], [protobuf], []];
  const url = Peer.urlOf(emulator, { role: everything });
  return {
    senders: protocols.map(
      (each) => new Sender(() => opened(url, each), undefined, each[0] !== protobuf),
    ),
    witnesses: [new Witness(await opened(url, [json]), '{"type":"ping"}', /pong/)],
    dispose: () => emulator.dispose(),
  };
}

export const pubSubClients = running(
  'running-web-pubsub',
  'clients of the emulator of Web PubSub',
  () => [
    '{"type":"joinGroup","group":"g","ackId":1}',
    '{"type":"leaveGroup","group":"g","ackId":2}',
    '{"type":"sendToGroup","group":"g","ackId":3,"noEcho":true,"dataType":"json","data":{"a":1}}',
    '{"type":"sendToGroup","group":"g","dataType":"binary","data":"AAEC"}',
    '{"type":"event","event":"e","ackId":4,"dataType":"text","data":"x"}',
    '{"type":"sequenceAck","sequenceId":5}',
    '{"type":"ping"}',
  ],
  pubSub,
);

async function classic(): Promise<Scene> {
  const hub = await startClassicHub();
  const open = async (): Promise<WebSocket> => {
    const { socket } = await ClassicPeer.start(hub.url);
    return socket.on('error', () => undefined);
  };
  const question = '{"H":"signalrbench","M":"Acknowledge","A":["m"],"I":7}';
  return {
    senders: [new Sender(open, undefined, true)],
    witnesses: [new Witness(await open(), question, /"I":"7"/)],
    dispose: () => hub.dispose(),
  };
}

export const classicHubs = running(
  'running-classic-hub',
  'hubs of ASP.NET SignalR',
  () =>
    ['Echo', 'Broadcast', 'SendToGroup', 'JoinGroup', 'SendMessage', 'GetHistory'].map(
      (name, at) =>
        `{"H":"signalrbench","M":"${name}","A":[${['"g"', '{"payload.MessageBlob":"x"}', '"r",{"text":"t"}', '"r",5'][at % 4]}],"I":${at}}`,
    ),
  classic,
);

/** The recording proxy between a client and a hub whose frames are the inputs. */
async function recorder(): Promise<Scene> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const accepted: WebSocket[] = [];
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    // One half asks, the other is sent the inputs.
    socket.on(
      'message',
      (text: Buffer) => text.toString() === ask && socket.send('{"invocationId":"w"}\x1e'),
    );
    accepted.push(socket);
  });
  const { port } = server.address() as { port: number };
  const proxy = await RecordingProxy.start({
    target: new URL(`http://127.0.0.1:${port}/hub`),
    port: 0,
    way: { insecureTls: false },
    onEvent: () => undefined,
    onProblem: () => undefined,
  });
  const fromHub = async (): Promise<WebSocket> => {
    const client = await opened(proxy.url);
    client.send(shakeHands);
    const hubSide = accepted.at(-1)!;
    hubSide.send('{}\x1e');
    return hubSide;
  };
  const witness = await opened(proxy.url);
  return {
    senders: [new Sender(fromHub), new Sender(() => opened(proxy.url), shakeHands)],
    witnesses: [new Witness(witness, ask, answered)],
    dispose: async () => {
      for (const socket of accepted) socket.terminate();
      await proxy.dispose();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const recorders = running(
  'running-recorder',
  'recorders of hostile hubs and clients',
  () => [...hubCalls(jsonCodec), ...hubCalls(messagePackCodec)],
  recorder,
);
