import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IdentityRow, PersonalEndpoint } from '../../../../src/base/endpoint';
import { ExpectedError } from '../../../../src/base/expectedError';
import type { CalledIdentities } from '../../../../src/scenario/keys/identityKeys';
import { identityCallerFor } from '../../../../src/targets/identities/openRows';
import { IdentityCaller, type CallClock } from '../../../../src/targets/identities/callIdentities';
import { resolveIdentities } from '../../../../src/targets/identities/resolveIdentities';
import { scenarioWith } from '../../capacity/scenarios';
import { endpointOf } from '../../../fakes/endpoint';

/** Without what all have. */
type Call<Spec = CalledIdentities> = Spec extends unknown ? Omit<Spec, keyof typeof how> : never;

const how = { rate: 1000, inFlight: 2, timeoutMs: 10_000 };
const jwt = (expS: number): string =>
  ['{}', JSON.stringify({ exp: expS }), 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

/** Time that passes only where somebody sleeps. */
class SleptTime implements CallClock {
  ms = 1_000_000;
  readonly slept: number[] = [];
  private readonly sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  readonly nowMs = (): number => this.ms;

  readonly sleep = (ms: number): Promise<void> => {
    this.slept.push(ms);
    return new Promise((wake) => this.sleepers.push({ atMs: this.ms + ms, wake }));
  };

  /** The next one who sleeps wakes up. */
  async next(isDone = (): boolean => false): Promise<void> {
    while (this.sleepers.length === 0 && !isDone()) await new Promise(setImmediate);
    if (isDone()) return;
    const [first] = this.sleepers.sort((a, b) => a.atMs - b.atMs).splice(0, 1);
    this.ms = Math.max(this.ms, first!.atMs);
    first!.wake();
    await new Promise(setImmediate);
  }
}

describe('identities that somebody is asked for', () => {
  let server: Server;
  let answer: (request: IncomingMessage, body: string, response: ServerResponse) => void;
  let url: string;

  before((done) => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => answer(request, body, response));
    }).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });
  after(() => server.close());

  const callerOf = (
    spec: Call & Partial<typeof how>,
    {
      clock,
      data,
      connections = 5,
    }: { clock?: CallClock; data?: PersonalEndpoint['data']; connections?: number } = {},
  ): IdentityCaller => {
    const identities: CalledIdentities = { ...how, ...spec };
    const { call } = resolveIdentities(scenarioWith({ connections, identities }), (text) =>
      text.replace('${secret:s}', 'S3cretS3cret'),
    );
    const personal = { headers: {}, query: {}, ...(data && { data }) };
    const endpoint = endpointOf('http://127.0.0.1:1/', { personal });
    const context = { commandFolder: tmpdir() };
    return new IdentityCaller(call!, endpoint, context, () => undefined, clock);
  };
  /** What a caller reports; time passes until the condition holds. */
  const reportsOf = (caller: IdentityCaller, clock: SleptTime) => {
    const renewed: number[] = [];
    const problems: string[] = [];
    caller.onRenewed((rows) => renewed.push(...rows.map(([position]) => position)));
    caller.onProblem((text) => problems.push(text));
    const until = async (isDone: () => boolean): Promise<void> => {
      while (!isDone()) await clock.next(isDone);
    };
    return { renewed, problems, until };
  };
  const endpoint = { kind: 'url', method: 'POST', headers: {} } as const;
  const tokensOf = (rows: readonly IdentityRow[]) => rows.map(({ values }) => values['token']);

  it('are had from a token endpoint, each once, with its own number in what is sent', async () => {
    const asked: string[] = [];
    answer = ({ url: path, headers, method }, body, response) => {
      asked.push([method, path, body, headers['content-type'], headers['x-client']].join(' '));
      response.end(JSON.stringify({ access_token: `T${body.at(-3)!}`, room: 'r' }));
    };
    const caller = callerOf(
      {
        ...endpoint,
        url: `${url}/{data.name}`,
        headers: { 'X-Client': '${secret:s}' },
        body: '{"user":"{data.name}-{index}"}',
      },
      { data: { rows: [{ name: 'a "b' }], shared: false } },
    );
    assert.deepEqual(tokensOf(await caller.first()), ['T0']);
    assert.equal(await caller.all(() => undefined), undefined);
    assert.deepEqual(tokensOf(caller.current), ['T0', 'T1', 'T2', 'T3', 'T4']);
    assert.equal(caller.current[1]!.values['room'], 'r');
    assert.deepEqual(
      asked.sort(),
      [0, 1, 2, 3, 4].map(
        (index) => `POST /a%20%22b {"user":"a \\"b-${index}"} application/json S3cretS3cret`,
      ),
    );
    caller.dispose();
  });

  it('begin no more often, and are no more at a time, than the scenario says', async () => {
    let [going, most] = [0, 0];
    answer = (_request, _body, response) => {
      going += 1;
      most = Math.max(most, going);
      setTimeout(() => {
        going -= 1;
        response.end('T');
      }, 5);
    };
    const clock = new SleptTime();
    const caller = callerOf({ ...endpoint, url, rate: 4 }, { clock });
    await caller.first();
    const all = caller.all(() => undefined);
    for (let at = 0; at < 3; at++) await clock.next();
    assert.equal(await all, undefined);
    assert.deepEqual(clock.slept.slice(0, 3), [250, 250, 250]);
    const fast = callerOf({ ...endpoint, url }, { connections: 12 });
    await fast.first();
    most = 0;
    await fast.all(() => undefined);
    assert.equal(most, 2);
    fast.dispose();
    caller.dispose();
  });

  it('are all had in a process where nothing else goes on', async () => {
    answer = (_request, _body, response) => response.end('token');
    // Slower than the answers, so that between them there is only the pause.
    const identities = { ...how, ...endpoint, url, count: 3, rate: 5 };
    const { call } = resolveIdentities(
      scenarioWith({ connections: 3, identities }),
      (text) => text,
    );
    const module = require.resolve('../../../../src/targets/identities/callIdentities');
    const program = `
      const { IdentityCaller } = require(${JSON.stringify(module)});
      const endpoint = { urls: [], headers: {}, query: {}, insecureTls: false, skipNegotiation: false };
      const caller = new IdentityCaller(${JSON.stringify(call)}, endpoint, {}, () => undefined);
      const all = async () => {
        await caller.first();
        await caller.all(() => undefined);
        console.log(caller.current.length);
        caller.dispose();
      };
      void all();`;
    const child = spawn(process.execPath, ['-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.equal(said, '3\n');
  });

  it('that fail are counted by class, and only the first keeps the run from starting', async () => {
    answer = ({ url: path }, _body, response) => {
      const index = Number(new URL(path!, url).pathname.slice(1));
      if (index === 1) response.writeHead(401).end('S3cretS3cret');
      else if (index === 2) response.end('two words');
      else if (index === 3) response.end('x'.repeat(70_000));
      else response.end('T0');
    };
    const caller = callerOf({ ...endpoint, url: `${url}/{index}?k=\${secret:s}` });
    await caller.first();
    const problem = await caller.all(() => undefined);
    assert.match(
      problem ?? '',
      /^3 of 5 identities could not be had \(1 unauthorized, 2 identity\)\. The first: http:\/\/127\.0\.0\.1:\d+\/1 answered 401\.$/,
    );
    assert.deepEqual(
      caller.current.map(({ failed }) => failed?.errorClass),
      [undefined, 'unauthorized', 'identity', 'identity', undefined],
    );
    caller.dispose();
    answer = (_request, _body, response) => response.writeHead(503).end();
    const none = callerOf({ ...endpoint, url });
    await assert.rejects(none.first(), {
      code: 'identities-unreachable',
      message: /^The first identity could not be had: .* answered 503\. Nothing was started\.$/,
    });
    none.dispose();
    for (const [said, message] of [
      ['{]', /begins like JSON, but is not JSON/],
      ['{"tok":1}', /has no token, accessToken, access_token/],
      ['', /is not a single token/],
    ] as const) {
      answer = (_request, _body, response) => response.end(said);
      const caller = callerOf({ ...endpoint, url });
      await assert.rejects(caller.first(), { code: 'identities', message });
      caller.dispose();
    }
    // Nobody listens there, or somebody says no.
    answer = (_request, _body, response) => response.writeHead(401).end();
    for (const [place, code] of [
      ['http://127.0.0.1:1/token', 'identities-unreachable'],
      [url, 'identities'],
    ] as const) {
      const caller = callerOf({ ...endpoint, url: place });
      await assert.rejects(caller.first(), { code });
      caller.dispose();
    }
  });

  it('are renewed before they expire, those alone, and tried again where that fails', async () => {
    let asked: string[] = [];
    let refuses = false;
    const clock = new SleptTime();
    answer = ({ url: path }, _body, response) => {
      asked.push(path!);
      if (refuses) response.writeHead(429).end();
      // Number 2 lives longer; 3 does not say.
      else if (path === '/3') response.end('opaque');
      else response.end(jwt(clock.ms / 1000 + (path === '/2' ? 1000 : 100)));
    };
    const caller = callerOf(
      { ...endpoint, url: `${url}/{index}`, rate: 1000 },
      { clock, connections: 4 },
    );
    const { renewed, problems, until } = reportsOf(caller, clock);
    await caller.first();
    let isOver = false;
    void caller.all(() => undefined).then(() => (isOver = true));
    await until(() => isOver);
    asked = [];
    await until(() => renewed.length === 2);
    // A fifth of their life before the end of tokens of 100 s.
    assert.ok(clock.ms >= 1_080_000 && clock.ms < 1_081_000, String(clock.ms));
    assert.deepEqual([...asked].sort(), ['/0', '/1']);
    assert.deepEqual(
      [...renewed].sort((a, b) => a - b),
      [0, 1],
    );
    refuses = true;
    await until(() => problems.length === 1);
    assert.match(problems[0]!, /^2 of 2 tokens could not be renewed \(2 throttled\)\./);
    const failedMs = clock.ms;
    refuses = false;
    await until(() => renewed.length === 4);
    // A quarter of the 20 s that they still live.
    assert.ok(clock.ms - failedMs >= 5000 && clock.ms - failedMs < 6000, String(clock.ms));
    caller.dispose();
  });

  const command = { kind: 'command', env: {} } as const;
  const node = (script: string, ...args: string[]): string[] => [
    process.execPath,
    '-e',
    script.replaceAll('{', '{{'),
    ...args,
  ];

  it('are had from a command, with its secrets in the environment', async () => {
    const script =
      'console.log(JSON.stringify({token: process.env.KEY + process.argv[1], expires_in: 60}))';
    const caller = callerOf(
      { ...command, command: node(script, 'u-{index}'), env: { KEY: '${secret:s}' } },
      { connections: 2 },
    );
    await caller.first();
    await caller.all(() => undefined);
    assert.deepEqual(tokensOf(caller.current), ['S3cretS3cretu-0', 'S3cretS3cretu-1']);
    assert.ok(caller.current.every(({ expiresMs = 0 }) => expiresMs > Date.now()));
    caller.dispose();
  });

  const failures: readonly (readonly [script: string, message: RegExp, more?: object])[] = [
    ["console.error('no ' + process.env.KEY); process.exit(3)", /ended with 3: no \(redacted\)/],
    [
      `console.error('no such user user-2 password=S3cret,1 {"token":"S3cret 2","room":"r"} Authorization: Bearer S3cret4 pwd="S3cret5'); process.exit(3)`,
      /ended with 3: no such user user-2 password=\(redacted\) \{"token":"\(redacted\)","room":"r"\} Authorization: \(redacted\) pwd="\(redacted\)/,
    ],
    ['setInterval(() => process.stdout.write("x".repeat(1e5)), 1)', /prints more than 64 KB/],
    ['setInterval(() => 0, 1000)', /did not end within 0\.5 s/, { timeoutMs: 500 }],
  ];
  it('says why a command gave none, without a secret', async () => {
    for (const [script, message, more] of failures) {
      const caller = callerOf({
        ...{ ...command, command: node(script), env: { KEY: '${secret:s}' } },
        ...more,
      });
      await assert.rejects(caller.first(), (error) => {
        assert.ok(error instanceof ExpectedError, String(error));
        assert.match(error.message, message);
        return !error.message.includes('S3cret');
      });
      caller.dispose();
    }
    const saying = "console.error('wrong: ' + process.argv[2]); process.exit(3)";
    const argument = callerOf({
      ...command,
      command: node(saying, '--', '--password', 'S3cretS3cret'),
    });
    await assert.rejects(argument.first(), /ended with 3: wrong: \(redacted\)\. Nothing/);
    argument.dispose();
    const missing = callerOf({ ...command, command: ['no-such-program-here'] });
    await assert.rejects(missing.first(), /there is no program no-such-program-here/);
    missing.dispose();
  });

  it('are renewed on where a program cannot be started for a while, or for one of them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'identities-'));
    const program = join(folder, 'token');
    const install = (): Promise<void> =>
      writeFile(program, '#!/bin/sh\nprintf \'{"token":"%s","expires_in":100}\' "$1"', {
        mode: 0o755,
      });
    try {
      await install();
      const clock = new SleptTime();
      // No program takes an argument with a zero in it: Node throws where it is to be started.
      const data = { rows: [{ name: 'a' }, { name: 'b\0' }, { name: 'c' }], shared: false };
      const caller = callerOf(
        { ...command, command: [program, '{data.name}'] },
        { clock, data, connections: 3 },
      );
      const { renewed, problems, until } = reportsOf(caller, clock);
      await caller.first();
      let note: string | undefined;
      void caller.all(() => undefined).then((text) => (note = text));
      await until(() => note !== undefined);
      assert.match(
        note!,
        /^1 of 3 identities could not be had \(1 identity\)\. The first: .* cannot be started \(ERR_INVALID_ARG_VALUE\)\.$/,
      );
      await rm(program);
      await until(() => problems.length === 1);
      assert.match(
        problems[0]!,
        /^2 of 2 tokens could not be renewed \(2 identity\)\. The first: there is no program /,
      );
      assert.deepEqual(renewed, []);
      await install();
      await until(() => renewed.length === 2);
      assert.deepEqual(new Set(renewed), new Set([0, 2]));
      assert.deepEqual(tokensOf(caller.current), ['a', undefined, 'c']);
      caller.dispose();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('are not had from a command where none may be run, nor without the columns that are needed', async () => {
    const identities = { ...how, ...command, command: node('console.log("t")') };
    const { call } = resolveIdentities(scenarioWith({ identities }), (text) => text);
    const where = endpointOf('http://127.0.0.1:1/');
    const context = {
      ...{ reference: () => undefined, serverScript: '', readFile: () => Promise.resolve('') },
    };
    await assert.rejects(identityCallerFor(call!, where, [], context).first(), /are not made here/);
    const needs = [{ name: 'identity', column: 'room' }] as const;
    const trusted = { ...context, commandFolder: tmpdir() };
    await assert.rejects(
      identityCallerFor(call!, where, needs, trusted).first(),
      /What the command prints has no column room/,
    );
  });
});
