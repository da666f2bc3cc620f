// Where the CPU of an echo, or of a delivery of a broadcast, goes: `perf record` of a client in steady state, its samples
// by the part of the process that they fell into. Linux with perf and a C compiler. Method: bench/README.md, *Profiles*.
// Judges nothing.
//
//   node bench/profile.mjs [--clients engine,floor] [--connections 200,2000] [--hub c] [--tls] [--seconds 4] [--top 0]
//
// Clients as in `npm run bench`; broadcast and broadcast/messagepack against the bench's own hub alone.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { floorCommand, prepareFloor } from './floor.mjs';
import { flagsOf, startHub } from './processes.mjs';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: 'engine,floor' },
    connections: { type: 'string', default: '200,2000' },
    hub: { type: 'string', default: 'node' },
    tls: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '4' },
    top: { type: 'string', default: '0' },
  },
});
/** Until connections stand and what runs often is compiled: opening and the warm-up of `measure.mjs`, or of the client in C. */
const delayMs = { node: 4500, floor: 3500 };

/** Which part of a process a sample fell into, by its object and symbol; the first that fits. */
const parts = [
  ['kernel', (object) => object.startsWith('[kernel') || object.startsWith('[vdso')],
  ['JavaScript', (object) => object.startsWith('perf-') || object.startsWith('[JIT')],
  [
    'OpenSSL',
    (object, symbol) =>
      /lib(ssl|crypto)/.test(object) ||
      /^(aes|gcm|_?gcm|ghash|EVP|evp|SSL|ssl|tls|BIO|bio|CRYPTO|OPENSSL|ossl|cipher|ktls|WPACKET|PACKET)/.test(
        symbol,
      ),
  ],
  ['V8', (_object, symbol) => /^(v8::|Builtins_|non-virtual thunk to v8)/.test(symbol)],
  ['Node, libuv, C library', () => true],
];

function run(program, words) {
  const done = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (done.error !== undefined || done.status !== 0)
    throw new Error(`${program}: ${done.error?.message ?? done.stderr}`);
  return done.stdout;
}

/** @returns the CPU of one round trip, and its samples by part */
function profile(client, url, connections, folder) {
  const file = path.join(folder, 'perf.data');
  const [name, mode = 'json'] = client.split('/');
  const isFloor = name === 'floor';
  const [program, words] = isFloor
    ? floorCommand(mode, url, connections, values.seconds)
    : [
        process.execPath,
        [
          ...flagsOf(name),
          ...['--perf-basic-prof-only-functions', '--expose-gc', 'bench/measure.mjs'],
          ...[client, 'WebSockets', url, String(connections), values.seconds],
        ],
      ];
  const delay = String(isFloor ? delayMs.floor : delayMs.node);
  const recorded = ['record', '-q', '-F', '997', '--delay', delay, '-o', file, '--', program];
  const printed = run('perf', [...recorded, ...words]);
  const { cpuUs } = JSON.parse(printed.slice(printed.indexOf('{')).split('\n')[0]);
  const report = ['report', '-i', file, '--no-children', '--sort', 'dso,symbol', '-g', 'none'];
  const rows = run('perf', [...report, '-t', ';', '--stdio'])
    .split('\n')
    .map((line) => /^\s*([\d.]+)%\s*;([^;]+);\[.\] ([^;]+)/.exec(line))
    .filter((row) => row !== null)
    .map(([, share, object, symbol]) => ({
      share: Number(share) / 100,
      object: object.trim(),
      symbol: symbol.trim(),
    }));
  return { cpuUs, rows };
}

const partOf = ({ object, symbol }) => parts.find(([, fits]) => fits(object, symbol))[0];

const { files, problem } = prepareFloor(values.tls);
if (problem !== undefined || spawnSync('perf', ['--version']).status !== 0) {
  console.log(`This needs perf and the client in C: ${problem ?? 'there is no `perf`.'}`);
  process.exit(0);
}
const peer = await startHub(values.hub, files);
const folder = mkdtempSync(path.join(tmpdir(), 'bench-profile-'));
try {
  console.log(
    `us of CPU by part, hub ${values.hub === 'c' ? 'in C' : 'of the bench'}, Node ${process.version}`,
  );
  for (const connections of values.connections.split(',').map(Number))
    for (const client of values.clients.split(',')) {
      const { cpuUs, rows } = profile(client, peer.url, connections, folder);
      const cells = parts.map(([part]) => {
        const share = rows
          .filter((row) => partOf(row) === part)
          .reduce((sum, row) => sum + row.share, 0);
        return `${part} ${(share * cpuUs).toFixed(2)}`;
      });
      console.log(
        `${client}, ${connections} connections: ${cpuUs.toFixed(1)} us; ${cells.join(', ')}`,
      );
      for (const row of rows.slice(0, Number(values.top)))
        console.log(
          `${(row.share * cpuUs).toFixed(2).padStart(10)}  ${partOf(row)}: ${row.symbol}`,
        );
    }
} finally {
  peer.stop();
  rmSync(folder, { recursive: true });
}
