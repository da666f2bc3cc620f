// What it costs to make a scenario of a recording: made-up recordings of several shapes, and HAR files, each imported by the
// built command line in a process of its own. Needs `npx tsc -b` and `npm run build`. Linux only. Method: bench/README.md.
// Judges nothing.
//   node bench/analysis.mjs [--messages 100000] [--har-mb 500] [--rounds 3] [--shapes rooms,loop,…,page,frames]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median } from './processes.mjs';

const require = createRequire(import.meta.url);
const built = (file) => require(path.resolve('out', file));
const { seededRandom } = built('src/base/random.js');
const { MadeRecording } = built('test/unit/record/analyse/madeRecording.js');

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '100000' },
    'har-mb': { type: 'string', default: '500' },
    rounds: { type: 'string', default: '3' },
    shapes: { type: 'string' },
  },
});
const [messages, harMb, rounds] = [values.messages, values['har-mb'], values.rounds].map(Number);
const folder = mkdtempSync(path.join(tmpdir(), 'bench-analysis-'));

const textOf = (random) => 'a line of text '.repeat(4 + random.below(12));
const manyOf = (count) => Array.from({ length: count }, (_, at) => at + 1);

/** Each fills a recording until it has so many messages. */
const shapes = {
  /** 50 people in ten rooms, who come, write, look back and go, again and again. */
  rooms(made, random) {
    const clients = manyOf(50);
    for (const client of clients) made.at(client * 20).open(client);
    let id = 0;
    for (let round = 0; made.events.length < messages; round++)
      for (const client of clients) {
        let ms = 2000 + round * 20_000 + client * 20;
        const room = `room-${client % 10}`;
        const others = clients.filter((each) => each % 10 === client % 10);
        made.at(ms).call(client, 'JoinRoom', [room]);
        for (let message = 0; message < 6; message++) {
          const text = textOf(random);
          ms += 1500 + random.below(1000);
          made.at(ms).call(client, 'SendMessage', [room, { author: `user-${client}`, text }]);
          made.heard(others, 'MessagePosted', [
            { id: `m-${++id}`, author: `user-${client}`, text },
          ]);
        }
        const history = [{ id: `m-${id}`, text: 'the latest' }];
        made.at(ms + 1000).call(client, 'GetHistory', [room, 20], { result: history });
        made.wait(400).call(client, 'Acknowledge', [`m-${id}`]);
        made.wait(1000).call(client, 'LeaveRoom', [room]);
      }
  },
  /** One client that does the same from beginning to end. */
  loop(made, random) {
    made.open(1);
    for (let ms = 100; made.events.length < messages; ms += 50)
      made.at(ms).call(1, 'Report', [ms, textOf(random)], { result: null });
  },
  /** 200 clients that call twenty methods in no order. */
  disorder(made, random) {
    const clients = manyOf(200);
    for (const client of clients) made.at(client).open(client);
    for (let ms = 1000; made.events.length < messages; ms += 1)
      made
        .at(ms)
        .call(1 + random.below(clients.length), `Method${random.below(20)}`, [textOf(random)]);
  },
  /** 200 kinds of clients, each with an order of its own. */
  kinds(made, random) {
    const clients = manyOf(200);
    const orders = clients.map(() => Array.from({ length: 12 }, () => random.below(20)));
    for (const client of clients) made.at(client).open(client);
    for (let at = 0; made.events.length < messages; at++)
      for (const client of clients)
        made
          .at(1000 + at * 500 + client)
          .call(client, `Method${orders[client - 1][at % 12]}`, [textOf(random)]);
  },
  /** 100 clients that hear what a timer of the hub says, and call now and then. */
  ticks(made, random) {
    const clients = manyOf(100);
    for (const client of clients) made.at(client).open(client);
    for (let tick = 0; made.events.length < messages; tick++) {
      made.at(1000 + tick * 1000).heard(clients, 'Tick', [{ at: tick, price: random.below(1e6) }]);
      if (tick % 10 === 0) made.wait(10).call(1 + random.below(100), 'Subscribe', ['prices']);
    }
  },
  /** 100 clients that send back an id of the answer before. */
  kept(made) {
    const clients = manyOf(100);
    for (const client of clients) made.at(client).open(client);
    for (let page = 0; made.events.length < messages; page++)
      for (const client of clients) {
        const [last, next] = [page, page + 1].map((each) => `page-${client * 1000 + each}-of-many`);
        const answer = { result: { items: [page, page + 1, page + 2], next } };
        made
          .at(1000 + page * 500 + client)
          .call(client, 'GetPage', page === 0 ? [''] : [last], answer);
      }
  },
};

function writeRecording(name) {
  const made = new MadeRecording();
  shapes[name](made, seededRandom(7));
  const { header, events } = made.recording;
  const file = path.join(folder, `${name}.recording.jsonl`);
  const handle = openSync(file, 'w');
  writeSync(handle, `${JSON.stringify(header)}\n`);
  writeSync(handle, `${events.map((event) => JSON.stringify(event)).join('\n')}\n`);
  closeSync(handle);
  const count = events.filter(({ m }) => m !== undefined).length;
  return { file, words: `${count} messages` };
}

const startedAt = '2026-11-23T10:00:00.000Z';
const startedS = Date.parse(startedAt) / 1000;

const harEntry = (type, url, more) => ({
  ...{ _resourceType: type, startedDateTime: startedAt, time: 60_000 },
  request: {
    method: 'GET',
    url,
    httpVersion: 'HTTP/1.1',
    headers: [],
    queryString: [],
    cookies: [],
  },
  response: { status: 101, headers: [], content: { size: 0, mimeType: 'x-unknown' } },
  ...more,
});

const socketMessage = (type, atS, message) => ({
  ...{ type, time: startedS + atS, opcode: 1, data: `${JSON.stringify(message)}\x1e` },
});

/** What is said on one web socket: calls with their answers, so many. */
function socketEntry(calls, text) {
  const said = [
    socketMessage('send', 0.001, { protocol: 'json', version: 1 }),
    socketMessage('receive', 0.002, {}),
  ];
  for (let call = 0; call < calls; call++) {
    const invocationId = String(call);
    said.push(
      socketMessage('send', 1 + call, { type: 1, invocationId, target: 'Post', arguments: [text] }),
      socketMessage('receive', 1.01 + call, { type: 3, invocationId, result: null }),
    );
  }
  const url = 'ws://localhost:5050/chat?id=abc';
  return harEntry('websocket', url, { _webSocketMessages: said });
}

const mb = 1024 * 1024;

/** Each says what the next entry of the file is. */
const harFiles = {
  /** A page with much to load, and one web socket. */
  page: () => {
    const text = Buffer.alloc(0.75 * mb, 'a picture').toString('base64');
    const content = { size: text.length, mimeType: 'image/png', encoding: 'base64', text };
    const response = { status: 200, headers: [], content };
    const file = harEntry('image', 'http://localhost:5050/picture.png', { response });
    return (at) => (at === 0 ? socketEntry(1000, 'a line of text') : file);
  },
  /** Web sockets alone. */
  frames: () => {
    const entry = socketEntry(2000, 'a line of text '.repeat(30));
    return () => entry;
  },
};

function writeHar(name) {
  const file = path.join(folder, `${name}.har`);
  const entryAt = harFiles[name]();
  const handle = openSync(file, 'w');
  let bytes = 0;
  const write = (text) => (bytes += writeSync(handle, text));
  write('{"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"entries":[');
  for (let at = 0; bytes < harMb * mb; at++)
    write((at === 0 ? '' : ',') + JSON.stringify(entryAt(at)));
  write(']}}');
  closeSync(handle);
  return { file, words: 'HAR file' };
}

/** Says at its end what the process has taken: the first place where it is all known. */
const atExit = `import { readFileSync, writeSync } from 'node:fs';
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const [, kb] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  writeSync(3, JSON.stringify({ cpuS: (user + system) / 1e6, mb: kb / 1024 }));
});`;

/** One import, as people start it. */
async function measured(file) {
  const startMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(atExit)}`,
      'dist/cli.js',
      'import',
      file,
    ],
    { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] },
  );
  const [said, words, spent] = child.stdio
    .slice(1)
    .map((stream) => stream.setEncoding('utf8').toArray());
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - startMs) / 1000;
  if (code !== 0) throw new Error(`${file}: ended with ${code}: ${(await words).join('')}`);
  const steps = (await said).join('').match(/^ *- (?:call|stream|on):/gm)?.length ?? 0;
  return { seconds, steps, ...JSON.parse((await spent).join('')) };
}

try {
  for (const name of values.shapes?.split(',') ?? [
    ...Object.keys(shapes),
    ...Object.keys(harFiles),
  ]) {
    const { file, words } = name in shapes ? writeRecording(name) : writeHar(name);
    const rows = [];
    for (let round = 0; round < rounds; round++) rows.push(await measured(file));
    const of = (key) => rows.map((row) => row[key]);
    console.log(
      `${name}: ${words}, ${(statSync(file).size / mb).toFixed(0)} MB: ${median(of('seconds')).toFixed(2)} s (${of(
        'seconds',
      )
        .map((s) => s.toFixed(2))
        .join(
          ' ',
        )}), CPU ${median(of('cpuS')).toFixed(2)} s, resident at most ${Math.max(...of('mb')).toFixed(0)} MB, ${rows[0].steps} calls in the scenario`,
    );
    rmSync(file);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
