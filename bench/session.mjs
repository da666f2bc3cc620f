// `node bench/session.mjs`: what a call of a session of eight different steps costs the load generator against a call by
// `invoke`, in turn, and whether all calls that are due are offered. Needs `npm run build`. Method: bench/README.md. Judges
// nothing. With --steps same, all eight are the call of `invoke`.
//
//   node bench/session.mjs [--senders 2000] [--seconds 16] [--rounds 2] [--workers 1] [--arrivals even|poisson] [--steps chat|same]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    senders: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '2' },
    workers: { type: 'string', default: '1' },
    arrivals: { type: 'string', default: 'even' },
    steps: { type: 'string', default: 'chat' },
  },
});
const [senders, seconds, rounds] = [values.senders, values.seconds, values.rounds].map(Number);
const callsEach = 8;

const room = '{group}';
const post = (size) => ({
  ...{
    call: 'SendMessage',
    arguments: [room, { author: '{senderIndex}', text: `{text:${size}B}` }],
  },
  ...{ reply: 'callback', callback: 'MessagePosted', receivers: 'group' },
});
/** What a user of a chat does, in rooms of two. */
const chat = [
  { call: 'JoinRoom', arguments: [room], group: 'join' },
  { call: 'GetHistory', arguments: [room, 5], keep: { last: '$[0].id' } },
  post(200),
  {
    ...{ if: 'last', steps: [{ call: 'Acknowledge', arguments: ['{last}'] }] },
    else: [{ call: 'GetConnectionId' }],
  },
  post(60),
  {
    choose: [
      { weight: 3, steps: [{ call: 'GetConnectionId' }] },
      {
        weight: 1,
        steps: [{ call: 'GetHistory', arguments: [room, 1], keep: { last: '$[0].id' } }],
      },
    ],
  },
  post(100),
  { call: 'LeaveRoom', arguments: [room], group: 'leave' },
].flatMap((step, at) => (at === 0 ? [step] : [{ wait: '1s' }, step]));
const same = [{ repeat: callsEach, every: '1s', steps: [{ call: 'GetConnectionId' }] }];

/** One call a second of each sender, either way; a session has eight and begins every eight seconds. */
const parameters = {
  invoke: { method: 'GetConnectionId', sendingInterval: '1s' },
  session: {
    ...{ sessionInterval: `${callsEach}s`, groupCount: Math.max(1, senders >> 1) },
    steps: values.steps === 'same' ? same : chat,
  },
};

const warmupS = 2;

/** Sender r begins at its part of the first interval; from then on it calls every second. */
function dueCalls(name) {
  const firstS = (rank) => (rank / senders) * (name === 'session' ? callsEach : 1);
  const until = (rank, atS) => Math.max(0, Math.ceil(atS - firstS(rank)));
  let due = 0;
  for (let rank = 0; rank < senders; rank++)
    due += until(rank, warmupS + seconds) - until(rank, warmupS);
  return due;
}

const rounded = (value) => Number(value.toFixed(3));

const folder = mkdtempSync(path.join(tmpdir(), 'session-bench-'));

function measured(name) {
  const file = path.join(folder, `${name}.json`);
  const config = {
    ...{ target: 'local', connections: senders, arrivingRate: 1000, baseSending: senders, step: 0 },
    ...{
      singleStepDuration: `${seconds}s`,
      warmup: `${warmupS}s`,
      workers: Number(values.workers),
      arrivals: values.arrivals,
    },
  };
  const scenario = { name, parameters: parameters[name] };
  writeFileSync(file, JSON.stringify({ config, scenario, slo: { p99: '10s' } }));
  const args = ['dist/cli.js', 'run', file, '--json', '--out', folder];
  const done = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1e8 });
  if (!done.stdout.startsWith('{')) throw new Error(done.stderr);
  const { steps } = JSON.parse(done.stdout);
  const { offered, sent, received, extra, lost, errors, sessions, generator } = steps[0];
  const due = dueCalls(name);
  const messages = (sent + received + extra) / sent;
  return {
    ...(values.arrivals === 'even' && { due, offeredPercent: rounded((100 * offered) / due) }),
    ...{ offered, sent, lost, errors, brokenOff: sessions?.brokenOff },
    // With all that it brings: its answer, and callbacks at the members of the room.
    ...{ messages: rounded(messages), callUs: rounded(messages * generator.cpuUsPerMessage) },
    ...{ messageUs: rounded(generator.cpuUsPerMessage), slipUs: generator.slipP99Us },
  };
}

try {
  const ratios = { call: [], message: [] };
  const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1].toFixed(2);
  for (let round = 1; round <= rounds; round++) {
    const [invoke, session] = [measured('invoke'), measured('session')];
    for (const of of ['call', 'message']) ratios[of].push(session[`${of}Us`] / invoke[`${of}Us`]);
    console.log(JSON.stringify({ round, invoke, session, ratio: rounded(ratios.call.at(-1)) }));
  }
  console.log(
    `a call of a session costs ${middle(ratios.call)} times one of invoke, a message of it ${middle(ratios.message)} times`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
