/** Servers of ASP.NET SignalR that lie. */
import type { Socket } from 'node:net';
import { acceptUpgrade, serverFrame, type Peer } from '../fakes/loadPeers';
import {
  answering,
  bodyWithoutEnd,
  cookiesOfMegabyte,
  drip,
  endlessly,
  headersWithoutEnd,
  hugeFrame,
  json,
  longFrame,
  nested,
  unreachable,
  type Lie,
} from './lie';

type Answer = (socket: Socket, head: string) => void;
type Command = 'negotiate' | 'connect' | 'reconnect' | 'start' | 'poll' | 'send' | 'abort';

const terms = {
  ...{ ConnectionToken: 'token', ConnectionId: 'id', ProtocolVersion: '2.1', TryWebSockets: true },
  ...{ KeepAliveTimeout: 20, DisconnectTimeout: 30, ConnectionTimeout: 110 },
  TransportConnectTimeout: 5,
};
const init = '{"C":"d-1","S":1,"M":[]}';

const opens: Answer = (socket, head) => {
  acceptUpgrade(socket, head);
  socket.write(serverFrame(init));
};

const usual: Readonly<Record<Command, Answer>> = {
  negotiate: (socket) => socket.write(json(JSON.stringify(terms))),
  connect: opens,
  reconnect: opens,
  start: (socket) => socket.write(json('{ "Response": "started" }')),
  poll: (socket) => socket.write(json(init)),
  send: (socket) => socket.write(json('{"I":"0"}')),
  abort: (socket) => socket.write(json('')),
};

/** Answers each command as usual, but for those of the lie. */
const classic =
  (lie: Partial<Record<Command, Answer>>): (() => Promise<Peer>) =>
  () =>
    answering((socket, head) => {
      const command = /^\w+ \/signalr\/(\w+)/.exec(head)?.[1] as Command | undefined;
      const answer = command && (lie[command] ?? usual[command]);
      answer?.(socket, head);
    });

/** Opens the web socket as usual; later, when the connection has started, comes the lie. */
const onceOpen = (say: (socket: Socket) => void): { connect: Answer } => ({
  connect: (socket, head) => {
    opens(socket, head);
    setTimeout(() => say(socket), 500);
  },
});

const streams: Answer = (socket) =>
  socket.write(
    `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: initialized\n\ndata: ${init}\n\n`,
  );

const text = (frame: string): Buffer => longFrame(0x81, Buffer.from(frame));
const config = { connectionType: 'AspNet', skipNegotiation: false };
/** So many bytes take their time on a busy machine, and are to be read before the run ends. */
const unhurried = { ...config, drain: '10s' };
const refused = { config, codes: [3], mostS: 60 } as const;
/** Read by the same code as those of ASP.NET Core. */
const alike = { ...refused, isLong: true } as const;
/** Nothing arrives. Where the processor is taken by what comes, the step is invalid. */
const flooded = { codes: [1, 4], says: /0 of \d+ deliveries arrived|lost/, mostS: 120 } as const;

const lies: readonly Lie[] = [
  {
    title: 'headers without end, of negotiate',
    open: classic({
      negotiate: headersWithoutEnd('200 OK'),
    }),
    ...{ ...alike, says: /headers of the answer are longer than/ },
  },
  {
    title: 'headers without end, of the upgrade',
    open: classic({
      connect: headersWithoutEnd('101 Switching Protocols'),
    }),
    ...{ ...alike, says: /upgrade: the answer has no end/ },
  },
  {
    title: 'an answer to negotiate without end',
    open: classic({
      negotiate: bodyWithoutEnd,
    }),
    ...{ ...alike, says: /negotiate: the answer does not end/ },
  },
  {
    title: 'an answer to start without end',
    open: classic({
      start: bodyWithoutEnd,
    }),
    ...{ ...refused, says: /start: the answer does not end/ },
  },
  {
    title: 'one byte of an answer to start in a tenth of a second',
    open: classic({ start: (socket) => drip(socket, json('{}').repeat(20)) }),
    ...{ ...alike, config: { ...config, connectTimeout: '2s' }, says: unreachable },
  },
  {
    title: 'a RedirectUrl that leads to itself',
    open: async () => {
      let RedirectUrl = '';
      const peer = await classic({
        negotiate: (socket) => socket.write(json(JSON.stringify({ ...terms, RedirectUrl }))),
      })();
      RedirectUrl = peer.url.replace('signalrbench', 'signalr');
      return peer;
    },
    ...{ ...refused, says: /more than 20 redirects/ },
  },
  {
    title: 'cookies of a megabyte',
    open: classic({
      negotiate: cookiesOfMegabyte,
    }),
    ...{ ...alike, says: /headers of the answer are longer than/ },
  },
  {
    title: 'a frame of 2^63 bytes',
    open: classic(onceOpen((socket) => socket.write(hugeFrame(63)))),
    ...{ ...alike, says: /protocol: a message of 9223372036854776000 bytes is above the limit/ },
  },
  {
    title: 'messages nested 100,000 deep',
    open: classic(
      onceOpen((socket) =>
        socket.write(text(`{"C":"d-2","M":[{"H":"h","M":"RecordLatency","A":${nested}}]}`)),
      ),
    ),
    ...{ ...refused, says: /protocol: a hub message is nested more than 64 deep/ },
  },
  {
    title: 'a groups token of 10 MB',
    open: classic(
      onceOpen((socket) => socket.write(text(`{"C":"d-2","G":"${'g'.repeat(1e7)}","M":[]}`))),
    ),
    ...{ ...refused, config: unhurried, says: /protocol: a frame has too long a member/ },
  },
  {
    title: 'a message id of 10 MB',
    open: classic(onceOpen((socket) => socket.write(text(`{"C":"${'d'.repeat(1e7)}","M":[]}`)))),
    ...{ ...refused, config: unhurried, says: /protocol: a message id is longer than 8192 bytes/ },
  },
  {
    title: 'new message ids without end',
    open: classic(
      onceOpen((socket) => {
        const frames = Array.from({ length: 2000 }, (_, at) =>
          serverFrame(`{"C":"d-${at}","M":[]}`),
        );
        endlessly(socket, Buffer.concat(frames));
      }),
    ),
    ...{ ...flooded, config: { ...config, connections: 1 } },
  },
  {
    title: 'frames without end before it answers start',
    open: classic({
      connect: (socket, head) => {
        opens(socket, head);
        endlessly(socket, Buffer.concat(Array<Buffer>(2000).fill(serverFrame('{}'))));
      },
      start: () => undefined,
    }),
    ...{ ...refused, says: /more came before the start than 16777216 bytes hold/ },
  },
  {
    title: 'sockets that end at once, and open again',
    open: classic({
      ...onceOpen((socket) => socket.destroy()),
      reconnect: (socket, head) => {
        acceptUpgrade(socket, head);
        socket.destroySoon();
      },
    }),
    ...{ ...flooded, config },
  },
  {
    title: 'empty answers to polls without end',
    open: classic({ connect: usual.poll }),
    ...{ ...flooded, config: { ...config, transport: 'LongPolling', connections: 1 } },
  },
  {
    title: 'an event without end',
    open: classic({
      connect: (socket, head) => {
        streams(socket, head);
        socket.write('data: ');
        endlessly(socket, 'a'.repeat(16_384));
      },
    }),
    ...{
      ...{ ...alike, config: { ...config, transport: 'ServerSentEvents' } },
      says: /protocol: a server-sent event is above the limit of 16777216 bytes/,
    },
  },
  {
    title: 'an answer to a call without end',
    // To the first call alone: many at once would take the time of a busy machine from each other.
    open: () => {
      let isFirst = true;
      const send: Answer = (socket, head) => {
        if (!isFirst) {
          usual.send(socket, head);
          return;
        }
        isFirst = false;
        bodyWithoutEnd(socket);
      };
      return classic({ connect: streams, send })();
    },
    ...{
      ...{ ...refused, config: { ...config, transport: 'ServerSentEvents', connections: 1 } },
      says: /protocol: the answer to a call is above the limit of/,
    },
  },
];

/** Ends their titles. */
export const byClassic = ', by ASP.NET SignalR,';
export const classicLies: readonly Lie[] = lies.map((lie) => ({
  ...lie,
  title: `${lie.title}${byClassic}`,
}));
