// Many seeded cases of what tests try a few of in each run (test/endurance):
//
//   npm run chaos -- [--cases 100] [--seed 1]          runs through a link with several faults at once
//   npm run chaos -- --alone [--seed 1]                each fault alone, over every transport and in every protocol
//   npm run chaos -- --kill [--cases 200] [--seed 1]   server, worker process or command line killed at a random moment
//   npm run chaos -- --host [--cases 10] [--seed 1]    the extension host of a real VS Code killed at a random moment
//
// Case k has the seed s + k: `--cases 1 --seed N` repeats one, `--seed N` goes on from there. Exit code 1 when one failed.
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './nodeProgram.mjs';
import { prepare } from './preparations.mjs';

const { values } = parseArgs({
  options: {
    cases: { type: 'string' },
    seed: { type: 'string', default: '1' },
    alone: { type: 'boolean', default: false },
    kill: { type: 'boolean', default: false },
    host: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: '4' },
  },
});
const seed = Number(values.seed);
const count = Number(values.cases ?? (values.host ? 10 : values.kill ? 200 : 100));

for (const name of ['compiled', 'bundles', ...(values.host ? ['vscodeHost'] : [])])
  if ((await prepare(name)) !== 'ready') process.exit(1);
const built = createRequire(import.meta.url);
const { hostCase, killCase, killHost, killTitle, runKillCase } = built(
  '../out/test/endurance/killCases.js',
);
const { randomCase, runChaosCase, singleCases } = built('../out/test/endurance/chaosCases.js');

const seeds = Array.from({ length: count }, (_, at) => seed + at);
const how = values.host ? killHost(path.join(root, 'scripts', 'codeShim.mjs')) : undefined;
const cases =
  values.kill || values.host
    ? seeds.map(values.host ? hostCase : killCase).map((each) => ({
        ...{ seed: each.seed, title: killTitle(each) },
        run: () => runKillCase(each, how),
      }))
    : (values.alone ? singleCases(seed) : seeds.map(randomCase)).map((each) => ({
        ...{ seed: each.seed, title: each.title },
        run: () => runChaosCase(each),
      }));

const begunMs = performance.now();
const failed = [];
const waiting = [...cases];
const outcomes = new Map();

async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    try {
      const outcome = await next.run();
      console.log(`seed ${next.seed}: ${next.title}: ${outcome}`);
      const kind = outcome.split(',')[0].replace(/\d+ samples/, 'samples');
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
    } catch (error) {
      failed.push(next.seed);
      console.log(`seed ${next.seed}: ${next.title}: FAILED: ${error.message}`);
    }
  }
}
await Promise.all(Array.from({ length: Number(values['at-once']) }, work));

for (const [kind, times] of [...outcomes].sort((a, b) => b[1] - a[1]))
  console.log(`${times} × ${kind}`);
const seconds = Math.round((performance.now() - begunMs) / 1000);
console.log(`${cases.length - failed.length} of ${cases.length} cases passed in ${seconds} s`);
if (failed.length > 0) console.log(`failed: ${failed.map((each) => `--seed ${each}`).join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);
