import assert from 'node:assert/strict';
import {
  assertConsistent,
  assertExact,
  loadRun,
  onlyStep,
  type LoadResult,
  type LoadTest,
} from '../load/loadRun';
import {
  requireAspNet,
  startAspNetServer,
  type AspNetServer,
  type AspNetServerOptions,
} from './aspnetServer';

const transports = ['Websockets', 'ServerSentEvents', 'LongPolling'] as const;
const connections = 6;

/** Short echo of 6 connections, 10 messages each. */
function echo(url: string, transport: string, test: Partial<LoadTest> = {}): Promise<LoadResult> {
  const config = { connections, transport, skipNegotiation: false, warmup: 0, ...test.config };
  return loadRun({ target: url, ...test, config });
}

/** At the same time: the runs are short and mostly wait. */
async function overEach(body: (transport: string) => Promise<void>): Promise<void> {
  await Promise.all(transports.map(body));
}

function assertWhole(run: LoadResult): void {
  assert.deepEqual(run.errors, {});
  assert.equal(run.ending, 'completed');
  assert.equal(run.connections.dropped, 0);
  assertExact(onlyStep(run), connections * 10, connections * 10);
  assertConsistent(run);
}

describe('transports of ASP.NET Core SignalR', function () {
  before(function () {
    requireAspNet(this);
  });

  async function withServer(
    options: AspNetServerOptions,
    body: (server: AspNetServer) => Promise<void>,
  ): Promise<void> {
    const server = await startAspNetServer(options);
    try {
      await body(server);
    } finally {
      await server.dispose();
    }
  }

  it('bring tokens and cookies, those of negotiate too, as load balancers need it', () =>
    withServer({ auth: 'bearer', token: 'open-sesame', affinity: true }, async ({ url }) => {
      await overEach(async (transport) => {
        const config = { accessToken: 'open-sesame', headers: { cookie: 'own=1' } };
        assertWhole(await echo(url, transport, { config }));
      });
      const refused = await echo(url, 'ServerSentEvents', { config: { accessToken: 'wrong' } });
      assert.deepEqual(refused.errors, { unauthorized: connections });
    }));

  it('are reached with a cookie from elsewhere', () =>
    withServer({ auth: 'cookie' }, async ({ url }) => {
      const signedIn = await fetch(new URL('/signin', url), { method: 'POST' });
      const Cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!;
      assertWhole(await echo(url, 'Websockets', { config: { headers: { Cookie } } }));
      const refused = await echo(url, 'LongPolling');
      assert.deepEqual(refused.errors, { unauthorized: connections });
    }));

  it('that the server does not offer are named, with those it does', () =>
    withServer({ transports: 'WebSockets,LongPolling' }, async ({ url }) => {
      const run = await echo(url, 'ServerSentEvents');
      assert.deepEqual(Object.keys(run.errors), ['negotiate']);
      assert.match(
        run.errorExamples[0]!.text,
        /does not offer ServerSentEvents, only WebSockets and LongPolling/,
      );
      assertWhole(await echo(url, 'LongPolling'));
    }));

  it('stay open with aggressive keep-alive and short polls, and end with the reason when a message is above the limit', () =>
    withServer({ keepAliveMs: 100, pollTimeoutMs: 200, maxMessageBytes: 4096 }, async ({ url }) => {
      await overEach(async (transport) => {
        const quiet = await echo(url, transport, {
          config: { singleStepDuration: '1s' },
          parameters: { sendingInterval: '500ms' },
        });
        assert.deepEqual(quiet.errors, {}, transport);
        assertExact(onlyStep(quiet), connections * 2, connections * 2);

        const run = await echo(url, transport, {
          config: { drain: '1s' },
          parameters: { messageSize: '8KB' },
        });
        assert.equal(run.ending, 'targetLost', transport);
        assert.equal(run.connections.dropped, connections);
        assert.deepEqual(run.errors, { closed: connections }, transport);
        assert.match(run.errorExamples[0]!.text, /Connection closed with an error/);
        assert.equal(onlyStep(run).received, 0);
        assertConsistent(run);
      });
    }));

  /** Runs over each transport at once, and asks for `path` of the server when all of them measure. */
  async function endedBy(url: string, path: '/drop' | '/kill') {
    const measuring = new Set<string>();
    let asked: Promise<unknown> | undefined;
    const runs = transports.map((transport) =>
      echo(url, transport, {
        config: { singleStepDuration: '30s' },
        during: (going) => {
          going.onSnapshot(({ step }) => {
            if ((step?.received ?? 0) > 0) measuring.add(transport);
            if (measuring.size < transports.length) return;
            // Who is killed may give no answer.
            asked ??= fetch(new URL(path, url), { method: 'POST' }).catch(() => undefined);
          });
        },
      }),
    );
    const ended = await Promise.all(runs);
    await asked;
    return ended;
  }

  it('count as closed, and keep what was measured, when the server aborts every connection, and when it dies', () =>
    withServer({}, async ({ url }) => {
      for (const path of ['/drop', '/kill'] as const)
        for (const [position, run] of (await endedBy(url, path)).entries()) {
          const what = `${path} ${transports[position]}`;
          assert.equal(run.ending, 'targetLost', what);
          assert.equal(run.verdict.status, 'incomplete', what);
          assert.equal(run.connections.dropped, connections, what);
          assert.ok(onlyStep(run).received > 0, what);
          const others = Object.keys(run.errors).filter((name) => name !== 'closed');
          if (path === '/drop') assert.deepEqual(others, [], JSON.stringify(run.errors));
          assertConsistent(run);
        }
    }));
});
