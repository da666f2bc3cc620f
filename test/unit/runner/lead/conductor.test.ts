import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunSummary } from '../../../../src/measure/show/summary';
import { Conductor } from '../../../../src/runner/lead/conductor';
import { sharedPopulation } from '../../../../src/runner/prepare/sharedMembers';
import { endpointOf } from '../../../fakes/endpoint';
import { planOf, shortStep } from '../../../fakes/plan';

/** A worker that does what it is told, but for what `silent` says of an order. */
const workerScript = (silent: string): string => `
const { parentPort, workerData } = require('node:worker_threads');
const silent = ${silent};
const names = ['offered', 'sent', 'expected', 'received', 'duplicated', 'outOfOrder', 'late', 'extra',
  'payloadBytesIn', 'payloadBytesOut', 'wireBytesIn', 'wireBytesOut'];
const none = Object.fromEntries(names.map((name) => [name, 0]));
const state = { sent: false };
let connections = { connected: 10, failed: 0, dropped: 0 };
function tell(counts, flush) {
  const steps = counts === undefined ? [] : [{ step: 1, ...none, ...counts, errors: {} }];
  parentPort.postMessage({ type: 'sampled', due: false, flush, sample: {
    atUs: 0,
    worker: workerData.worker, tick: 0, steps, errors: {}, errorExamples: [],
    connections,
    generator: { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 },
  } });
}
parentPort.postMessage({ type: 'ready' });
parentPort.on('message', (order) => {
  if (silent(order, state)) return;
  if (order.type === 'connect') parentPort.postMessage({ type: 'connected' });
  if (order.type === 'prepare') parentPort.postMessage({ type: 'prepared' });
  if (order.type === 'flush') tell(undefined, order.flush);
  if (order.type === 'step') {
    state.sent = true;
    tell({ offered: 10, sent: 10, expected: 10, received: 9 });
    if (!silent({ type: 'stepSent' }, state)) parentPort.postMessage({ type: 'stepSent', index: 1 });
  }
  if (order.type === 'close') {
    tell({ received: 1, late: 1 });
    parentPort.postMessage({ type: 'closed' });
    process.exit(0);
  }
});
`;

describe('Conductor', () => {
  let folder: string;

  before(async () => (folder = await mkdtemp(join(tmpdir(), 'signalr-bench-'))));
  after(() => rm(folder, { recursive: true }));

  /** A run of one short step with one worker. */
  async function run(silent: string): Promise<RunSummary> {
    const script = join(folder, 'worker.cjs');
    await writeFile(script, workerScript(silent));
    const step = { ...shortStep, warmupMs: 0, measureMs: 20, drainMs: 30 };
    const plan = planOf({ steps: [step] });
    const endpoint = endpointOf('http://127.0.0.1:1/');
    const population = sharedPopulation(10, 1);
    const starts = [{ plan, worker: 0, endpoint, population, originUs: 0 }];
    const conductor = new Conductor(plan, starts, {
      workerScript: script,
      keepGoing: false,
      secrets: [],
      nowUs: () => performance.now() * 1000,
      openConnections: () => 10,
      targetUrls: [],
      target: { kind: 'local', url: 'http://127.0.0.1:1/' },
      askedMs: 0,
      machine: { cores: 1, node: '20', platform: 'linux', workers: 1 },
    });
    return conductor.finished;
  }

  const cases: readonly (readonly [string, string])[] = [
    ['answers', '() => false'],
    ['tells nothing more once it has sent', `({ type }, { sent }) => sent && type === 'flush'`],
    ['does not say that it has sent', `({ type }) => type === 'stepSent'`],
  ];
  for (const [name, silent] of cases) {
    it(`ends a step by its own clock, whose worker ${name}`, async () => {
      const summary = await run(silent);
      assert.equal(summary.ending, 'completed');
      const [step] = summary.steps;
      assert.equal(step?.verdict.status, 'fail');
      assert.match(
        step.verdict.reasons[0]?.message ?? '',
        /^1 of 10 deliveries had not arrived when the drain ended/,
      );
      // What comes later is part of what was received, and changes no verdict.
      assert.deepEqual([step.received, step.late, step.lost], [10, 1, 0]);
    });
  }

  it('counts all that failed to the end, where no connection could be opened', async () => {
    const summary = await run(`({ type }) => {
      if (type === 'connect') {
        connections = { connected: 0, failed: 10, dropped: 0 };
        tell();
        return true;
      }
      if (type === 'close') connections.failed = 12;
      return false;
    }`);
    assert.equal(summary.ending, 'targetLost');
    assert.equal(summary.connections.failed, 12);
    assert.match(summary.endingMessage ?? '', /^No connection could be opened \(12 failed\)\./);
  });
});
