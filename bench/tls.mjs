// What one echo costs over `wss`, beside a client in C with OpenSSL. Method: bench/README.md. Judges nothing.
//
//   node bench/tls.mjs [--connections 200,2000] [--rounds 2] [--seconds 1.5]
import { parseArgs } from 'node:util';
import { prepareFloor } from './floor.mjs';
import { measure, median, startHub } from './processes.mjs';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '200,2000' },
    rounds: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '1.5' },
  },
});
const { files, problem } = prepareFloor(true);
if (problem !== undefined) {
  console.log(`Without TLS: ${problem}`);
  process.exit(0);
}
const peer = await startHub('node', files);
try {
  for (const connections of values.connections.split(',').map(Number)) {
    const cpu = { engine: [], floor: [] };
    for (let round = 0; round < Number(values.rounds); round++)
      for (const client of Object.keys(cpu)) {
        const one = await measure(client, 'WebSockets', peer.url, connections, values.seconds);
        cpu[client].push(one.cpuUs);
      }
    const [ours, floor] = [median(cpu.engine), median(cpu.floor)];
    console.log(
      `2 KB echo over TLS at ${connections} connections: ${ours.toFixed(1)} us of CPU, ${floor.toFixed(1)} us in C with OpenSSL, ${(ours / floor).toFixed(2)}x.`,
    );
  }
} finally {
  peer.stop();
}
