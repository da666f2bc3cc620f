import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import {
  assertConsistent,
  assertExact,
  assertUndisturbed,
  loadRun,
  onlyStep,
  type LoadTest,
} from './loadRun';
import { needsLinux } from '../fakes/skipAloud';

const perSender = 10;

/** Processes of workers that this one has started. */
async function workerProcesses(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
    const parent = /^PPid:\s+(\d+)/m.exec(await read('status'))?.[1];
    if (Number(parent) === process.pid && (await read('cmdline')).includes('worker.js'))
      found.push(Number(name));
  }
  return found;
}

describe('workers in processes of their own', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  const run = (test: Omit<LoadTest, 'target'>) =>
    loadRun({ target: hub.url, processes: 2, ...test });

  it('count exactly what goes to senders, to everyone and to groups of both', async () => {
    const done = await run({
      entries: [
        { name: 'echo', senders: 7 },
        { name: 'broadcast', senders: 3 },
        { name: 'sendToGroup', senders: 4, parameters: { groupCount: 2 } },
      ],
    });
    assertUndisturbed(done);
    assert.equal(done.machine.workers, 2);
    assert.equal(done.agents, undefined);
    const [echo, broadcast, groups] = onlyStep(done).entries ?? [];
    assertExact(echo!, 7 * perSender, 7 * perSender);
    assertExact(broadcast!, 3 * perSender, 3 * perSender * 20);
    assertExact(groups!, 4 * perSender, 4 * perSender * 10);
    const step = onlyStep(done);
    assert.equal(step.ambiguous, undefined);
    assert.equal(step.clockErrorUs, undefined);
    assert.ok(step.generator.cpuUsPerMessage > 0);
  });

  it('end the run with what was measured when one is killed', async function () {
    needsLinux(this, 'the list of child processes in /proc');
    const done = await run({
      config: { singleStepDuration: '30s', warmup: 0 },
      during: (going) => {
        let waits = true;
        going.onSnapshot(({ step }) => {
          if (!waits || (step?.received ?? 0) < 50) return;
          waits = false;
          void workerProcesses().then(([pid]) => process.kill(pid!, 'SIGKILL'));
        });
      },
    });
    assert.equal(done.ending, 'workerLost');
    assert.match(done.endingMessage ?? '', /worker \d ended by itself with signal SIGKILL/);
    assert.equal(done.verdict.status, 'incomplete');
    const step = onlyStep(done);
    assert.ok(step.received >= 50, `${step.received} received`);
    assertConsistent(done);
    assert.deepEqual(await workerProcesses(), []);
  });
});
