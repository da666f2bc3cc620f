import assert from 'node:assert/strict';
import type { Result } from '../../src/results/result';
import type { CliResult } from '../fakes/loadCli';
import { withHubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { CliFolder } from './cliFolder';

/** What the hub delivers in a second; what would wait longer than 300 ms is dropped. */
const capacity = 100;
const limited = `--capacity ${capacity}/s@300ms`;

/** A value is tried again where a busy machine made its step invalid. */
const withoutRepeats = (tries: readonly (readonly unknown[])[]) =>
  tries.filter((one, at) => at === 0 || String(one) !== String(tries[at - 1]));

describe('signalr-bench run --search', function () {
  const folders: CliFolder[] = [];
  after(() => folders.forEach((folder) => folder.dispose()));
  const itBeside = sideBySide();

  /** Only what is lost decides: how fast the machine is just now has no say. */
  const search = async (url: string, ...flags: string[]): Promise<CliResult> => {
    const folder = new CliFolder();
    folders.push(folder);
    folder.scenario('search.yaml', {
      target: url,
      config: { singleStepDuration: '2s', warmup: '500ms', drain: '1s', connections: 20 },
      parameters: { sendingInterval: '1s' },
      slo: { p99: '30s', delivered: '99%' },
    });
    return folder.run(['run', 'search.yaml', '--json', ...flags]);
  };

  itBeside('finds the rate that the hub delivers', () =>
    withHubHere(limited, async ({ url }) => {
      const done = await search(
        url,
        ...['--search', 'rate', '--precision', '30%', '--budget', '90s'],
        ...['--set', 'search.from=80', '--set', 'search.to=160'],
      );
      const {
        search: found,
        steps,
        connections,
        recommendation,
      } = JSON.parse(done.stdout) as Result;
      assert.ok(found, done.stderr);
      // A busy machine may spend the time on steps that say too little, or that it makes invalid.
      const isFound = found.ended === 'found';
      assert.equal(found.ended, isFound ? 'found' : 'budget', done.stderr);
      if (isFound) assert.equal(done.code, 0, done.stderr);
      assert.ok((found.low ?? 0) <= 1.2 * capacity, `${found.low} held`);
      assert.ok((found.high ?? Infinity) >= 0.9 * capacity, `${found.high} did not`);
      assert.equal(found.steps.length, steps.length);
      assert.equal(connections.connected, 20);
      if (isFound) assert.equal(recommendation?.stepStatus, 'pass');
      for (const step of steps) assert.equal(step.expected, step.received + step.lost);
    }),
  );

  itBeside('opens and closes connections between steps', () =>
    withHubHere('', async ({ url }) => {
      const done = await search(
        url,
        ...['--search', 'connections', '--budget', '5m'],
        ...['--set', 'search.from=5', '--set', 'search.to=20', '--precision', '100%'],
        ...['--set', 'config.singleStepDuration=500ms', '--set', 'config.warmup=100ms'],
      );
      assert.equal(done.code, 0, done.stderr);
      const { search: found, steps } = JSON.parse(done.stdout) as Result;
      assert.equal(found?.ended, 'allHeld');
      assert.deepEqual(
        withoutRepeats(steps.map(({ senders, connections }) => [senders, connections?.open])),
        [
          [5, 5],
          [10, 10],
          [20, 20],
        ],
      );
    }),
  );
});
