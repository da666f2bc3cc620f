// What many connections cost and survive, measured on whole runs of the built command line:
//
//   node bench/life.mjs idle [CONNECTIONS]    resident memory of the process that holds them, 10,000 by default
//   node bench/life.mjs storm [CONNECTIONS]   all dropped at once and opened again, 5,000 by default
//
// The hub has a process of its own. Linux only, since memory is read from /proc. Judges nothing.
import { readFile } from 'node:fs/promises';
import { runScenario, serve } from './processes.mjs';

const [kind = 'idle', countText] = process.argv.slice(2);
const connections = Number(countText ?? (kind === 'idle' ? 10_000 : 5000));

const common = `  connections: ${connections}
  arrivingRate: 1500
  connectInFlight: 200
  workers: 1
`;
const scenarios = {
  idle: `config:\n${common}  singleStepDuration: 20s\nscenario: { name: connectOnly }\n`,
  storm: `config:
${common}  baseSending: 500
  step: 0
  singleStepDuration: 30s
  dropAllAfter: 5s
  reconnectPolicy: atOnce
scenario:
  name: sendToGroup
  parameters: { messageSize: 200, sendingInterval: 2s, groupCount: ${Math.ceil(connections / 10)} }
slo: { p99: 10s }
`,
};

/** Resident memory of a process, and the most it ever had, in bytes. */
async function memoryOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { nowBytes: kilobytes('VmRSS') * 1024, mostBytes: kilobytes('VmHWM') * 1024 };
}

const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MB`;

const { target, stop } = await serve('hub');
let memory = { nowBytes: 0, mostBytes: 0 };
const { code, result } = await runScenario(scenarios[kind], target, (run) => {
  const timer = setInterval(() => {
    // The last reading counts: while all connections stand.
    memoryOf(run.pid).then(
      (read) => (memory = read.nowBytes > 0 ? read : memory),
      () => undefined,
    );
  }, 2000);
  run.once('close', () => clearInterval(timer));
}).finally(stop);
const { connected, dropped, failed, reconnected } = result.connections;
console.log(`${kind}, ${connections} connections, Node ${process.version}, exit code ${code}`);
console.log(
  `connected ${connected}, failed ${failed}, dropped ${dropped}, reconnected ${reconnected}`,
);
console.log(
  `memory of the process: ${megabytes(memory.nowBytes)} at the end, ${megabytes(memory.mostBytes)} at most`,
);
for (const step of result.steps) {
  const { expected, received, lost, duplicated, outOfOrder, extra, recoveries = [] } = step;
  console.log(JSON.stringify({ expected, received, lost, duplicated, outOfOrder, extra }));
  for (const recovery of recoveries) console.log(JSON.stringify(recovery));
}
