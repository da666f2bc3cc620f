#!/usr/bin/env node
// Stands for kubectl and a cluster: pods are processes of this machine. It shows that objects, scripts, keys and commands
// go together, and nothing of how Kubernetes takes them. State is in the folder $FAKE_CLUSTER.
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import path from 'node:path';

const folder = process.env.FAKE_CLUSTER;
const words = process.argv.slice(2);
appendFileSync(path.join(folder, 'asked.txt'), `${words.join(' ')}\n`);
while (words[0]?.startsWith('--')) words.splice(0, 2);
const file = (name) => path.join(folder, name);
const read = (name) => JSON.parse(readFileSync(file(name), 'utf8'));
const write = (name, value) => writeFileSync(file(name), JSON.stringify(value));
const input = () => JSON.parse(readFileSync(0, 'utf8'));

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

function create(object) {
  const objects = existsSync(file('objects.json')) ? read('objects.json') : [];
  write('objects.json', [...objects, object]);
  return object;
}

const named = (kind, name) =>
  read('objects.json').find((each) => each.kind === kind && each.metadata.name === name);

/** Files of a volume, as they would be mounted. */
function mount(volume, at) {
  mkdirSync(at, { recursive: true });
  const { configMap, secret } = volume;
  const source = configMap
    ? named('ConfigMap', configMap.name)
    : secret && named('Secret', secret.secretName);
  if (source === undefined) return;
  const texts = { ...source.data, ...source.stringData };
  const bytes = Object.entries(source.binaryData ?? {}).map(([key, text]) => [
    key,
    Buffer.from(text, 'base64'),
  ]);
  const all = Object.fromEntries([...Object.entries(texts), ...bytes]);
  const items = (configMap ?? secret).items ?? Object.keys(all).map((key) => ({ key, path: key }));
  for (const { key, path: to } of items) {
    mkdirSync(path.dirname(path.join(at, to)), { recursive: true });
    writeFileSync(path.join(at, to), all[key]);
  }
}

/** Starts the container of a pod; paths of the container become paths below a folder of its own. */
function start(template, name, port) {
  const own = file(`pods/${name}`);
  const [container] = template.spec.containers;
  const volumes = new Map(template.spec.volumes.map((volume) => [volume.name, volume]));
  const places = container.volumeMounts.map(({ name: of, mountPath }) => {
    const at = path.join(own, mountPath);
    mount(volumes.get(of), at);
    return [mountPath, at];
  });
  const inside = (text) =>
    places.reduce(
      (said, [from, to]) => (said.startsWith(from) ? said.replace(from, to) : said),
      text,
    );
  const env = { PATH: process.env.PATH, SIGNALR_BENCH_WORK: path.join(own, 'work') };
  for (const { name: key, value, valueFrom } of container.env ?? []) {
    const from = valueFrom?.secretKeyRef;
    env[key] = from ? named('Secret', from.name).stringData[from.key] : (value ?? 'node-1');
  }
  if (env.SIGNALR_BENCH_BUS !== undefined) env.SIGNALR_BENCH_BUS = `nats://127.0.0.1:${port}`;
  let [program, ...args] = [...(container.command ?? []), ...(container.args ?? [])].map(inside);
  if (container.name === 'bus') {
    const config = path.join(own, 'bus/config/bus.conf');
    const text = readFileSync(config, 'utf8')
      .replace(/^port: \d+/, `port: ${port}\nhost: 127.0.0.1`)
      .replace('/bus/data', path.join(own, 'data'));
    writeFileSync(config, text);
    [program, args] = [process.env.NATS_SERVER, ['--config', config]];
  }
  const child = spawn(program, args, { detached: true, stdio: 'ignore', env });
  child.unref();
  return { name, pid: child.pid, labels: template.metadata.labels };
}

async function createAll({ items }) {
  const port = await freePort();
  write('port.json', port);
  for (const object of items) create(object);
  const pods = [];
  for (const { kind, metadata, spec } of items) {
    if (kind !== 'Deployment' && kind !== 'Job') continue;
    const count = kind === 'Job' ? spec.parallelism : spec.replicas;
    for (let at = 0; at < count; at++)
      pods.push(start(spec.template, `${metadata.name}-${at}`, port));
  }
  write('pods.json', pods);
}

if (words[0] === 'create' && words.includes('--validate=false')) {
  const refused = (process.env.FAKE_REFUSED ?? '').split(',');
  for (const { spec } of input().items) {
    const { resource, subresource } = spec.resourceAttributes;
    const name = [resource, subresource].filter((part) => part !== undefined).join('/');
    process.stdout.write(`${!refused.includes(name)}\n`);
  }
} else if (words[0] === 'create' && words.includes('--output')) {
  const uid = randomUUID();
  const object = input();
  create({ ...object, metadata: { ...object.metadata, uid } });
  process.stdout.write(uid);
} else if (words[0] === 'create') await createAll(input());
else if (words[0] === 'rollout') process.stdout.write('successfully rolled out\n');
else if (words[0] === 'config' && words[1] === 'get-contexts')
  process.stdout.write('fake\nother\n');
else if (words[0] === 'config' && words[1] === 'current-context') process.stdout.write('other\n');
else if (words[0] === 'config' && words.at(-1)?.startsWith('jsonpath'))
  process.stdout.write('load');
else if (words[0] === 'config') {
  const contexts = [{ name: 'fake', context: { cluster: 'fake' } }];
  const clusters = [{ name: 'fake', cluster: { server: 'https://fake.example' } }];
  process.stdout.write(JSON.stringify({ 'current-context': 'fake', contexts, clusters }));
} else if (words[0] === 'get' && words[1].startsWith('secret/')) {
  const { stringData } = named('Secret', words[1].slice('secret/'.length));
  process.stdout.write(Buffer.from(stringData.leadPassword).toString('base64'));
} else if (words[0] === 'get' && words[1] === 'nodes')
  process.stdout.write('node-1\t64\t64Gi\t\tTrue\t\t\t\tlinux\n');
else if (words[0] === 'get' && words.includes('name')) {
  const made = existsSync(file('objects.json')) ? read('objects.json') : [];
  const one = words[1].split('/')[1];
  const left = made.filter(({ metadata }) => one === undefined || metadata.name === one);
  for (const { kind, metadata } of left) process.stdout.write(`${kind}/${metadata.name}\n`);
} else if (words[0] === 'get' && words[1] !== 'pods') process.stdout.write('{"items":[]}');
else if (words[0] === 'get') {
  const pods = existsSync(file('pods.json')) ? read('pods.json') : [];
  const items = pods.map(({ name, labels }) => ({
    metadata: { name, labels },
    status: { phase: 'Running' },
  }));
  process.stdout.write(JSON.stringify({ items }));
} else if (words[0] === 'port-forward') {
  process.stdout.write(`Forwarding from 127.0.0.1:${read('port.json')} -> 4222\n`);
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.exit(), 500);
} else if (words[0] === 'delete') {
  for (const { pid } of existsSync(file('pods.json')) ? read('pods.json') : [])
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  rmSync(file('objects.json'), { force: true });
} else {
  process.stderr.write(`error: unknown command ${words.join(' ')}\n`);
  process.exitCode = 1;
}
