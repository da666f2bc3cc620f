import assert from 'node:assert/strict';
import {
  assertConsistent,
  assertExact,
  loadRun,
  onlyStep,
  type LoadResult,
  type LoadTest,
} from '../load/loadRun';
import { requireAspNet, startAspNetServer, type AspNetServer } from './aspnetServer';

/** Each sender's messages in half a second at one in 50 ms. */
const perSender = 10;
const connections = 20;

interface Case {
  readonly title: string;
  readonly test: Omit<LoadTest, 'target'>;
  /** Deliveries of one round, in which each of the 20 connections sends once. */
  readonly receivers: number;
}

const cases: readonly Case[] = [
  { title: 'echo', test: { useCase: 'echo' }, receivers: connections },
  { title: 'broadcast', test: { useCase: 'broadcast' }, receivers: connections * connections },
  { title: 'sendToClient', test: { useCase: 'sendToClient' }, receivers: connections },
  {
    title: 'sendToClient to random targets',
    test: { useCase: 'sendToClient', parameters: { targets: 'random' } },
    receivers: connections,
  },
  {
    title: 'sendToGroup to groups of 7, 7 and 6',
    test: { useCase: 'sendToGroup', parameters: { groupCount: 3 } },
    receivers: 7 * 7 + 7 * 7 + 6 * 6,
  },
  {
    title: 'sendToGroup with two groups for each connection',
    test: { useCase: 'sendToGroup', parameters: { groupCount: 4, groupsPerConnection: 2 } },
    receivers: connections * 10,
  },
];

/** A completed run in which every connection was there all the time. */
function assertUndisturbed(run: LoadResult): void {
  assert.equal(run.ending, 'completed');
  assert.deepEqual(run.errors, {});
  assert.equal(run.connections.connected, run.connections.requested);
  assert.equal(run.connections.dropped, 0);
  assertConsistent(run);
}

describe('the engine against ASP.NET Core SignalR', function () {
  this.timeout(60_000);
  let server: AspNetServer;

  before(async function () {
    requireAspNet(this);
    server = await startAspNetServer();
  });
  after(() => (server as AspNetServer | undefined)?.dispose());

  for (const { title, test, receivers } of cases) {
    for (const [workers, skipNegotiation] of [
      [1, false],
      [2, true],
    ] as const) {
      const way = skipNegotiation ? 'skipping negotiation' : 'with negotiate';
      it(`${title}: exact counts, ${workers} worker${workers === 1 ? '' : 's'} ${way}`, async () => {
        const config = { connections, skipNegotiation };
        const run = await loadRun({ ...test, target: server.url, workers, config });
        assertUndisturbed(run);
        assertExact(onlyStep(run), connections * perSender, receivers * perSender);
      });
    }
  }

  it('carries messages of 64 KB', async () => {
    const run = await loadRun({
      target: server.url,
      useCase: 'broadcast',
      workers: 2,
      config: { connections: 4, warmup: 0 },
      parameters: { messageSize: '64KB' },
    });
    assertUndisturbed(run);
    const step = onlyStep(run);
    assertExact(step, 40, 160);
    assert.equal(step.payloadBytesOut, 160 * 65_536);
    assert.ok(step.wireBytesOut > step.payloadBytesOut);
  });

  it('accepts the headers and the query of the scenario', async () => {
    for (const skipNegotiation of [true, false]) {
      const headers = { 'X-Name': 'somebody' };
      const config = { skipNegotiation, headers, query: { a: 'b&c' } };
      const run = await loadRun({ target: server.url, config });
      assertUndisturbed(run);
      assertExact(onlyStep(run), 200, 200);
    }
  });

  it('names the reason when the server closes over a message above its limit', async () => {
    const small = await startAspNetServer({ maxMessageBytes: 8192 });
    try {
      const run = await loadRun({
        target: small.url,
        workers: 2,
        config: { warmup: 0, drain: '1s' },
        parameters: { messageSize: '16KB' },
      });
      assert.equal(run.ending, 'targetLost');
      assert.equal(run.connections.connected, connections);
      assert.equal(run.connections.dropped, connections);
      assert.deepEqual(run.errors, { closed: connections });
      assert.match(run.errorExamples[0]!.text, /Connection closed with an error/);
      const step = onlyStep(run);
      assert.equal(step.received, 0);
      assert.equal(step.lost, step.expected);
      assert.ok(step.sent >= connections, `${step.sent} sent`);
      assertConsistent(run);
    } finally {
      await small.dispose();
    }
  });

  it('keeps what was measured when the server is killed', async () => {
    const dying = await startAspNetServer();
    try {
      const run = await loadRun({
        target: dying.url,
        useCase: 'sendToGroup',
        parameters: { groupCount: 4 },
        workers: 2,
        config: { connections, singleStepDuration: '30s', warmup: 0 },
        during: (going) => {
          let killing = false;
          going.onSnapshot(({ phase }) => {
            if (phase !== 'measuring' || killing) return;
            killing = true;
            setTimeout(() => process.kill(dying.processId, 'SIGKILL'), 1200);
          });
        },
      });
      assert.equal(run.ending, 'targetLost');
      assert.equal(run.verdict.status, 'incomplete');
      assert.equal(run.connections.dropped, connections);
      const step = onlyStep(run);
      assert.ok(step.received >= 500, `${step.received} received`);
      assert.ok(run.tookMs < 15_000, `${run.tookMs} ms`);
      assertConsistent(run);
    } finally {
      await dying.dispose();
    }
  });

  it('a wrong path is 404', async () => {
    for (const skipNegotiation of [true, false]) {
      const target = server.url.replace('signalrbench', 'other');
      const run = await loadRun({ target, config: { skipNegotiation } });
      assert.equal(run.ending, 'targetLost');
      assert.deepEqual(run.errors, { notFound: connections });
    }
  });
});
