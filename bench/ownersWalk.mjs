// What the owner of a chat does with the recorder, from end to end. Two people use a chat in Chromium, through `record`; the
// scenario that comes out runs against the same hub as it is, and then with more connections. A second recorder stands before
// the hub then, so that what reaches it can be compared: rate and size of each call and each callback. Ends with 1
// where one differs by more than 5 %, or where not everything came that was expected.
// Needs `npx tsc -b`, `npm run build`, `node scripts/buildInterop.mjs` and Chromium. Method: bench/README.md.
//   node bench/ownersWalk.mjs [--seconds 60] [--connections 500] [--transport WebSockets] [--protocol json]
//     [--service none|signalr|webpubsub] [--out FOLDER] [--pictures docs/pictures]
//   node bench/ownersWalk.mjs --all [--seconds 20] [--transport …] [--protocol …] [--service …]
// With --all, each way that fits the other flags is walked, without more connections, and has one line. With --out, recordings, scenarios
// and results stay there. With --pictures, the terminal of the recorder, the scenario in VS Code, and the last run in the panel are
// drawn (test/ui/recordPictures.mjs, runPictures.mjs); ports are those of the documents.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { launchChromium } from '../scripts/vscodeHost.mjs';
import { startServer } from '../test/interop/chatServer.mjs';
import { recordInTerminal } from './walk/terminal.mjs';
import { differences, percent, quietTimes, readTraffic, rowsOf } from './walk/traffic.mjs';
import { everyWay, startWay } from './walk/ways.mjs';

const require = createRequire(import.meta.url);
const { parseDurationMs } = require(path.resolve('out/src/base/units.js'));
const { startRelay } = require(path.resolve('out/test/fakes/relay.js'));
const { secretVariable } = require(path.resolve('out/src/scenario/target/references.js'));

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    ...{ seconds: text, connections: text, transport: text, protocol: text, service: text },
    ...{ all: { type: 'boolean', default: false }, out: text, pictures: text },
  },
});
const seconds = Number(values.seconds ?? (values.all ? 20 : 60));
/** Of the larger run; 0 for none. */
const more = Number(values.connections ?? (values.all ? 0 : 500));
const most = 0.05;
const isShown = values.pictures !== undefined;
/** Those of the documents. */
const shownPorts = { hub: 5050, recorder: 5051 };

const cli = path.resolve('dist', 'cli.js');
const scenario = 'chat.signalr.yaml';
const say = values.all ? () => undefined : (said) => process.stdout.write(said);

const startRecorder = (folder, target, name, ...flags) =>
  startServer(
    process.execPath,
    [cli, 'record', '--target', target, '--out', name, '--exit-with-stdin', ...flags],
    { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] },
  );

const trafficOf = (folder, name) => readTraffic(path.join(folder, `${name}.recording.jsonl`));

/** Ends with what it ended with; what it says is shown. */
async function runScenario(folder, file, env) {
  say(`\n$ signalr-bench run ${file}\n`);
  const child = spawn(process.execPath, [cli, 'run', file], {
    ...{ cwd: folder, env: { ...process.env, ...env } },
    stdio: ['ignore', values.all ? 'ignore' : 'inherit', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (written) => (stderr += written));
  await once(child, 'close');
  const results = path.join(folder, '.signalr-bench');
  try {
    const result = path.join(results, readdirSync(results).sort().at(-1));
    const { steps } = JSON.parse(readFileSync(path.join(result, 'result.json'), 'utf8'));
    return { result, step: steps[0] };
  } catch (cause) {
    throw new Error(`the run left no result: ${stderr}`, { cause });
  }
}

/** Whatever a scenario asks for. */
const secretsIn = (yaml, value) =>
  Object.fromEntries(
    [...yaml.matchAll(/\$\{secret:([\w-]+)\}/g)].map(([, name]) => [secretVariable(name), value]),
  );

/** Runs a scenario, and says what of it reached the hub in so many whole sessions. */
async function rerun(folder, place, recorded, { port }, file, connections) {
  const name = `seen-${connections}`;
  const recorder = await startRecorder(folder, place.service ?? place.url, name, '--port', port);
  const yaml = readFileSync(path.join(folder, file), 'utf8');
  const secret = place.secret?.(recorder.url) ?? 'any';
  const { result, step } = await runScenario(folder, file, secretsIn(yaml, secret));
  await recorder.stop();
  const msOf = (key) => parseDurationMs(new RegExp(`${key}: (\\S+)`).exec(yaml)?.[1] ?? '');
  const { said } = await trafficOf(folder, name);
  const begunUs = said.find(({ isCall }) => isCall).atUs;
  // Clients of Web PubSub have no sessions: each message is one.
  const sessionMs = msOf('sessionInterval');
  const everyMs = sessionMs ?? msOf('sendingInterval');
  const quiet = sessionMs === undefined ? new Map() : quietTimes(recorded, connections);
  const sessions = Math.floor((step.seconds * 1000) / everyMs + 0.01);
  const rows = rowsOf(said, (connections * sessions * everyMs) / 60_000, (what, atUs) => {
    // All have begun by then.
    const from = 1 - 1 / connections + (quiet.get(what) ?? 0.5 / connections);
    const at = (atUs - begunUs) / 1000 / everyMs;
    return at >= from && at < from + sessions;
  });
  const { sent, expected, received, lost, duplicated, errors } = step;
  say(
    `${connections} connections: ${sent} calls, ${received} of ${expected} deliveries, ${lost} lost, errors ${JSON.stringify(errors)}\n`,
  );
  const isExact =
    received === expected && lost + duplicated === 0 && Object.keys(errors).length === 0;
  return { connections, rows, result, step, isExact };
}

/** Rates and sizes beside each other. */
function tableOf(recorded, runs) {
  const heads = runs.flatMap(({ connections: n }) => [`${n}: a minute`, `${n}: bytes`]);
  const table = [['', 'recorded: a minute', 'bytes', ...heads]];
  for (const [name, { per, rate, sizes }] of recorded) {
    const unit = per === undefined ? '' : `, for ${per}`;
    const cells = runs.flatMap(({ rows }) => {
      const again = rows.get(name) ?? { rate: 0, sizes: [0] };
      return [
        `${again.rate.toFixed(2)} (${percent(again.rate / rate - 1)})`,
        `${again.sizes[0].toFixed(1)} (${percent(again.sizes[0] / sizes[0] - 1)})`,
      ];
    });
    table.push([name + unit, rate.toFixed(2), sizes[0].toFixed(1), ...cells]);
  }
  return table;
}

function printTable(table) {
  const lines = table.map((cells) => `| ${cells.join(' | ')} |`);
  lines.splice(1, 0, `|${' --- |'.repeat(table[0].length)}`);
  process.stdout.write(`\n${lines.join('\n')}\n`);
}

/** The file as it was written, with more connections in as many more rooms, and with the server's metrics where it has some. */
function withMore(folder, { metrics }) {
  const yaml = readFileSync(path.join(folder, scenario), 'utf8');
  const seen = Number(/connections: (\d+)/.exec(yaml)[1]);
  const observed = metrics === undefined ? '' : `\n  observe:\n    - prometheus: ${metrics}`;
  const name = `chat-${more}.signalr.yaml`;
  writeFileSync(
    path.join(folder, name),
    yaml
      .replace(/connections: \d+/, `connections: ${more}`)
      .replace(/groupCount: \d+/, `groupCount: ${Math.round(more / seen)}`)
      .replace(/^config:$/m, `config:${observed}`),
  );
  return name;
}

/** Records two people, and runs what comes out. */
async function walk(browser, way, folder) {
  mkdirSync(folder, { recursive: true });
  const place = await startWay(way, seconds);
  try {
    // The recorder of the runs is there later: the scenario goes to its port.
    const front = new URL(place.url);
    const relay = await startRelay(Number(front.port), undefined, isShown ? shownPorts.hub : 0);
    front.port = String(relay.port);
    const recorder = isShown
      ? await recordInTerminal(folder, front.href, shownPorts.recorder)
      : await startRecorder(folder, front.href, 'chat');
    say(`Two people use ${place.url} through ${recorder.url} …\n`);
    const shown = await place.use(browser, recorder.url);
    const screen = await recorder.stop();
    if (isShown) writeFileSync(path.join(folder, 'terminal.txt'), screen);
    relay.dispose();
    say(`Each has seen ${shown.join(' and ')} messages.\n\n`);
    say(readFileSync(path.join(folder, scenario), 'utf8'));
    const traffic = await trafficOf(folder, 'chat');
    const again = (file, connections) => rerun(folder, place, traffic, front, file, connections);
    const runs = [await again(scenario, shown.length)];
    if (more > 0) runs.push(await again(withMore(folder, place), more));
    return { recorded: rowsOf(traffic.said, traffic.presentMinutes), runs };
  } finally {
    await place.stop();
  }
}

/** @returns whether all is as it was recorded */
function judge(way, { recorded, runs }) {
  let isSame = true;
  for (const { connections, rows, isExact } of runs) {
    const wrong = differences(recorded, rows)
      .filter(({ share }) => Math.abs(share) > most)
      .map(({ name, of, share }) => `More than 5 % off: ${name}, ${of} (${percent(share)})`);
    if (!isExact) wrong.push('Not everything came that was expected');
    for (const line of wrong)
      process.stderr.write(
        `${line}, ${connections} connections, ${Object.values(way).join(', ')}\n`,
      );
    isSame &&= wrong.length === 0;
  }
  return isSame;
}

/** Of its first run. */
function lineOf({ transport, protocol, service }, { recorded, runs: [{ rows, step, isExact }] }) {
  const all = differences(recorded, rows);
  const biggest = ['rate', 'size'].map((of) => {
    const [first, ...others] = all.filter((each) => each.of === of);
    const { share, name } = others.reduce(
      (a, b) => (Math.abs(b.share) > Math.abs(a.share) ? b : a),
      first,
    );
    return `${percent(share)} (${name})`;
  });
  const { sent, received, expected } = step;
  const came = `${received} of ${expected}${isExact ? '' : ', not exact'}`;
  return [transport, protocol, service, ...biggest, `${sent}`, came];
}

const head = ['transport', 'protocol', 'service', 'rate', 'size', 'calls', 'deliveries'];
const ways = everyWay.filter((way) =>
  Object.entries(way).every(([key, word]) => values[key] === undefined || values[key] === word),
);
if (ways.length === 0) throw new Error('no way of the walk is like that: see bench/walk/ways.mjs');
const out = path.resolve(values.out ?? mkdtempSync(path.join(tmpdir(), 'owners-walk-')));
const browser = await launchChromium();
try {
  for (const way of values.all ? ways : ways.slice(0, 1)) {
    const folder = values.all ? path.join(out, Object.values(way).join('-')) : out;
    const walked = await walk(browser, way, folder);
    if (!values.all) printTable(tableOf(walked.recorded, walked.runs));
    else if (way === ways[0]) printTable([head, lineOf(way, walked)]);
    else process.stdout.write(`| ${lineOf(way, walked).join(' | ')} |\n`);
    if (!judge(way, walked)) process.exitCode = 1;
    if (!isShown) continue;
    for (const [script, from] of [
      ['runPictures', walked.runs.at(-1).result],
      ['recordPictures', folder],
    ]) {
      const args = [`test/ui/${script}.mjs`, from, values.pictures];
      const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close');
      if (code !== 0) process.exitCode = 1;
    }
  }
} finally {
  await browser.close();
  if (values.out === undefined) rmSync(out, { recursive: true, force: true });
}
