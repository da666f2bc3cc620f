// `npm start`: from a fresh clone to a first result without any configuration. Further arguments go to
// `signalr-bench run`, for example `npm start -- --target http://localhost:5050/signalrbench`.
import { exitCode, runNode, startNode } from './nodeProgram.mjs';

// The echo example, shortened to about 20 seconds: two steps of 250 and 500 senders.
const run = [
  ['--target', 'local'],
  ['--set', 'config.connections=500'],
  ['--set', 'config.arrivingRate=500'],
  ['--set', 'config.baseSending=250'],
  ['--set', 'config.step=250'],
  ['--set', 'config.singleStepDuration=5s'],
  ['--set', 'config.warmup=1s'],
];

async function start() {
  for (const script of ['scripts/setup.mjs', 'scripts/build.mjs']) {
    const code = await runNode([script]);
    if (code !== 0) return code;
  }
  const child = startNode([
    'dist/cli.js',
    'run',
    'examples/echo.yaml',
    ...run.flat(),
    ...process.argv.slice(2),
  ]);
  // Ctrl+C reaches the run by itself, which ends in order and writes its result: wait for that. SIGTERM
  // reaches only this process and is passed on.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return exitCode(child);
}

process.exitCode = await start();
