import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { FromWorker, ProcessReport, ToWorker } from '../../../../src/messages/worker';
import {
  semiSpaceMb,
  startProcesses,
  WorkerProcesses,
  type WorkerProcess,
} from '../../../../src/engine/lead/workerProcesses';
import { noConnections } from '../../../../src/measure/sample';
import { endpointOf } from '../../../fakes/endpoint';
import { conductorOf } from '../../../fakes/workers';
import { planOf, shortStep } from '../../../fakes/plan';
import { workerSampleOf } from '../../../fakes/sample';
import { VirtualTime } from '../../../fakes/virtualTime';

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

  it('does not call one lost that said it was closed, or that it ends', async () => {
    children[0]!.report({ fact: { type: 'closed' } });
    children[0]!.emit('close', 0, null);
    await host.end();
    assert.deepEqual(heard, ['0 closed']);
  });
});

describe('A process that goes silent', () => {
  const connections = { soFar: { ...noConnections, connected: 10 } };
  let time: VirtualTime;
  beforeEach(() => (time = new VirtualTime().install()));
  afterEach(() => time.restore());

  /** Says what a worker says to orders, until it is silent: from then on it does not even end by itself. */
  class Obedient extends FakeChild {
    readonly signals: string[] = [];
    private isSilent = false;
    private readonly ticking = setInterval(() => this.isSilent || this.sampled(true), 1000);

    constructor(private readonly silentFrom?: string) {
      super();
    }

    override send(message: { readonly type?: string } & Partial<ToWorker>): boolean {
      const type = message.type ?? 'start';
      this.isSilent ||= type === this.silentFrom;
      if (!this.isSilent) setTimeout(() => this.obey(message as ToWorker));
      return super.send(message);
    }

    override kill(signal: NodeJS.Signals): boolean {
      this.signals.push(signal);
      return super.kill(signal);
    }

    private obey(order: ToWorker): void {
      const say = (fact: FromWorker): void => this.report({ open: 5, fact });
      if ((order as Partial<ToWorker>).type === undefined) say({ type: 'ready' });
      else if (order.type === 'connect') {
        this.sampled(false);
        say({ type: 'connected' });
      } else if (order.type === 'prepare') say({ type: 'prepared' });
      else if (order.type === 'flush') this.sampled(false, order.flush);
      else if (order.type === 'step') {
        const sentMs = shortStep.warmupMs + shortStep.measureMs;
        const afterMs = (order.atUs - time.nowUs()) / 1000 + sentMs;
        const sent = (): FromWorker => ({
          ...{ type: 'stepSent', index: order.index, atUs: time.nowUs() },
        });
        setTimeout(() => this.isSilent || say(sent()), afterMs);
      } else if (order.type === 'close') {
        clearInterval(this.ticking);
        say({ type: 'closed' });
      }
    }

    private sampled(due: boolean, flush?: number): void {
      const sample = workerSampleOf({ atUs: time.nowUs(), connections });
      const fact = { type: 'sampled', sample, due, ...(flush && { flush }) } as const;
      this.report({ open: 5, fact });
    }
  }

  /** The second of two is silent from that order on. */
  async function run(silentFrom?: string) {
    const children = [new Obedient(), new Obedient(silentFrom)];
    const waiting = [...children];
    const { ending, endingMessage } = await time.until(
      conductorOf(planOf({ agents: 2, oneClock: true, steps: [shortStep] }, 2), {
        startWorkers: (listener) =>
          new WorkerProcesses(starts, listener, () => waiting.shift() as unknown as WorkerProcess),
        nowUs: () => time.nowUs(),
      }).finished,
      900_000,
    );
    return { ending, endingMessage, children };
  }

  const nothingCame = 'it reports each second, and nothing came for 30 s';
  const silences = [
    ['start', 'it did not report within 60 s that it was ready', 60],
    ...(['connect', 'step'] as const).map((order) => [order, nothingCame, 30] as const),
  ] as const;
  for (const [order, why, afterS] of silences)
    it(`is ended, and the run with it: from the order ${order} on`, async () => {
      const { ending, endingMessage, children } = await run(order);
      // The step, and the grace of its end.
      assert.ok(
        time.nowMs >= 1000 * afterS && time.nowMs < 1000 * (afterS + 8),
        `${time.nowMs} ms`,
      );
      assert.equal(ending, 'workerLost', endingMessage);
      const begin =
        'A worker of the load generator was lost: the process of worker 1 was silent for too long: ';
      assert.equal(endingMessage, `${begin}${why}`);
      assert.equal(children[1]!.signals[0], 'SIGKILL');
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
