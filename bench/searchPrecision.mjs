// How often the interval of a search holds the rate that a hub serves exactly: real runs over loopback against
// `serve hub --capacity`, which has a queue, several at a time.
//   node bench/searchPrecision.mjs [--tries 4] [--first 1] [--seconds 8] [--budget 6m]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values: asked } = parseArgs({
  options: {
    tries: { type: 'string', default: '4' },
    first: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '8' },
    budget: { type: 'string', default: '6m' },
  },
});
const cli = path.resolve('dist', 'cli.js');

/** A rate for each number, spread over 150 to 600 a second. */
const rateOf = (number) => Math.round(150 * 4 ** ((number * 0.61803398875) % 1));

async function search(number) {
  const perSecond = rateOf(number);
  const folder = mkdtempSync(path.join(tmpdir(), 'search-precision-'));
  const serve = [
    'serve',
    'hub',
    '--port',
    '0',
    '--exit-with-stdin',
    '--capacity',
    `${perSecond}/s`,
  ];
  const hub = spawn(process.execPath, [cli, ...serve], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = await once(createInterface({ input: hub.stdout }), 'line');
    const { url } = JSON.parse(line);
    writeFileSync(
      path.join(folder, 's.yaml'),
      `config: { target: '${url}', connections: 20, arrivingRate: 100, baseSending: 20, step: 0, singleStepDuration: ${asked.seconds}s, warmup: 1s }
search: { of: rate, from: 50, to: 2000, budget: ${asked.budget} }
scenario: { name: echo, parameters: { sendingInterval: 1s, messageSize: 100 } }
`,
    );
    const run = spawn(process.execPath, [cli, 'run', 's.yaml', '--json', '--yes'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    run.stdout.on('data', (part) => (text += part));
    await once(run, 'close');
    const { search: found, verdict } = JSON.parse(text);
    const { low, high, ended, steps, elapsedMs } = found;
    const isInside = low !== null && high !== null && low <= perSecond && perSecond <= high;
    const tried = steps.map(
      ({ value, status }) => `${value}${status === 'pass' ? '' : ` ${status}`}`,
    );
    console.log(
      `${perSecond}/s: ${low} to ${high} ${isInside ? 'inside' : 'OUTSIDE'}, ${ended}, ${steps.length} steps, ${Math.round(elapsedMs / 1000)} s; ${tried.join(', ')}${ended === 'found' ? '' : `; ${verdict.reasons[0]?.message}`}`,
    );
    return isInside;
  } finally {
    hub.stdin.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

const numbers = Array.from({ length: Number(asked.tries) }, (_, at) => Number(asked.first) + at);
const inside = (await Promise.all(numbers.map(search))).filter(Boolean);
console.log(`${inside.length} of ${numbers.length} inside`);
