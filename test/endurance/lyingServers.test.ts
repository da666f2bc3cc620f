import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { startCli } from '../fakes/loadCli';
import { rawPeer, serverFrame } from '../fakes/loadPeers';
import { sideBySide } from '../fakes/sideBySide';
import { CliFolder } from '../load/cliFolder';
import { needsLinux } from '../fakes/skipAloud';
import { byClassic, classicLies } from './classicLies';
import {
  afterHandshake,
  answering,
  bodyWithoutEnd,
  cookiesOfMegabyte,
  depth,
  drip,
  endlessly,
  headersWithoutEnd,
  hugeFrame,
  json,
  longFrame,
  lost,
  nested,
  unreachable,
  type Lie,
} from './lie';

/** Of the whole process, as the system counts it. One that does nothing has about 90 MB. */
const mostMegabytes = 300;
/** `LIES=all`: each of them, with what it costs. */
const all = process.env['LIES'] === 'all';

const nestedJson = `{"type":1,"target":"RecordLatency","arguments":${nested}}\x1e`;

function nestedMessagePack(): Buffer {
  const name = Buffer.from('RecordLatency');
  const body = Buffer.concat([
    Buffer.from([0x95, 1, 0x80, 0xc0, 0xa0 + name.length]),
    name,
    Buffer.alloc(depth, 0x91),
    Buffer.from([0xc0]),
  ]);
  // Length of the hub message, as a variable number of bytes.
  const { length } = body;
  const size = Buffer.from([0x80 | (length & 0x7f), 0x80 | ((length >> 7) & 0x7f), length >> 14]);
  return longFrame(0x82, Buffer.concat([size, body]));
}

const negotiate = { skipNegotiation: false };

const lies: readonly Lie[] = [
  {
    title: 'headers without end, of negotiate',
    open: () => answering(headersWithoutEnd('200 OK')),
    ...{ config: negotiate, codes: [3], says: unreachable, mostS: 60 },
  },
  {
    title: 'headers without end, of the upgrade',
    open: () => answering(headersWithoutEnd('101 Switching Protocols')),
    ...{ codes: [3], says: unreachable, mostS: 60 },
  },
  {
    title: 'an answer to negotiate without end',
    open: () => answering(bodyWithoutEnd),
    ...{ config: negotiate, codes: [3], says: unreachable, mostS: 60 },
  },
  {
    title: 'one byte of an answer in a tenth of a second',
    open: () => answering((socket) => drip(socket, json('{}').repeat(20))),
    ...{ config: { ...negotiate, connectTimeout: '2s' }, codes: [3], says: unreachable, mostS: 60 },
  },
  {
    title: 'a negotiate answer that leads to itself',
    open: async () => {
      let url = '';
      const peer = await answering((socket) =>
        socket.write(json(JSON.stringify({ url, accessToken: 'x' }))),
      );
      ({ url } = peer);
      return peer;
    },
    ...{ config: negotiate, codes: [3], says: /redirect/, mostS: 60 },
  },
  {
    title: 'redirects of HTTP that lead to themselves',
    open: async () => {
      let url = '';
      const peer = await answering((socket) =>
        socket.write(
          `HTTP/1.1 307 Temporary Redirect\r\nLocation: ${url}\r\nContent-Length: 0\r\n\r\n`,
        ),
      );
      ({ url } = peer);
      return peer;
    },
    ...{ config: negotiate, codes: [3], says: /307|redirect/, mostS: 60 },
  },
  {
    title: 'cookies of a megabyte',
    open: () => answering(cookiesOfMegabyte),
    ...{ config: negotiate, codes: [3], says: unreachable, mostS: 60 },
  },
  {
    title: 'a frame of 2^63 bytes',
    open: afterHandshake(hugeFrame(63)),
    ...{ codes: [3], says: /protocol/, mostS: 60 },
  },
  {
    title: 'a frame of 2^62 bytes',
    open: afterHandshake(hugeFrame(62)),
    ...{ codes: [3], says: /protocol/, mostS: 60 },
  },
  {
    title: 'a compressed frame that nobody asked for',
    open: afterHandshake(Buffer.from([0xc1, 2, 0x03, 0x00])),
    ...{ codes: [3], says: /reserved bits/, mostS: 60 },
  },
  {
    title: 'messages nested 100,000 deep in JSON',
    open: afterHandshake(() => longFrame(0x81, Buffer.from(nestedJson))),
    ...{ codes: [3], says: lost, mostS: 60 },
  },
  {
    title: 'messages nested 100,000 deep in MessagePack',
    open: afterHandshake(nestedMessagePack),
    ...{ config: { protocol: 'messagepack' }, codes: [3], says: lost, mostS: 60 },
  },
  {
    title: 'pings without end',
    open: () =>
      rawPeer((socket) => endlessly(socket, Buffer.alloc(65_536, Buffer.from([0x89, 0])))),
    // They are answered, nothing else is.
    ...{
      config: { connections: 1 },
      codes: [1, 4],
      says: /0 of \d+ deliveries arrived|lost/,
      mostS: 120,
    },
  },
  {
    title: 'events without end, none of which is whole',
    open: () =>
      answering((socket, head) => {
        if (head.startsWith('POST /signalrbench/negotiate'))
          socket.write(
            json(
              '{"connectionId":"a","connectionToken":"a","negotiateVersion":1,"availableTransports":[{"transport":"ServerSentEvents","transferFormats":["Text"]}]}',
            ),
          );
        else if (head.startsWith('GET')) {
          socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ');
          endlessly(socket, 'a'.repeat(16_384));
        } else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      }),
    config: { ...negotiate, transport: 'ServerSentEvents' },
    ...{ codes: [3], says: unreachable, mostS: 60 },
  },
  {
    title: 'pings of the hub without end',
    open: () =>
      rawPeer((socket) =>
        endlessly(socket, Buffer.concat(Array(2000).fill(serverFrame('{"type":6}\x1e')))),
      ),
    ...{
      config: { connections: 1 },
      codes: [1, 4],
      says: /0 of \d+ deliveries arrived|lost/,
      mostS: 120,
    },
  },
];

describe('the tables in docs/evidence/reliability.md', () => {
  const page = readFileSync('docs/evidence/reliability.md', 'utf8');
  for (const [heading, group] of [
    ['Servers that lie', lies],
    ['Servers of ASP.NET SignalR that lie', classicLies],
  ] as const)
    it(`have all “${heading}”, with exit codes and limits of time`, () => {
      const section = page.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`));
      const rows = (section ?? '').split('\n').filter((line) => /^\| (?!the server|-)/.test(line));
      const shown = rows.map((row) => {
        const [, title, , code, , limit] = row.split('|').map((cell) => cell.trim());
        return [title, code, limit].join(' | ');
      });
      const held = group.map(({ title, codes, mostS }) =>
        [title.replace(byClassic, ''), codes.join(' or '), `${mostS} s`].join(' | '),
      );
      assert.deepEqual(shown, held);
      assert.ok(page.includes(`below ${mostMegabytes} MB`));
    });
});

/** The most that a process has had, in MB; what it had last when it is gone. */
function watchMemory(pid: number): () => number {
  let most = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      most = Math.max(most, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      clearInterval(timer);
    }
  }, 20);
  return () => {
    clearInterval(timer);
    return most;
  };
}

describe('a server that sends', function () {
  before(function () {
    needsLinux(this, 'memory of processes in /proc');
  });
  // One of them waits for most of the time, and holds a place.
  const test = sideBySide(6);

  const chosen = [...lies, ...classicLies].filter(({ isLong }) => all || isLong !== true);
  for (const { title, open, config, codes, says, mostS } of chosen)
    test(`${title} costs bounded memory and time, and is named`, async () => {
      const folder = new CliFolder();
      const peer = await open();
      try {
        const file = folder.scenario('lie.yaml', {
          target: peer.url,
          config: {
            ...{ connections: 4, dialect: 'recordLatency', workers: 1 },
            ...{ singleStepDuration: '1s', warmup: 0, drain: '1s', connectTimeout: '5s' },
            ...config,
          },
        });
        const startedMs = performance.now();
        const run = startCli(['run', file, '--out', 'out'], { cwd: folder.path });
        const mostOf = watchMemory(run.child.pid!);
        const done = await run.finished;
        const tookS = (performance.now() - startedMs) / 1000;
        const megabytes = mostOf();
        const cost = `${title}: ${tookS.toFixed(1)} s, ${megabytes.toFixed(0)} MB\n`;
        if (all) process.stdout.write(cost);
        const said = `${done.stdout}${done.stderr}`.replace(/\s+/g, ' ');
        assert.ok(codes.includes(done.code!), said);
        assert.match(said, says);
        assert.ok(tookS < mostS, `${tookS} s`);
        assert.ok(megabytes > 0 && megabytes < mostMegabytes, `${megabytes} MB`);
      } finally {
        await peer.dispose();
        folder.dispose();
      }
    });
});
