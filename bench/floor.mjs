// The floor of the bench: clients in C that do the same work, built with the compiler of the system.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { root } from '../scripts/nodeProgram.mjs';

const folder = path.join(root, 'out', 'bench');

/** Builds a program of `bench/floor`; says in a sentence why there is none. */
function build(source, name, more = []) {
  if (process.platform !== 'linux') return 'the floor needs epoll, so Linux.';
  mkdirSync(folder, { recursive: true });
  const from = path.join(root, 'bench', 'floor', source);
  const built = spawnSync('cc', ['-O2', '-o', path.join(folder, name), from, ...more], {
    encoding: 'utf8',
  });
  if (built.error !== undefined) return `there is no C compiler (${built.error.code}).`;
  return built.status === 0 ? undefined : `the compiler refused it: ${built.stderr.trim()}`;
}

export const buildFloor = () => build('client.c', 'floorClient');
/** The same client over TLS, where the headers of OpenSSL are. */
export const buildTlsFloor = () =>
  build('client.c', 'floorTlsClient', ['-DWITH_TLS', '-lssl', '-lcrypto']);

/** Files of a key and of a certificate for 127.0.0.1 that nobody signed; says in a sentence why there are none. */
export function makeCertificate() {
  mkdirSync(folder, { recursive: true });
  const files = ['key.pem', 'certificate.pem'].map((name) => path.join(folder, name));
  const words = [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', files[0], '-out', files[1], '-subj', '/CN=127.0.0.1', '-days', '2'],
  ];
  return spawnSync('openssl', words).status === 0
    ? { files }
    : { problem: 'there is no `openssl` that makes a certificate.' };
}

/** The client in C, over TLS with the files of a key and a certificate for the hub; or a sentence why there is none. */
export function prepareFloor(isTls) {
  if (!isTls) return { files: [], problem: buildFloor() };
  const { files = [], problem = buildTlsFloor() } = makeCertificate();
  return { files, problem };
}

export const buildPeer = () => build('peer.c', 'peer');

/** The hub in C, in so many processes: its URL, the ids of its processes, and how to stop it. */
export async function startFloorPeer(processes) {
  const peer = spawn(path.join(folder, 'peer'), [String(processes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(peer.stdout, 'data');
  return { ...JSON.parse(String(line)), stop: () => peer.stdin.end() };
}

/** Command line of one measurement; `mode` is json, messagepack or broadcast. */
export function floorCommand(mode, url, connections, seconds) {
  const { port, protocol } = new URL(url);
  const name = protocol === 'https:' ? 'floorTlsClient' : 'floorClient';
  return [path.join(folder, name), [port, connections, seconds, mode].map(String)];
}
