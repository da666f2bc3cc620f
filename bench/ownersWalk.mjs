// What the owner of a chat does with the recorder, from end to end. Two people use the ASP.NET Core chat of test/interop in
// Chromium, through `record`; the scenario that comes out runs against the same hub as it is, and then with more
// connections. A second recorder stands before the hub all the time, so that what reaches it can be compared: rate and
// size of each call and each callback. Ends with 1 where one differs by more than 5 %.
// Needs `npx tsc -b`, `npm run build`, `node scripts/buildInterop.mjs` and Chromium. Method: bench/README.md.
//   node bench/ownersWalk.mjs [--seconds 60] [--connections 500] [--out FOLDER] [--pictures docs/pictures]
// With --out, recordings, scenarios and results stay there. With --pictures, the panel draws the last run as it is stored.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { launchChromium } from '../scripts/vscodeHost.mjs';
import { startChatServer, startServer } from '../test/interop/chatServer.mjs';

const require = createRequire(import.meta.url);
const { parseDurationMs } = require(path.resolve('out/src/base/units.js'));

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    connections: { type: 'string', default: '500' },
    out: { type: 'string' },
    pictures: { type: 'string' },
  },
});
const people = ['ann', 'bob'];
/** As long as the names that a run gives to its rooms, which are its own. */
const room = 'the-round-table-123';
const messages = 10;
/** Of a visit: people write for a part of it and read for the rest, see `visit` in chat.js. */
const everyMs = (Number(values.seconds) * 1000) / 2.8 / (messages + 1);
/** Nobody types at one pace; their mean is 1. */
const paces = [0.6, 1.3, 0.8, 1.6, 0.7];
const textsOf = (name) =>
  Array.from(
    { length: messages },
    (_, at) => `${name} ${at} ${'writes a line of text '.repeat(4 + (at % 3))}`,
  );
const most = 0.05;
/** Of a session: nobody does anything so long before somebody's session ends. */
const restOfSession = 0.05;

const cli = path.resolve('dist', 'cli.js');
const folder = path.resolve(values.out ?? mkdtempSync(path.join(tmpdir(), 'owners-walk-')));
mkdirSync(folder, { recursive: true });

const startRecorder = (target, name, ...flags) =>
  startServer(
    process.execPath,
    [cli, 'record', '--target', target, '--out', name, '--exit-with-stdin', ...flags],
    { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] },
  );

/** What each person does on the page, in a browser of their own. */
async function usePage(browser, hub) {
  const visits = people.map(async (name, at) => {
    const page = await (await browser.newContext()).newPage();
    const url = new URL('/pages/chat.html', hub);
    url.search = new URLSearchParams({ hub, room, name });
    await page.goto(url.href);
    await page.waitForTimeout(100 * at);
    const does = { texts: textsOf(name), everyMs, paces };
    const shown = await page.evaluate((visit) => globalThis.visit(visit), does);
    await page.context().close();
    return shown;
  });
  return Promise.all(visits);
}

/** All calls and callbacks of a recording, in order, and for how long its clients were there together. */
async function readTraffic(name) {
  const said = [];
  let presentUs = 0;
  const file = path.join(folder, `${name}.recording.jsonl`);
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { t: atUs, client, ev, m } = JSON.parse(line);
    if (ev === 'open') presentUs -= atUs;
    if (ev === 'close') presentUs += atUs;
    if (m?.type !== 1) continue;
    const bytes = Buffer.byteLength(JSON.stringify(m.arguments));
    said.push({ atUs, client, isCall: ev === 'out', name: m.target, with: m.arguments[0], bytes });
  }
  return { said, presentMinutes: presentUs / 60e6 };
}

/** Callbacks that go to the others in a room when somebody comes or goes. */
const causeOf = { Joined: 'JoinRoom', Left: 'LeaveRoom' };

/**
 * How often and how large, by name. A callback on coming and going is counted by how many others were there to hear it: a
 * room that fills and empties has fewer of them than one in which people come and go all the time.
 */
function rowsOf(said, minutes, fromUs = 0, toUs = Infinity) {
  const rows = new Map();
  const heardBy = new Map(Object.values(causeOf).map((cause) => [cause, 0]));
  const rooms = new Map();
  for (const { atUs, client, isCall, name, with: first, bytes } of said) {
    const isIn = atUs >= fromUs && atUs < toUs;
    if (isCall && heardBy.has(name)) {
      const there = rooms.get(first) ?? new Set();
      rooms.set(first, there);
      there.delete(client);
      if (isIn) heardBy.set(name, heardBy.get(name) + there.size);
      if (name === causeOf.Joined) there.add(client);
    }
    if (!isIn) continue;
    const what = isCall ? name : `callback ${name}`;
    const row = rows.get(what) ?? { name, isCall, times: 0, bytes: 0 };
    rows.set(what, row);
    row.times += 1;
    row.bytes += bytes;
  }
  return new Map(
    [...rows].map(([what, { name, isCall, times, bytes }]) => {
      const cause = isCall ? undefined : causeOf[name];
      const rate = times / (cause === undefined ? minutes : heardBy.get(cause));
      return [what, { cause, rate, bytes: bytes / times }];
    }),
  );
}

/** Ends with what it ended with; what it says is shown. */
async function runScenario(file) {
  process.stdout.write(`\n$ signalr-bench run ${file}\n`);
  const child = spawn(process.execPath, [cli, 'run', file], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += text));
  await once(child, 'close');
  const results = path.join(folder, '.signalr-bench');
  const newest = readdirSync(results).sort().at(-1);
  const result = path.join(results, newest);
  try {
    const { steps, errors } = JSON.parse(readFileSync(path.join(result, 'result.json'), 'utf8'));
    return { result, step: steps[0], errors };
  } catch (cause) {
    throw new Error(`the run left no result: ${stderr}`, { cause });
  }
}

/** Runs a scenario, and says what of it reached the hub in so many whole sessions. */
async function rerun(hub, port, file, connections) {
  const front = await startRecorder(hub, `seen-${connections}`, '--port', port);
  const { result, step, errors } = await runScenario(file);
  await front.stop();
  const yaml = readFileSync(path.join(folder, file), 'utf8');
  const msOf = (key) => parseDurationMs(new RegExp(`${key}: (\\S+)`).exec(yaml)[1]);
  const { said } = await readTraffic(`seen-${connections}`);
  const begunUs = said.find(({ isCall }) => isCall).atUs;
  const sessionMs = msOf('sessionInterval');
  // All have begun by then.
  const leastMs = (1 - 1 / connections) * sessionMs;
  const fromUs = begunUs + Math.max(leastMs, msOf('warmup') - restOfSession * sessionMs) * 1000;
  const minutes = (connections * step.seconds) / 60;
  const rows = rowsOf(said, minutes, fromUs, fromUs + step.seconds * 1e6);
  const { sent, expected, received, lost } = step;
  process.stdout.write(
    `${connections} connections: ${sent} calls, ${received} of ${expected} deliveries, ${lost} lost, errors ${JSON.stringify(errors)}\n`,
  );
  return { connections, rows, result };
}

const percent = (found, wanted) => {
  const share = found / wanted - 1;
  return `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)} %`;
};

/** Prints rates and sizes beside each other. @returns what differs by too much */
function compare(recorded, runs) {
  const differ = [];
  const heads = runs.flatMap(({ connections: n }) => [`${n}: a minute`, `${n}: bytes`]);
  const table = [['', 'recorded: a minute', 'bytes', ...heads]];
  for (const [name, { cause, rate, bytes }] of recorded) {
    const unit = cause === undefined ? '' : `, for each who is there at ${cause}`;
    const cells = runs.flatMap(({ connections, rows }) => {
      const again = rows.get(name) ?? { rate: 0, bytes: 0 };
      return [
        [again.rate, rate, 2],
        [again.bytes, bytes, 1],
      ].map(([found, wanted, decimals], at) => {
        if (Math.abs(found / wanted - 1) > most)
          differ.push(`${name}, ${['rate', 'size'][at]} with ${connections} connections`);
        return `${found.toFixed(decimals)} (${percent(found, wanted)})`;
      });
    });
    table.push([name + unit, rate.toFixed(2), bytes.toFixed(1), ...cells]);
  }
  for (const { connections, rows } of runs)
    for (const name of rows.keys())
      if (!recorded.has(name)) differ.push(`${name}, which only ${connections} connections had`);
  const lines = table.map((cells) => `| ${cells.join(' | ')} |`);
  lines.splice(1, 0, `|${' --- |'.repeat(table[0].length)}`);
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return differ;
}

/** The file as it was written, with more connections in as many more rooms, and with the server's metrics. */
function withMore(file, connections, metrics) {
  const yaml = readFileSync(path.join(folder, file), 'utf8');
  const more = yaml
    .replace(/connections: \d+/, `connections: ${connections}`)
    .replace(/groupCount: \d+/, `groupCount: ${Math.round(connections / people.length)}`)
    .replace(/^config:$/m, `config:\n  observe:\n    - prometheus: ${metrics}`);
  const name = `chat-${connections}.signalr.yaml`;
  writeFileSync(path.join(folder, name), more);
  return name;
}

const browser = await launchChromium();
const chat = await startChatServer();
try {
  const hub = new URL('/chat', chat.url).href;
  const front = await startRecorder(hub, 'seen-first');
  const recorder = await startRecorder(front.url, 'chat');
  process.stdout.write(`Two people use ${hub} through ${recorder.url} …\n`);
  const shown = await usePage(browser, recorder.url);
  await recorder.stop();
  await front.stop();
  await browser.close();
  process.stdout.write(`Each has seen ${shown.join(' and ')} messages.\n\n`);
  const scenario = 'chat.signalr.yaml';
  const yaml = readFileSync(path.join(folder, scenario), 'utf8');
  process.stdout.write(yaml);
  const { said, presentMinutes } = await readTraffic('chat');
  const recorded = rowsOf(said, presentMinutes);
  const { port } = new URL(front.url);
  const asItIs = await rerun(hub, port, scenario, people.length);
  const more = Number(values.connections);
  const large = withMore(scenario, more, new URL('/metrics', hub).href);
  const runs = [asItIs, await rerun(hub, port, large, more)];
  const differ = compare(recorded, runs);
  for (const what of differ) process.stderr.write(`More than 5 % off: ${what}\n`);
  process.exitCode = differ.length === 0 ? 0 : 1;
  if (values.pictures !== undefined) {
    const { result } = runs.at(-1);
    const args = ['test/ui/runPictures.mjs', result, values.pictures];
    await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close');
  }
} finally {
  await browser.close();
  await chat.stop();
  if (values.out === undefined) rmSync(folder, { recursive: true, force: true });
}
