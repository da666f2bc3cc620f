import assert from 'node:assert/strict';
import { withHubHere } from '../fakes/loadHub';
import {
  chattyPeer,
  closedPort,
  rawPeer,
  serverFrame,
  silentPeer,
  statusPeer,
  type Peer,
} from '../fakes/loadPeers';
import { assertConsistent, loadRun, type LoadResult, type LoadTest } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

const longStep = { singleStepDuration: '30s', warmup: 0 };

/** Runs against a peer that lives as long as the run. */
async function runAgainst(peer: Peer, test: Omit<LoadTest, 'target'> = {}): Promise<LoadResult> {
  try {
    return await loadRun({ ...test, target: peer.url });
  } finally {
    await peer.dispose();
  }
}

function assertUnreachable(run: LoadResult, errorClass: string, text: RegExp): void {
  assert.equal(run.ending, 'targetLost');
  assert.equal(run.verdict.status, 'incomplete');
  assert.equal(run.connections.connected, 0);
  assert.deepEqual(run.steps, []);
  assert.deepEqual(Object.keys(run.errors), [errorClass]);
  assert.match(run.endingMessage ?? '', /^Could not connect: /);
  assert.match(run.endingMessage ?? '', text);
}

/** A run that had connections and lost them all to a fault of the target, within a few seconds. */
function assertLost(run: LoadResult, errorClass: string, text: RegExp): void {
  assert.equal(run.ending, 'targetLost');
  assert.equal(run.verdict.status, 'incomplete');
  assert.equal(run.connections.dropped, run.connections.connected);
  assert.equal(run.errors[errorClass as 'closed'], run.connections.connected);
  assert.match(run.errorExamples.map((example) => example.text).join('\n'), text);
  assertConsistent(run);
}

/** Tests of targets that cannot be reached, let nobody in, or break the protocol. */
export function testBadTargets(): void {
  describe('a target that cannot be used', () => {
    const test = sideBySide();

    for (const skipNegotiation of [true, false]) {
      const config = { skipNegotiation };
      const way = skipNegotiation ? 'skipping negotiation' : 'with negotiate';

      test(`a port on which nothing listens, ${way}`, async () => {
        const run = await loadRun({ target: await closedPort(), config, workers: 2 });
        assertUnreachable(run, 'refused', /nothing listens on 127\.0\.0\.1:\d+\. Start/);
      });

      test(`a wrong path, ${way}`, () =>
        withHubHere('', async ({ url }) => {
          const run = await loadRun({ target: url.replace('signalrbench', 'other'), config });
          assertUnreachable(
            run,
            'notFound',
            /there is no hub at \S+other \(404(: There is no hub at this path)?\)/,
          );
          // Tried once each.
          assert.deepEqual(run.errors, { notFound: 20 });
        }));
    }

    test('a hub that wants a token', async () => {
      const run = await runAgainst(await statusPeer(401));
      assertUnreachable(run, 'unauthorized', /denies access \(401\)/);
    });

    test('a hub that is throttled for longer than we may try', async () => {
      const peer = await statusPeer(429, { 'Retry-After': '600' });
      const config = { skipNegotiation: false };
      assertUnreachable(await runAgainst(peer, { config }), 'throttled', /429/);
    });

    test('a server that accepts and never answers', async () => {
      const ways = [true, false].map(async (skipNegotiation) =>
        runAgainst(await silentPeer(), {
          config: { skipNegotiation, connectTimeout: '1s' },
        }),
      );
      for (const run of await Promise.all(ways))
        assertUnreachable(run, 'timeout', /did not answer in time/);
    });

    test('a hub that refuses everybody', () =>
      withHubHere('--refuse all', async ({ url }) => {
        const run = await loadRun({ target: url, workers: 2 });
        assertUnreachable(run, 'upgrade', /503/);
      }));

    test('a server that is no web server', async () => {
      const config = { skipNegotiation: true };
      assertUnreachable(
        await runAgainst(await chattyPeer(), { config }),
        'protocol',
        /no(t speak)? HTTP/,
      );
    });

    test('a web server that is no hub', async () => {
      const run = await runAgainst(await statusPeer(200), { config: { skipNegotiation: false } });
      assertUnreachable(run, 'negotiate', /is this the URL of a SignalR hub/);
    });

    test('a web server that takes no upgrade', async () => {
      assertUnreachable(await runAgainst(await statusPeer(200)), 'upgrade', /answered 200/);
    });

    test('a port that does not speak TLS', () =>
      withHubHere('', async ({ url }) => {
        const run = await loadRun({ target: url.replace('http:', 'https:') });
        assertUnreachable(
          run,
          'tls',
          /TLS with 127\.0\.0\.1:\d+ failed \(the port does not speak TLS\)/,
        );
      }));
  });

  describe('a target that breaks the protocol', () => {
    const test = sideBySide();
    // The greeting is not what these are about.
    const config = { ...longStep, connections: 5, dialect: 'recordLatency' };

    test('garbage after the handshake', async () => {
      const peer = await rawPeer((socket) => {
        setTimeout(() => socket.write(Buffer.alloc(500, 0xff)), 1000);
      });
      assertLost(await runAgainst(peer, { config }), 'protocol', /reserved bits|masked/);
    });

    test('a message in fragments that never end', async () => {
      const piece = Buffer.concat([
        Buffer.from([0x00, 126, 0xff, 0xff]),
        Buffer.alloc(0xffff, 0x20),
      ]);
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

    test('an end in the middle of a frame', async () => {
      const peer = await rawPeer((socket) => {
        setTimeout(() => socket.end(serverFrame('{"type":6}\x1e').subarray(0, 7)), 1000);
      });
      assertLost(await runAgainst(peer, { config }), 'closed', /without a close frame/);
    });

    test('a close frame with a reason', async () => {
      const peer = await rawPeer((socket) => {
        const reason = Buffer.from('\x03\xf3the server is going\x1b[2J away', 'latin1');
        const frame = Buffer.concat([Buffer.from([0x88, reason.length]), reason]);
        setTimeout(() => socket.end(frame), 1000);
      });
      const run = await runAgainst(peer, { config });
      assertLost(run, 'closed', /closed with code 1011: the server is going \[2J away/);
    });

    test('a server that stops reading', async () => {
      const peer = await rawPeer((socket) => socket.pause());
      const run = await runAgainst(peer, {
        config,
        parameters: { sendingInterval: '10ms', messageSize: '64KB' },
      });
      assertLost(run, 'blocked', /waiting for the server to read/);
    });
  });
}
