import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { WebSocketServer } from 'ws';
import { startBenchHub, type BenchHub } from '../../src/servers/hub/benchHub';
import type { Result } from '../../src/results/result';
import { scenarioCopy } from '../../src/results/scenarioCopy';
import { assertRan, CliFolder } from './cliFolder';
import {
  assertExact,
  assertUndisturbed,
  onlyStep,
  runScenario,
  scenarioOf,
  scenarioText,
  type LoadTest,
} from './loadRun';

const key = 'the signing key of the tests';
const env = { 'signing-key': key };
const rule = { rule: 'user-{index}', key: '${secret:signing-key}' };
const users = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `user-${index}`).sort();

/** Prints a token of its own making, which none of our code has signed. */
const tokenProgram = `
const { createHmac } = require('node:crypto');
require('node:fs').writeFileSync('ran', '');
const text = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const sub = process.argv[2];
if (sub === 'user-3') { console.error('nobody knows ' + process.env.SIGNING_KEY); process.exit(1); }
const signed = text({ alg: 'HS256' }) + '.' + text({ sub, exp: Math.floor(Date.now() / 1000) + 600 });
const token = signed + '.' + createHmac('sha256', process.env.SIGNING_KEY).update(signed).digest('base64url');
console.log(JSON.stringify({ token, room: 'r-' + sub }));
`;

/** A hub that notes what it is called with. */
class NotingHub {
  readonly calls: unknown[][] = [];
  readonly requests: string[] = [];
  private readonly server: Server;

  constructor() {
    const sockets = new WebSocketServer({ noServer: true });
    this.server = createServer((_request, response) => response.writeHead(404).end());
    this.server.on('upgrade', (request, socket, head) => {
      const { url = '', headers } = request;
      this.requests.push([url, headers['x-user'], headers.cookie].join(' '));
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on('message', (data: Buffer) => {
          for (const part of data.toString().split('\x1e').filter(Boolean)) {
            const message = JSON.parse(part) as Record<string, unknown>;
            if ('protocol' in message) client.send('{}\x1e');
            if (message['type'] !== 1) continue;
            this.calls.push(message['arguments'] as unknown[]);
            const { invocationId } = message;
            client.send(`${JSON.stringify({ type: 3, invocationId, result: null })}\x1e`);
          }
        });
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hub`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('identities and rows of data', function () {
  this.timeout(60_000);
  let hub: BenchHub;
  beforeEach(async () => {
    hub = await startBenchHub({ tokenKey: key });
  });
  afterEach(() => hub.dispose());

  const run = (test: Omit<LoadTest, 'target'>, at: BenchHub = hub) =>
    runScenario(scenarioOf(scenarioText({ ...test, target: at.url })), test, env);

  it('sign each connection in as a user of its own, over every transport', async () => {
    await Promise.all(
      ['Websockets', 'ServerSentEvents', 'LongPolling'].map(async (transport) => {
        const own = await startBenchHub({ tokenKey: key });
        try {
          const config = { transport, skipNegotiation: false, identities: rule };
          const result = await run({ config, workers: 2 }, own);
          assertUndisturbed(result);
          assertExact(onlyStep(result), 200, 200);
          assert.deepEqual([...own.users].sort(), users(20));
        } finally {
          await own.dispose();
        }
      }),
    );
  });

  it('wrap where there are fewer of them, and refuse nobody else', async () => {
    const config = { identities: { ...rule, count: 6 } };
    assertExact(onlyStep(await run({ config, workers: 2 })), 200, 200);
    assert.deepEqual([...hub.users].sort(), users(6));
    const wrong = { identities: { ...rule, key: '${secret:other}' } };
    const text = scenarioText({ target: hub.url, config: wrong });
    const refused = await runScenario(scenarioOf(text), {}, { other: 'another key altogether' });
    assert.equal(refused.ending, 'targetLost');
    assert.deepEqual(Object.keys(refused.errors), ['unauthorized']);
  });

  it('are made by a command before the run, and one that fails costs its connection alone', async () => {
    const folder = new CliFolder();
    try {
      folder.write('token.cjs', tokenProgram);
      const identities = {
        command: [process.execPath, 'token.cjs', 'user-{index}'],
        env: { SIGNING_KEY: '${secret:signing-key}' },
        ...{ count: 5, rate: 100, inFlight: 2 },
      };
      const config = { target: hub.url, identities, connections: 5, baseSending: 5 };
      const slo = { dropped: '50%', p99: '10s' };
      const file = folder.scenario('s.yaml', { target: hub.url, config, slo });
      const secret = { SIGNALR_BENCH_SECRET_SIGNING_KEY: key };
      const run = ['run', file, '--json', '--out', 'out'];
      const refused = await folder.run(run, secret);
      assert.equal(refused.code, 2);
      assert.match(
        refused.stderr,
        /It runs the command .* token\.cjs user-\{index\}, 5 times.*--yes/,
      );
      assert.ok(!existsSync(path.join(folder.path, 'ran')), 'it ran before anybody agreed');
      const done = await folder.run([...run, '--yes'], secret);
      assert.ok(existsSync(path.join(folder.path, 'ran')));
      assertRan(done);
      const { stdout, stderr } = done;
      const result = JSON.parse(stdout) as Result;
      assert.match(
        stderr,
        /warning: 1 of 5 identities could not be had \(1 identity\)\. The first: the command ended with 1: nobody knows \(redacted\)\./,
      );
      const { connected, failed } = result.connections;
      assert.deepEqual({ connected, failed }, { connected: 4, failed: 1 });
      assert.equal(result.errors['identity'], 1);
      assertExact(result.steps[0]!, 40, 40);
      assert.deepEqual([...hub.users].sort(), ['user-0', 'user-1', 'user-2', 'user-4']);
      const kept = folder.read(folder.onlyResult('out'), 'scenario.yaml');
      assert.equal(kept, scenarioCopy(kept));
      assert.match(kept, /\$\{secret:signing-key\}/);
      for (const text of [stdout, stderr, kept])
        assert.ok(!text.includes(key) && !/eyJ/.test(text), text);
    } finally {
      folder.dispose();
    }
  });

  it('that cannot be had keep a run from starting, in a sentence', async () => {
    const folder = new CliFolder();
    try {
      folder.write('users.csv', 'user,room\nann,1\nbob\n');
      const rows = folder.scenario('rows.yaml', {
        target: hub.url,
        config: { identities: { file: 'users.csv' } },
      });
      const call = folder.scenario('call.yaml', {
        target: hub.url,
        config: { identities: { command: [process.execPath, 'no-such-file.mjs'] } },
      });
      // What is bundled has classes of its own.
      const [bad, none] = await Promise.all([
        folder.start(['run', rows]).finished,
        folder.start(['run', call, '--yes']).finished,
      ]);
      assert.deepEqual([bad.code, none.code], [2, 2]);
      assert.match(bad.stderr, /^users\.csv line 3 has 1 value, .*\n$/);
      assert.match(
        none.stderr,
        /^The first identity could not be had: .* Nothing was started\.\n$/,
      );
    } finally {
      folder.dispose();
    }
  });

  it('give their values to the way in and to arguments; shared rows are taken in turn over all workers', async () => {
    const noting = new NotingHub();
    const folder = new CliFolder();
    try {
      const target = await noting.listen();
      folder.write('users.csv', 'name,session\nann,S0\nbob,S1\ncyd,S2\n');
      const rows = Array.from({ length: 24 }, (_, id) => JSON.stringify({ id, tag: `t${id}` }));
      folder.write('rows.jsonl', rows.join('\n'));
      const test: LoadTest = {
        target,
        useCase: 'invoke',
        parameters: {
          method: 'Note',
          arguments: ['{identity.name}', '{data.id}', 'x{data.tag}', '{senderIndex}'],
          sendingInterval: '100ms',
        },
        config: {
          identities: { file: 'users.csv' },
          data: { file: 'rows.jsonl', take: 'shared' },
          headers: { 'X-User': 'u:{identity.name}', Cookie: 's={identity.session}' },
          query: { n: '{senderIndex}' },
          ...{ connections: 6, baseSending: 6, warmup: 0, singleStepDuration: '400ms', workers: 2 },
        },
      };
      const file = folder.scenario('s.yaml', test);
      const done = await folder.run(['run', file, '--out', 'out']);
      assertRan(done);
      assert.match(
        done.stderr,
        /note: 6 connections share 3 identities: after the last comes the first\./,
      );
      const names = ['ann', 'bob', 'cyd'];
      const opened = [0, 1, 2, 3, 4, 5].map(
        (index) => `/hub?n=${index} u:${names[index % 3]!} s=S${index % 3}`,
      );
      assert.deepEqual(noting.requests.sort(), opened);
      // 6 senders, each one call in 100 ms: all 24 rows, each once.
      assert.equal(noting.calls.length, 24);
      const ids = noting.calls.map(([, id]) => Number(id)).sort((a, b) => a - b);
      assert.deepEqual(
        ids,
        rows.map((_row, id) => id),
      );
      for (const [name, id, tag, sender] of noting.calls)
        assert.deepEqual([name, tag], [names[Number(sender) % 3], `xt${Number(id)}`]);
    } finally {
      noting.close();
      folder.dispose();
    }
  });
});
