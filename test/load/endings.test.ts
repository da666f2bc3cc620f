import assert from 'node:assert/strict';
import { startHub, withHub, type LoadHub } from '../fakes/loadHub';
import {
  closedPort,
  rawPeer,
  serverFrame,
  silentPeer,
  statusPeer,
  type Peer,
} from '../fakes/loadPeers';
import { assertConsistent, loadRun, onlyStep, type LoadResult, type LoadTest } from './loadRun';

const longStep = { singleStepDuration: '30s', warmup: 0 };

/** Runs against a peer that lives as long as the run. */
async function runAgainst(peer: Peer, test: Omit<LoadTest, 'target'> = {}): Promise<LoadResult> {
  try {
    return await loadRun({ ...test, target: peer.url });
  } finally {
    await peer.dispose();
  }
}

/** Calls back after so many milliseconds of a step that is being measured. */
function afterMeasuring(ms: number, act: () => void): NonNullable<LoadTest['during']> {
  return (run) => {
    let waiting = false;
    run.onSnapshot(({ phase }) => {
      if (phase !== 'measuring' || waiting) return;
      waiting = true;
      setTimeout(act, ms);
    });
  };
}

function assertUnreachable(run: LoadResult, errorClass: string, text: RegExp): void {
  assert.equal(run.ending, 'targetLost');
  assert.equal(run.verdict.status, 'incomplete');
  assert.equal(run.connections.connected, 0);
  assert.deepEqual(run.steps, []);
  assert.deepEqual(Object.keys(run.errors), [errorClass]);
  assert.match(run.endingMessage ?? '', /No connection could be opened/);
  assert.match(run.endingMessage ?? '', text);
  assert.ok(run.tookMs < 25_000, `${run.tookMs} ms`);
}

/** A run that had connections and lost them all to a fault of the target, within a few seconds. */
function assertLost(run: LoadResult, errorClass: string, text: RegExp): void {
  assert.equal(run.ending, 'targetLost');
  assert.equal(run.verdict.status, 'incomplete');
  assert.equal(run.connections.dropped, run.connections.connected);
  assert.equal(run.errors[errorClass as 'closed'], run.connections.connected);
  assert.match(run.errorExamples.map((example) => example.text).join('\n'), text);
  assert.ok(run.tookMs < 10_000, `${run.tookMs} ms`);
  assertConsistent(run);
}

describe('every ending keeps what was measured', function () {
  this.timeout(60_000);
  let hub: LoadHub;

  before(async () => {
    hub = await startHub();
  });
  after(() => hub.dispose());

  it('a stop in the middle of a step', async () => {
    const run = await loadRun({
      target: hub.url,
      config: longStep,
      workers: 2,
      during: (going) => {
        afterMeasuring(1200, () => {
          going.stop('stopped');
        })(going);
      },
    });
    assert.equal(run.ending, 'stopped');
    assert.equal(run.verdict.status, 'incomplete');
    const step = onlyStep(run);
    assert.equal(step.verdict.status, 'incomplete');
    assert.ok(step.seconds >= 1 && step.seconds < 10, `${step.seconds} s`);
    assert.ok(step.sent >= 100, `${step.sent} sent`);
    assert.equal(step.lost, 0);
    assertConsistent(run);
    assert.ok(run.tookMs < 15_000, `${run.tookMs} ms`);
  });

  it('a stop that keeps the steps before', async () => {
    const run = await loadRun({
      target: hub.url,
      config: { baseSending: 10, step: 10, singleStepDuration: '1s', warmup: 0 },
      slo: { p99: '10s' },
      during: (going) => {
        going.onSnapshot(({ phase, step }) => {
          if (phase === 'measuring' && step?.index === 2) going.stop('interrupted');
        });
      },
    });
    assert.equal(run.ending, 'interrupted');
    const [first] = run.steps;
    assert.equal(first?.verdict.status, 'pass');
    assert.equal(first.sent, 200);
    assertConsistent(run);
  });

  it('a stop while connecting', async () => {
    const run = await loadRun({
      target: hub.url,
      config: { connections: 500, arrivingRate: 10 },
      during: (going) => {
        setTimeout(() => {
          going.stop('stopped');
        }, 1500);
      },
    });
    assert.equal(run.ending, 'stopped');
    assert.deepEqual(run.steps, []);
    const { requested, connected, failed, dropped } = run.connections;
    assert.equal(requested, 500);
    assert.ok(connected >= 1 && connected < 100, `${connected} connected`);
    assert.deepEqual([failed, dropped], [0, 0]);
    assert.ok(run.tookMs < 10_000, `${run.tookMs} ms`);
  });

  it('a second stop, which closes at once', async () => {
    const run = await loadRun({
      target: hub.url,
      config: longStep,
      during: (going) => {
        afterMeasuring(500, () => {
          going.stop('stopped');
          going.stop('stopped');
        })(going);
      },
    });
    assert.equal(run.ending, 'stopped');
    assertConsistent(run);
  });

  it('a target that dies', async () => {
    const dying = await startHub();
    let diedMs = 0;
    const run = await loadRun({
      target: dying.url,
      config: longStep,
      workers: 2,
      during: afterMeasuring(1200, () => {
        diedMs = performance.now();
        void dying.crash();
      }),
    });
    const noticedMs = performance.now() - diedMs;
    assert.equal(run.ending, 'targetLost');
    assert.match(run.endingMessage ?? '', /All 20 connections were lost/);
    assert.ok(noticedMs < 6000, `noticed after ${noticedMs} ms`);
    assert.equal(run.connections.dropped, 20);
    const step = onlyStep(run);
    assert.ok(step.received >= 100, `${step.received} received`);
    assert.equal(step.verdict.status, 'incomplete');
    assertConsistent(run);
  });

  for (const [how, told] of [
    ['exit', /ended by itself with code 7/],
    ['throw', /this worker dies on purpose/],
  ] as const) {
    it(`a worker that dies: ${how}`, async () => {
      process.env['LOAD_WORKER_DIES'] = how;
      process.env['LOAD_WORKER_DIES_MS'] = '2500';
      try {
        const run = await loadRun({
          target: hub.url,
          config: longStep,
          workers: 2,
          workerScript: require.resolve('../fakes/loadDyingWorker'),
        });
        assert.equal(run.ending, 'workerLost');
        assert.match(run.endingMessage ?? '', told);
        assert.equal(run.verdict.status, 'incomplete');
        const step = onlyStep(run);
        assert.ok(step.received >= 50, `${step.received} received`);
        assertConsistent(run);
        assert.ok(run.tookMs < 15_000, `${run.tookMs} ms`);
      } finally {
        delete process.env['LOAD_WORKER_DIES'];
        delete process.env['LOAD_WORKER_DIES_MS'];
      }
    });
  }

  it('a worker that dies before it could do anything', async () => {
    const run = await loadRun({ target: hub.url, workerScript: '/no/such/worker.js' });
    assert.equal(run.ending, 'workerLost');
    assert.deepEqual(run.steps, []);
    assert.match(run.endingMessage ?? '', /Cannot find module/);
  });

  it('a missed objective, after which no further step is run', () =>
    withHub('--drop-every 4', async ({ url }) => {
      const config = { baseSending: 5, step: 5, warmup: 0, drain: '300ms' };
      const slo = { p50: '10s', delivered: '100%' };
      const ended = await loadRun({ target: url, config, slo });
      assert.equal(ended.ending, 'threshold');
      assert.deepEqual(
        ended.steps.map(({ verdict }) => verdict.status),
        ['fail'],
      );
      assert.equal(ended.verdict.status, 'fail');

      const kept = await loadRun({ target: url, config, slo, keepGoing: true });
      assert.equal(kept.ending, 'completed');
      assert.deepEqual(
        kept.steps.map(({ senders, verdict }) => [senders, verdict.status]),
        [
          [5, 'fail'],
          [10, 'fail'],
          [15, 'fail'],
          [20, 'fail'],
        ],
      );
      assert.equal(kept.verdict.status, 'fail');
    }));

  it('a missed objective in the last step, which is judged like the others', async () => {
    let received = 0;
    const slo = { p50: '10s', delivered: '100%' };
    // The second step's last messages are dropped: the hub drops each 300th of 100 + 200 deliveries.
    const run = await withHub('--drop-every 300', ({ url }) =>
      loadRun({
        target: url,
        config: { baseSending: 10, step: 10, warmup: 0, drain: '300ms' },
        slo,
      }),
    );
    received = run.steps[1]?.received ?? 0;
    assert.deepEqual(
      run.steps.map(({ verdict }) => verdict.status),
      ['pass', 'fail'],
    );
    assert.equal(received, 199);
    assert.equal(run.ending, 'completed');
    assert.equal(run.verdict.status, 'fail');
  });

  it('connects of which some fail', async () => {
    const run = await loadRun({
      target: [hub.url, await closedPort()],
      config: { connectTimeout: '2s' },
    });
    assert.equal(run.ending, 'completed');
    assert.equal(run.connections.connected, 10);
    assert.equal(run.connections.failed, 10);
    const step = onlyStep(run);
    // Only connections that are there can send.
    assert.equal(step.offered, 100);
    assert.equal(step.received, 100);
    assert.equal(run.verdict.status, 'fail');
    assert.ok(run.verdict.reasons.some(({ code }) => code === 'slo-dropped'));
  });
});

describe('a target that cannot be used', function () {
  this.timeout(60_000);

  for (const skipNegotiation of [true, false]) {
    const config = { skipNegotiation, connections: 50 };
    const way = skipNegotiation ? 'skipping negotiation' : 'with negotiate';

    it(`a port on which nothing listens, ${way}`, async () => {
      const run = await loadRun({ target: await closedPort(), config, workers: 2 });
      assertUnreachable(run, 'refused', /ECONNREFUSED/);
    });

    it(`a server that accepts and never answers, ${way}`, async () => {
      assertUnreachable(await runAgainst(await silentPeer(), { config }), 'timeout', /in time/);
    });

    it(`a wrong path, ${way}`, () =>
      withHub('', async ({ url }) => {
        const run = await loadRun({ target: url.replace('signalrbench', 'other'), config });
        assertUnreachable(run, 'notFound', /404/);
        assert.ok(run.tookMs < 5000, `${run.tookMs} ms`);
      }));

    it(`a hub that wants a token, ${way}`, async () => {
      const run = await runAgainst(await statusPeer(401), { config });
      assertUnreachable(run, 'unauthorized', /401/);
    });

    it(`a hub that is throttled for longer than we may try, ${way}`, async () => {
      const peer = await statusPeer(429, { 'Retry-After': '600' });
      assertUnreachable(await runAgainst(peer, { config }), 'throttled', /429/);
    });
  }

  it('a hub that refuses everybody', () =>
    withHub('--refuse all', async ({ url }) => {
      const run = await loadRun({ target: url, workers: 2 });
      assertUnreachable(run, 'upgrade', /503/);
    }));

  it('a server that is no web server', async () => {
    const peer = await rawPeer(() => undefined);
    const port = new URL(peer.url).port;
    await peer.dispose();
    assert.ok(port);
  });
});

describe('a target that breaks the protocol', function () {
  this.timeout(60_000);
  // The greeting is not what these are about.
  const config = { ...longStep, connections: 5, dialect: 'recordLatency' };

  it('garbage after the handshake', async () => {
    const peer = await rawPeer((socket) => {
      setTimeout(() => socket.write(Buffer.alloc(500, 0xff)), 1000);
    });
    assertLost(await runAgainst(peer, { config }), 'protocol', /reserved bits|masked/);
  });

  it('a hub message that is no JSON', async () => {
    const peer = await rawPeer((socket) => {
      setTimeout(() => socket.write(serverFrame('<html>\x1e')), 1000);
    });
    assertLost(await runAgainst(peer, { config }), 'protocol', /JSON/i);
  });

  it('a frame that claims to be endless', async () => {
    const peer = await rawPeer((socket) => {
      setTimeout(() => socket.write(Buffer.from([0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0])), 1000);
    });
    assertLost(await runAgainst(peer, { config }), 'protocol', /above the limit/);
  });

  it('a message in fragments that never end', async () => {
    const piece = Buffer.concat([Buffer.from([0x00, 126, 0xff, 0xff]), Buffer.alloc(0xffff, 0x20)]);
    const peer = await rawPeer((socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece));
      };
      setTimeout(() => {
        socket.write(Buffer.from([0x01, 1, 0x20]));
        socket.on('drain', more);
        more();
      }, 1000);
    });
    assertLost(await runAgainst(peer, { config }), 'protocol', /limit/);
  });

  it('an end in the middle of a frame', async () => {
    const peer = await rawPeer((socket) => {
      setTimeout(() => socket.end(serverFrame('{"type":6}\x1e').subarray(0, 7)), 1000);
    });
    assertLost(await runAgainst(peer, { config }), 'closed', /without a close frame/);
  });

  it('a close frame with a reason', async () => {
    const peer = await rawPeer((socket) => {
      const reason = Buffer.from('\x03\xf3the server is going\x1b[2J away', 'latin1');
      const frame = Buffer.concat([Buffer.from([0x88, reason.length]), reason]);
      setTimeout(() => socket.end(frame), 1000);
    });
    const run = await runAgainst(peer, { config });
    assertLost(run, 'closed', /closed with code 1011: the server is going \[2J away/);
  });

  it('a server that stops reading', async () => {
    const peer = await rawPeer((socket) => socket.pause());
    const run = await runAgainst(peer, {
      config,
      parameters: { sendingInterval: '10ms', messageSize: '64KB' },
    });
    assertLost(run, 'blocked', /waiting for the server to read/);
  });
});
