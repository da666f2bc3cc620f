import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
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
  this.timeout(60_000);
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

  it('are reached with a bearer token, and refused without', () =>
    withServer({ auth: 'bearer', token: 'open-sesame' }, async ({ url }) => {
      await overEach(async (transport) => {
        assertWhole(await echo(url, transport, { config: { accessToken: 'open-sesame' } }));
        const refused = await echo(url, transport, { config: { accessToken: 'wrong' } });
        assert.deepEqual(refused.errors, { unauthorized: connections });
      });
    }));

  it('are reached with a cookie from elsewhere', () =>
    withServer({ auth: 'cookie' }, async ({ url }) => {
      const signedIn = await fetch(new URL('/signin', url), { method: 'POST' });
      const Cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!;
      await overEach(async (transport) => {
        assertWhole(await echo(url, transport, { config: { headers: { Cookie } } }));
      });
      const refused = await echo(url, 'LongPolling');
      assert.deepEqual(refused.errors, { unauthorized: connections });
    }));

  it('bring the cookies of negotiate back, as load balancers need it', () =>
    withServer({ affinity: true }, async ({ url }) => {
      await overEach(async (transport) => {
        const headers = { cookie: 'own=1' };
        assertWhole(await echo(url, transport, { config: { headers } }));
      });
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

  it('end with the reason when a message is above the limit', () =>
    withServer({ maxMessageBytes: 4096 }, async ({ url }) => {
      await overEach(async (transport) => {
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

  it('stay open with aggressive keep-alive and short polls', () =>
    withServer({ keepAliveMs: 100, pollTimeoutMs: 200 }, async ({ url }) => {
      await overEach(async (transport) => {
        const run = await echo(url, transport, {
          config: { singleStepDuration: '2s' },
          parameters: { sendingInterval: '1s' },
        });
        assert.deepEqual(run.errors, {}, transport);
        assertExact(onlyStep(run), connections * 2, connections * 2);
      });
    }));

  it('are counted as closed when the server aborts every connection', () =>
    withServer({}, async ({ url }) => {
      for (const transport of transports) {
        let dropped: Promise<unknown> | undefined;
        const run = await echo(url, transport, {
          config: { singleStepDuration: '20s' },
          during: (going) => {
            going.onSnapshot(({ phase }) => {
              if (phase !== 'measuring') return;
              dropped ??= sleep(300).then(() => fetch(new URL('/drop', url), { method: 'POST' }));
            });
          },
        });
        await dropped;
        assert.equal(run.ending, 'targetLost', transport);
        assert.equal(run.connections.dropped, connections, transport);
        const classes = Object.keys(run.errors).filter((name) => name !== 'closed');
        assert.deepEqual(classes, [], `${transport}: ${JSON.stringify(run.errors)}`);
        assertConsistent(run);
      }
    }));

  it('keep what was measured when the server dies', async () => {
    for (const transport of ['ServerSentEvents', 'LongPolling']) {
      await withServer({}, async ({ url }) => {
        let killed: Promise<unknown> | undefined;
        const run = await echo(url, transport, {
          config: { singleStepDuration: '20s' },
          during: (going) => {
            going.onSnapshot(({ phase }) => {
              if (phase !== 'measuring') return;
              killed ??= sleep(500)
                .then(() => fetch(new URL('/kill', url), { method: 'POST' }))
                .catch(() => undefined);
            });
          },
        });
        await killed;
        assert.equal(run.ending, 'targetLost', transport);
        assert.equal(run.connections.dropped, connections);
        assert.ok(onlyStep(run).received > 0);
        assertConsistent(run);
      });
    }
  });
});
