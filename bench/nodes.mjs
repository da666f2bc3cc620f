// What one echo costs the engine with several versions of Node, beside the client in C, in turns on one machine. Each
// argument is a program of Node; the one that runs this is always among them. `--hub c`: against the hub in C, which answers
// faster than that of the bench. Method: bench/README.md. Judges nothing.
//
//   node bench/nodes.mjs [--connections 200,2000] [--rounds 2] [--seconds 1.2] [--tls] [--hub c] NODE…
import { parseArgs } from 'node:util';
import { prepareFloor } from './floor.mjs';
import { flagsOf, measure, median, output, startHub } from './processes.mjs';

const { values, positionals: nodes } = parseArgs({
  allowPositionals: true,
  options: {
    connections: { type: 'string', default: '200,2000' },
    rounds: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '1.2' },
    tls: { type: 'boolean', default: false },
    hub: { type: 'string', default: 'node' },
  },
});
const { files, problem } = prepareFloor(values.tls);
if (problem !== undefined) {
  console.log(`Without the client in C: ${problem}`);
  process.exit(0);
}
const programs = [process.execPath, ...nodes];

async function engine(program, url, connections) {
  const words = [...flagsOf('engine'), '--expose-gc', 'bench/measure.mjs'];
  words.push('engine', 'WebSockets', url);
  const text = await output(program, [...words, connections, values.seconds].map(String), program);
  return JSON.parse(text).cpuUs;
}

const peer = await startHub(values.hub, files);
try {
  for (const connections of values.connections.split(',').map(Number)) {
    const floor = [];
    const cpu = new Map(programs.map((program) => [program, []]));
    for (let round = 0; round < Number(values.rounds); round++) {
      floor.push((await measure('floor', '', peer.url, connections, values.seconds)).cpuUs);
      for (const program of programs)
        cpu.get(program).push(await engine(program, peer.url, connections));
    }
    const floorUs = median(floor);
    console.log(
      `${connections} connections${values.tls ? ' over TLS' : ''}: ${floorUs.toFixed(1)} us of CPU in C`,
    );
    for (const [program, each] of cpu) {
      const us = median(each);
      const version = (await output(program, ['--version'], program)).trim();
      console.log(`${version.padStart(12)}: ${us.toFixed(1)} us, ${(us / floorUs).toFixed(2)}x`);
    }
  }
} finally {
  peer.stop();
}
