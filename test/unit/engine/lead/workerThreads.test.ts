import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FromWorker, WorkerStart } from '../../../../src/messages/worker';
import { createMemberMemory } from '../../../../src/engine/prepare/sharedMembers';
import { startThreads, WorkerThreads } from '../../../../src/engine/lead/startRun';
import { endpointOf } from '../../../fakes/endpoint';
import { planOf } from '../../../fakes/plan';

const plan = planOf({}, 2);
const starts = [0, 1].map((worker): WorkerStart => ({
  plan,
  worker,
  endpoint: endpointOf('http://127.0.0.1:1/'),
  originUs: 0,
}));

const head = `const { parentPort, workerData } = require('node:worker_threads');\n`;

describe('WorkerThreads', () => {
  let folder: string;
  let pool: WorkerThreads | undefined;

  before(async () => (folder = await mkdtemp(join(tmpdir(), 'signalr-bench-'))));
  after(() => rm(folder, { recursive: true }));
  afterEach(() => pool?.end());

  /** Two workers that run the script; everything they report, in order. */
  async function poolOf(
    script: string,
    enough: (reported: readonly string[]) => boolean,
  ): Promise<string[]> {
    const path = join(folder, 'worker.cjs');
    await writeFile(path, head + script);
    const reported: string[] = [];
    await new Promise<void>((resolve) => {
      const report = (text: string): void => {
        reported.push(text);
        if (enough(reported)) resolve();
      };
      pool = new WorkerThreads(
        path,
        starts,
        { memory: createMemberMemory(10, 1) },
        {
          fact: (worker, fact: FromWorker) => report(`${worker} ${fact.type}`),
          lost: (worker, error) => report(`${worker} lost: ${error.message}`),
        },
      );
      pool.order({ type: 'flush', flush: 1 });
    });
    return reported;
  }
  /** Long enough for anything that would be reported twice. */
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
  const both = (reported: readonly string[]): boolean => reported.length >= 2;

  it('gives each worker its part and everyone the orders', async () => {
    const script = `parentPort.on('message', (order) => {
      if (order.flush === 1) parentPort.postMessage({ type: workerData.worker === 0 ? 'ready' : 'connected' });
    });`;
    const reported = await poolOf(script, both);
    assert.deepEqual(reported.sort(), ['0 ready', '1 connected']);
    assert.deepEqual([...pool!.alive], [0, 1]);
  });

  it('numbers the workers of an agent as the plan does, and steers their clock itself', async () => {
    const path = join(folder, 'agent.cjs');
    const script = `parentPort.on('message', (order) => {
      const offset = new Float64Array(workerData.clock, 8)[3];
      if (order.type === 'flush') parentPort.postMessage({ type: 'ready', worker: workerData.worker, offset });
      else parentPort.postMessage({ type: 'prepared' });
    });`;
    await writeFile(path, head + script);
    const shared = planOf({ agents: 3 }, 6);
    const where = { endpoint: endpointOf('http://127.0.0.1:1/'), originUs: 0 };
    const reported: [number, FromWorker][] = [];
    await new Promise<void>((resolve) => {
      const start = startThreads(shared, where, path, 1);
      pool = start({
        fact: (worker, fact) => reported.push([worker, fact]) === 2 && resolve(),
        lost: (_worker, error) => assert.fail(error),
      });
      assert.deepEqual([...pool.alive], [2, 3]);
      pool.order({ type: 'clock', offsetUs: 250 });
      pool.order({ type: 'flush', flush: 1 });
    });
    // Half a second for 250 us, and no order that a worker has seen.
    const said = (worker: number): unknown => ({ type: 'ready', worker, offset: 0.0005 });
    assert.deepEqual(
      reported.sort(([a], [b]) => a - b),
      [
        [2, said(2)],
        [3, said(3)],
      ],
    );
  });

  const endings: readonly (readonly [string, string, RegExp])[] = [
    ['exits', 'process.exit(3)', /^[01] lost: worker [01] ended by itself with code 3$/],
    ['throws', 'throw new TypeError("a defect")', /^[01] lost: a defect$/],
    ['throws something that is no error', 'throw "a text"', /^[01] lost: a text$/],
    ['rejects', 'Promise.reject(new Error("later"))', /^[01] lost: later$/],
  ];
  for (const [name, script, message] of endings) {
    it(`reports once that a worker is lost which ${name}`, async () => {
      const reported = await poolOf(script, both);
      await settle();
      assert.equal(reported.length, 2);
      for (const text of reported) assert.match(text, message);
      assert.equal(pool!.alive.size, 0);
      pool!.order({ type: 'halt' });
    });
  }

  it('does not call a worker lost that said it was closed', async () => {
    const reported = await poolOf(`parentPort.postMessage({ type: 'closed' })`, both);
    await settle();
    assert.deepEqual(reported.sort(), ['0 closed', '1 closed']);
    assert.equal(pool!.alive.size, 0);
  });

  it('ends threads that are busy, and does not call them lost', async () => {
    const script = `parentPort.postMessage({ type: 'ready' }); for (;;);`;
    const reported = await poolOf(script, both);
    await pool!.end();
    await settle();
    assert.deepEqual(reported.sort(), ['0 ready', '1 ready']);
    await pool!.end();
  });
});
