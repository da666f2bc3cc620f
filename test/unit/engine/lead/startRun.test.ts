import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type {
  FromWorker,
  ProcessReport,
  ToWorker,
  WorkerStart,
} from '../../../../src/messages/worker';
import {
  semiSpaceMb,
  startProcesses,
  WorkerProcesses,
  type WorkerProcess,
  startThreads,
  WorkerThreads,
} from '../../../../src/engine/lead/startRun';
import { endpointOf } from '../../../fakes/endpoint';
import { planOf } from '../../../fakes/plan';
import { workerSampleOf } from '../../../fakes/sample';
import { VirtualTime } from '../../../fakes/virtualTime';
import { createMemberMemory } from '../../../../src/engine/prepare/sharedMembers';

const plan = planOf({ agents: 2, oneClock: true }, 2);
const where = { endpoint: endpointOf('http://127.0.0.1:1/'), originUs: 5 };
const starts = [0, 1].map((worker) => ({ plan, worker, ...where }));

/** A child that does nothing by itself. */
class FakeChild extends EventEmitter {
  readonly told: unknown[] = [];
  readonly stderr = new PassThrough();
  readonly exitCode = null;
  readonly signalCode = null;
  readonly pid = 1;

  send(message: unknown): boolean {
    this.told.push(message);
    return true;
  }

  kill(signal: NodeJS.Signals): boolean {
    this.emit('close', null, signal);
    return true;
  }

  report(report: Partial<ProcessReport>): void {
    this.emit('message', { open: 0, cpuUs: 0, ...report });
  }
}

describe('WorkerProcesses', () => {
  let children: FakeChild[];
  let heard: string[];
  let host: WorkerProcesses;

  const listener = {
    fact: (worker: number, { type }: FromWorker) => heard.push(`${worker} ${type}`),
    lost: (worker: number, { message }: Error) => heard.push(`${worker} lost: ${message}`),
  };

  beforeEach(() => {
    children = [];
    heard = [];
    host = new WorkerProcesses(starts, listener, () => {
      children.push(new FakeChild());
      return children.at(-1) as unknown as WorkerProcess;
    });
  });

  it('gives each its part by the pipe, and everyone the orders', () => {
    host.order({ type: 'halt' });
    const told = children.map((child) => child.told);
    assert.deepEqual(
      told,
      starts.map((start) => [start, { type: 'halt' } satisfies ToWorker]),
    );
  });

  it('knows how many connections take part, of those that are there', () => {
    children[0]!.report({ open: 3, fact: { type: 'ready' } });
    children[1]!.report({ open: 4 });
    assert.equal(host.takingPart(), 7);
    assert.deepEqual(heard, ['0 ready']);
    children[1]!.emit('close', 1, null);
    assert.equal(host.takingPart(), 3);
  });

  it('counts the CPU time of all from the border of a step on', () => {
    const border = 1_000_000;
    const sampled = (atUs: number): FromWorker => ({
      type: 'sampled',
      sample: workerSampleOf({ atUs }),
      due: true,
    });
    for (const child of children) child.report({ cpuUs: 100, fact: { type: 'ready' } });
    const usedUs = host.measureCpu(border);
    const before = usedUs();
    // Sampled before the border, and at it.
    children[0]!.report({ cpuUs: 5_000_000, fact: sampled(border - 1) });
    children[0]!.report({ cpuUs: 6_000_000, fact: sampled(border) });
    children[0]!.report({ cpuUs: 8_000_000, fact: { type: 'stepSent', index: 1, atUs: border } });
    const rose = usedUs() - before;
    // That of this process comes on top.
    assert.ok(rose >= 2_000_000 && rose < 5_000_000, `${rose}`);
  });

  it('reports once that one is lost, with what it wrote at its end', () => {
    const [first, second] = children;
    first!.stderr.emit('data', Buffer.from('at x.js:1\nTypeError: a defect\n    at y\n'));
    first!.emit('close', 1, null);
    first!.emit('error', new Error('its pipe is gone'));
    second!.kill('SIGKILL');
    assert.deepEqual(heard, [
      '0 lost: the process of worker 0 ended by itself with code 1: TypeError: a defect',
      '1 lost: the process of worker 1 ended by itself with signal SIGKILL',
    ]);
    assert.equal(host.alive.size, 0);
    first!.report({ fact: { type: 'ready' } });
    assert.equal(heard.length, 2);
  });

  it('gives up one of which nothing came for 30 s, from connecting on, and ends it', async () => {
    const time = new VirtualTime().install();
    try {
      const signals: string[] = [];
      const frozen = new FakeChild();
      frozen.kill = (signal) => signals.push(signal) > 0;
      const pair = [new FakeChild(), frozen];
      const waiting = [...pair];
      const silent = new WorkerProcesses(
        starts,
        listener,
        () => waiting.shift() as unknown as WorkerProcess,
      );
      setInterval(() => pair[0]!.report({}), 1000);
      await time.to(100_000);
      silent.order({ type: 'connect', atUs: 0, from: 0, to: 1 });
      await time.to(130_500);
      assert.deepEqual([heard, signals], [[], []]);
      await time.to(131_500);
      const why = 'it reports each second, and nothing came for 30 s';
      assert.deepEqual(heard, [`1 lost: the process of worker 1 was silent for too long: ${why}`]);
      assert.deepEqual(signals, ['SIGKILL']);
    } finally {
      time.restore();
    }
  });

  it('does not call one lost that said it was closed, or that it ends', async () => {
    children[0]!.report({ fact: { type: 'closed' } });
    children[0]!.emit('close', 0, null);
    await host.end();
    assert.deepEqual(heard, ['0 closed']);
  });
});

describe('A process of a worker', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'signalr-bench-'))));
  after(() => rm(folder, { recursive: true }));

  /** What the script, which calls it `said`, tells of itself. */
  async function ask(script: string): Promise<string> {
    const path = join(folder, 'worker.cjs');
    await writeFile(path, script);
    let end = (): Promise<void> => Promise.resolve();
    try {
      return await new Promise((resolve) => {
        const host = startProcesses(
          planOf(),
          where,
          path,
        )({
          fact: (_worker, fact) => resolve(JSON.stringify(fact)),
          lost: (_worker, error) => resolve(`lost: ${error.message}`),
        });
        end = () => host.end();
      });
    } finally {
      await end();
    }
  }

  const report = (said: string): string =>
    `process.once('message', (start) => process.send({ fact: { said: ${said} }, open: 0, cpuUs: 0 }));`;

  it('has nothing of its environment or its arguments that could be a secret', async () => {
    process.env['SIGNALR_BENCH_SECRET_PLANTED'] = 'planted';
    try {
      const said = await ask(report('[process.env, process.argv, process.execArgv, start.worker]'));
      assert.ok(!said.includes('planted'));
      const [env, args, flags, worker] = (JSON.parse(said) as { said: unknown[] }).said;
      assert.ok(Object.keys(env as object).length > 0 && (args as unknown[]).length === 2);
      assert.deepEqual([flags, worker], [[`--max-semi-space-size=${semiSpaceMb}`], 0]);
    } finally {
      delete process.env['SIGNALR_BENCH_SECRET_PLANTED'];
    }
  });

  it('is lost with the error that ended it', async () => {
    assert.match(await ask('throw new RangeError("no room")'), /with code 1: RangeError: no room$/);
    assert.match(await ask('process.exit(3)'), /^lost: the process of worker 0 .* with code 3$/);
  });
});

const threadPlan = planOf({}, 2);
const threadStarts = [0, 1].map((worker): WorkerStart => ({
  plan: threadPlan,
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
        threadStarts,
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
