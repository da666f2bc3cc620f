// Runs in namespaces of its own, as `scripts/testCluster.mjs` makes them: starts the cluster, carries the words given to it
// out beside it, and ends with their exit code. Everything that it has started ends with it.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startControlPlane } from './controlPlane.mjs';
import { images, makeImages } from './images.mjs';
import { serveNames } from './names.mjs';
import { addresses, connectNode, connectPods, makeBridge } from './network.mjs';
import { startNode } from './node.mjs';
import { environment, folder, run } from './programs.mjs';

const nodes = ['node-1', 'node-2'];
const readyWithinS = 120;
const state = path.join(folder, 'state');
const logs = path.join(folder, 'logs');

/** Of the machine's folders those are its own, in which programs of a cluster leave something. */
function ownFolders() {
  for (const at of [state, logs]) {
    rmSync(at, { recursive: true, force: true });
    mkdirSync(at, { recursive: true });
  }
  for (const at of [state, '/run']) run(['mount', '-t', 'tmpfs', 'cluster', at]);
}

/** A program of the cluster: none may end before the tests have. */
function start(name, words) {
  const file = path.join(logs, `${name}.log`);
  const log = openSync(file, 'a');
  const child = spawn(words[0], words.slice(1), { stdio: ['ignore', log, log] });
  const broken = (why) => {
    const last = readFileSync(file, 'utf8').trim().split('\n').slice(-5).join('\n');
    console.error(`cluster: ${name} has ended (${why}):\n${last}`);
    process.exit(1);
  };
  child.once('error', ({ message }) => broken(message));
  child.once('exit', (code, signal) => broken(code ?? signal));
}

async function until(what, look) {
  const untilMs = Date.now() + readyWithinS * 1000;
  let last;
  while (Date.now() < untilMs) {
    const found = await Promise.resolve(look()).catch((error) => void (last = error));
    if (found) return;
    await sleep(200);
  }
  throw new Error(`${what}: not within ${readyWithinS} s. ${last?.message ?? ''} See ${logs}.`);
}

const isReady = ({ status }) =>
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');

/** @returns {Promise<Record<string, string>>} environment of the tests */
async function startCluster() {
  ownFolders();
  makeBridge();
  const archives = makeImages(path.join(state, 'images'));
  const { api, configOf } = startControlPlane(path.join(state, 'plane'), nodes, start);
  await until('the API server', () => api.get('/readyz'));
  await serveNames(addresses.plane, () => api.list('/api/v1/services'));
  for (const [index, name] of nodes.entries()) {
    connectNode(name, index + 1);
    const own = { folder: path.join(state, name), name, at: index + 1 };
    startNode({ ...own, archives, configOf, start });
  }
  connectPods(nodes);
  await until('the nodes', async () => {
    const found = await api.list('/api/v1/nodes');
    return found.length === nodes.length && found.every(isReady);
  });
  await until('the account of pods', () =>
    api.get('/api/v1/namespaces/default/serviceaccounts/default'),
  );
  return {
    KUBECONFIG: configOf('admin'),
    TEST_CLUSTER: JSON.stringify({
      ...{ images, nodes, host: addresses.plane },
      ...{ user: 'tester', kubeconfig: configOf('tester') },
    }),
    HOME: state,
  };
}

async function main() {
  Object.assign(process.env, environment);
  const startedMs = Date.now();
  Object.assign(process.env, await startCluster());
  console.log(
    `cluster: ${nodes.length} nodes are ready after ${((Date.now() - startedMs) / 1000).toFixed(1)} s`,
  );
  const [program, ...words] = process.argv.slice(2);
  const child = spawn(program, words, { stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));
try {
  process.exit(await main());
} catch (error) {
  console.error(`cluster: ${error.message}`);
  process.exit(1);
}
