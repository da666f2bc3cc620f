// `node bench/session.mjs`: what a call of a session costs the load generator against the same call by `invoke`, in turn,
// and whether all calls that are due are offered. Needs `npm run build`. Method: bench/README.md. Judges nothing.
//
//   node bench/session.mjs [--senders 2000] [--seconds 16] [--rounds 2] [--workers 1] [--arrivals even|poisson]
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
  },
});
const [senders, seconds, rounds] = [values.senders, values.seconds, values.rounds].map(Number);
const callsEach = 8;

/** One call a second of each sender, either way; a session has eight and begins every eight seconds. */
const parameters = {
  invoke: { method: 'GetConnectionId', sendingInterval: '1s' },
  session: {
    sessionInterval: `${callsEach}s`,
    steps: [{ repeat: callsEach, every: '1s', steps: [{ call: 'GetConnectionId' }] }],
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
  const { steps } = JSON.parse(done.stdout);
  const { offered, sent, lost, generator } = steps[0];
  // A call and its answer are two messages.
  return {
    ...(values.arrivals === 'even' && { due: dueCalls(name) }),
    offered,
    sent,
    lost,
    callUs: 2 * generator.cpuUsPerMessage,
    slipUs: generator.slipP99Us,
  };
}

try {
  const ratios = [];
  for (let round = 1; round <= rounds; round++) {
    const [invoke, session] = [measured('invoke'), measured('session')];
    const ratio = session.callUs / invoke.callUs;
    ratios.push(ratio);
    console.log(JSON.stringify({ round, invoke, session, ratio: Number(ratio.toFixed(3)) }));
  }
  ratios.sort((a, b) => a - b);
  console.log(
    `a call of a session costs ${ratios[ratios.length >> 1].toFixed(2)} times one of invoke`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
