import assert from 'node:assert/strict';
import path from 'node:path';
import { parseSample } from '../../src/results/readResult';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { withFolder } from '../load/cliFolder';
import { assertExact } from '../load/loadRun';

/** From the start of the command line: by then the step goes on. */
const stepsAfterMs = [1500, 2300] as const;
const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** Loaded before everything else by each process and thread: their system time goes forward by an hour, then back by a day. */
const steppedDate = (fromMs: number, log: string): string => `
const { appendFileSync } = require('node:fs');
const real = Date.now;
const Real = Date;
const [first, second] = ${JSON.stringify(stepsAfterMs.map((ms) => fromMs + ms))};
const now = () => {
  const ms = real();
  return ms + (ms < first ? 0 : ms < second ? ${hourMs} : ${-dayMs});
};
globalThis.Date = class Date extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given));
  }
  static now() {
    return now();
  }
};
setTimeout(() => {
  const by = Math.round((Date.now() - real()) / ${dayMs});
  appendFileSync(${JSON.stringify(log)}, String(by) + '\\n');
}, Math.max(0, second + 50 - real())).unref();
`;

describe('a system time that is stepped', function () {
  let hub: HubHere;

  before(async () => (hub = await startHubHere()));
  after(() => hub.dispose());
  const test = sideBySide();

  const ways = [
    ['processes', ['--processes', '2'], 'Websockets', 3],
    ['threads over long polling', ['--workers', '1'], 'LongPolling', 2],
  ] as const;
  for (const [who, flags, transport, clocks] of ways)
    test(
      `changes nothing of a run on ${who}`,
      withFolder(async (folder) => {
        const log = path.join(folder.path, 'clocks.txt');
        folder.write('stepped.cjs', steppedDate(Date.now(), log));
        const config = {
          ...{ transport, skipNegotiation: transport === 'Websockets' },
          ...{ singleStepDuration: '3s', warmup: '100ms' },
        };
        const parameters = { sendingInterval: '100ms' };
        const test = { target: hub.url, config, parameters, slo: { p99: '30s' } };
        const file = folder.scenario('stepped.yaml', test);
        const startedMs = Date.now();
        const going = folder.start(['run', file, '--out', 'out', ...flags], {
          NODE_OPTIONS: `--require ${path.join(folder.path, 'stepped.cjs')}`,
        });
        const { code, stderr } = await going.finished;
        const tookMs = Date.now() - startedMs;
        // 4: a busy machine makes the step invalid, whatever its clock does.
        assert.ok(code === 0 || code === 4, stderr);
        // Each of them had the day stepped back.
        assert.deepEqual(folder.read('clocks.txt').trim().split('\n'), Array(clocks).fill('-1'));
        const result = folder.result('out');
        const [step] = result.steps;
        assertExact(step!, 600, 600);
        assert.deepEqual(result.errors, {});
        assert.equal(step!.seconds, 3);
        assert.ok(step!.latencyUs.max < 30_000_000, `${step!.latencyUs.max} µs`);
        const lastedMs = Date.parse(result.endedAt) - Date.parse(result.startedAt);
        assert.ok(lastedMs > 3000 && lastedMs <= tookMs, `${lastedMs} of ${tookMs} ms`);
        const lines = folder.read('out', result.id, 'samples.jsonl').trimEnd().split('\n');
        const times = lines.map((line) => parseSample(line)!.atMs);
        assert.deepEqual(
          times,
          [...times].sort((a, b) => a - b),
        );
        assert.ok(times.at(-1)! <= tookMs);
      }),
    );
});
