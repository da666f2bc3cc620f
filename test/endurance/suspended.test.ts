import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { seededRandom } from '../../src/base/random';
import { startFaultProxy } from '../fakes/faultProxy';
import type { CliProcess } from '../fakes/loadCli';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { withFolder } from '../load/cliFolder';
import { needsLinux } from '../fakes/skipAloud';

const suspendedMs = 1600;
const reason =
  /⚠ invalid; step 1: the load generator did not run for (\d\.\d+|\d+) s: its process was suspended, or the machine slept/;

/** Process ids of the workers of a run. */
function workersOf({ child }: CliProcess): number[] {
  const { pid } = child;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return children.map(Number);
}

describe('a generator that is suspended', function () {
  let hub: HubHere;

  before(async function () {
    hub = await startHubHere();
    needsLinux(this, 'the list of child processes in /proc');
  });
  after(() => hub.dispose());
  const test = sideBySide();

  test(
    'is not a target that was lost, where all connections end meanwhile',
    withFolder(async (folder) => {
      const { port } = new URL(hub.url);
      const proxy = await startFaultProxy(Number(port), {}, seededRandom(1), 'RecordLatency');
      const target = hub.url.replace(port, String(proxy.port));
      const config = { singleStepDuration: '10s', warmup: '100ms' };
      const file = folder.scenario('cut.yaml', { target, config });
      const going = folder.start(['run', file, '--out', 'out']);
      await folder.sampled('out', /"phase":"measuring"/, going.finished);
      process.kill(going.child.pid!, 'SIGSTOP');
      await setTimeout(suspendedMs);
      proxy.dispose();
      process.kill(going.child.pid!, 'SIGCONT');
      const { code, stdout } = await going.finished;
      const said = stdout.replace(/\s+/g, ' ');
      assert.match(said, reason);
      assert.match(said, /All 20 connections were lost.*; it ended the step after/);
      assert.equal(code, 4);
      const [step] = folder.result('out').steps;
      assert.equal(step!.expected, step!.received + step!.lost);
    }),
  );

  const ways = [
    ['with its threads', [], ({ child }: CliProcess) => child.pid!],
    ['a worker of its own process', ['--processes', '2'], (run: CliProcess) => workersOf(run)[1]!],
    ['the lead of processes', ['--processes', '2'], ({ child }: CliProcess) => child.pid!],
  ] as const;
  for (const [who, flags, pidOf] of ways)
    test(
      `makes its step invalid, and says so: ${who}`,
      withFolder(async (folder) => {
        const config = { singleStepDuration: '4s', warmup: '100ms' };
        const file = folder.scenario('suspended.yaml', { target: hub.url, config });
        const going = folder.start(['run', file, '--out', 'out', ...flags]);
        await folder.sampled('out', /"phase":"measuring"/, going.finished);
        const pid = pidOf(going);
        process.kill(pid, 'SIGSTOP');
        await setTimeout(suspendedMs);
        process.kill(pid, 'SIGCONT');
        const { code, stdout } = await going.finished;
        const [, seconds] = reason.exec(stdout.replace(/\s+/g, ' ')) ?? [];
        assert.ok(Number(seconds) >= 1.4, stdout);
        assert.equal(code, 4);
        const { steps, verdict } = folder.result('out');
        assert.equal(verdict.status, 'invalid');
        const [step] = steps;
        assert.equal(step!.generator.cause, 'suspended');
        assert.equal(step!.expected, step!.received + step!.lost);
        assert.equal(step!.received, step!.sent);
      }),
    );
});
