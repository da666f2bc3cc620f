// Runs test files beside a Kubernetes cluster that lives as long as they do: a control plane and two nodes in namespaces
// of this machine. Nothing of it is left, whatever ends the tests. Without arguments it opens a shell there.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { preparePrograms, unfit } from './cluster/programs.mjs';
import { exitCode, packageProgram, root } from './nodeProgram.mjs';

const groups = '/sys/fs/cgroup';
const own = `signalr-bench-cluster-${process.pid}`;

/** The hierarchies of control groups: their options, where they are mounted, and the group of this process there. */
const hierarchies = readFileSync('/proc/self/cgroup', 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(':'))
  .filter(([, controllers]) => controllers !== '')
  .map(([, controllers, current]) => {
    const mounted = path.join(groups, controllers.replace('name=', ''));
    const options = controllers.startsWith('name=') ? `none,${controllers}` : controllers;
    return { options, mounted, current: path.join(mounted, current) };
  })
  .filter(({ current }) => existsSync(current));

/** A group of its own in each hierarchy: groups of pods are made below it. */
function makeGroups() {
  for (const { options, current } of hierarchies) {
    mkdirSync(path.join(current, own));
    // Nothing may run in a set of processors that is empty.
    if (!options.split(',').includes('cpuset')) continue;
    for (const name of ['cpuset.cpus', 'cpuset.mems'])
      writeFileSync(path.join(current, own, name), readFileSync(path.join(current, name)));
  }
}

function removeGroup(at) {
  for (const { name } of readdirSync(at, { withFileTypes: true }).filter((e) => e.isDirectory()))
    removeGroup(path.join(at, name));
  rmdirSync(at);
}

/** Moves itself into the groups, then into the namespaces, where only those groups are seen. */
function script(words) {
  const join = hierarchies.map(
    ({ current }) => `echo $$ >${path.join(current, own, 'cgroup.procs')}`,
  );
  const mounts = hierarchies.flatMap(({ options, mounted }) => [
    `mkdir -p ${mounted}`,
    `mount -t cgroup -o ${options} cgroup ${mounted}`,
  ]);
  // A shell as the first process takes those in that lose their parent.
  const inside = `mount -t tmpfs cgroup ${groups}
${mounts.join('\n')}
"$@"
exit $?`;
  const unshare = '--cgroup --pid --mount --net --uts --ipc --fork --kill-child --mount-proc';
  return [
    'sh',
    '-ec',
    `${join.join('\n')}\nexec unshare ${unshare} sh -ec '${inside}' sh "$@"`,
    'sh',
    ...words,
  ];
}

/** `unshare` hears no signal. Its child is the first process there: with it all others end, and `unshare` after them. */
function endChildOf({ pid }) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  for (const each of children.trim().split(' ').filter(Boolean))
    process.kill(Number(each), 'SIGKILL');
}

async function main() {
  const why = unfit();
  if (why !== undefined) throw new Error(`there can be none on this machine: ${why}`);
  preparePrograms((text) => console.log(`cluster: ${text}`));
  const files = process.argv.slice(2);
  const reporter = '--reporter=scripts/suiteReporter.mjs';
  const mocha = [packageProgram('mocha'), '--forbid-only', '--timeout=300000', reporter, ...files];
  const words = files.length === 0 ? ['bash'] : [process.execPath, ...mocha];
  const inside = path.join(root, 'scripts', 'cluster', 'inside.mjs');
  makeGroups();
  const [program, ...rest] = script([process.execPath, inside, ...words]);
  const child = spawn(program, rest, { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => endChildOf(child));
  const code = await exitCode(child);
  for (const { current } of hierarchies) removeGroup(path.join(current, own));
  return code;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`cluster: ${error.message}`);
  process.exitCode = 1;
}
