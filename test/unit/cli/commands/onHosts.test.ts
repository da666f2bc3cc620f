import assert from 'node:assert/strict';
import { untilSeen } from '../../../../src/cli/commands/onHosts';
import type { EndingSignal } from '../../../../src/cli/exitCode';
import { buildRunPlan } from '../../../../src/plan/buildPlan';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { commandLine, type CommandLine } from '../commandLine';

describe('the end of a run on the bus', () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  const asked: (number | undefined)[] = [];
  const publisher = (wasSeen: boolean) => ({
    seen: (withinMs?: number) => {
      asked.push(withinMs);
      return Promise.resolve(wasSeen);
    },
  });
  const signals = (first?: EndingSignal) => ({ signal: () => first, next: never });

  beforeEach(() => asked.splice(0));

  it('is there until somebody has seen it, or nobody has for long', async () => {
    for (const first of [undefined, 'SIGINT'] as const)
      for (const wasSeen of [true, false])
        assert.equal(await untilSeen(publisher(wasSeen), signals(first)), undefined);
    assert.deepEqual(asked, [undefined, undefined, undefined, undefined]);
  });

  it('is left on the bus where the machine is taken away and nobody looks', async () => {
    assert.equal(await untilSeen(publisher(false), signals('SIGTERM')), 'SIGTERM');
    assert.equal(await untilSeen(publisher(true), signals('SIGTERM')), undefined);
    assert.deepEqual(asked, [10_000, 10_000]);
  });

  it('is not waited for when one more signal comes', async () => {
    const next = (): Promise<EndingSignal> => Promise.resolve('SIGTERM');
    const left = await untilSeen({ seen: never }, { signal: () => undefined, next });
    assert.equal(left, 'SIGTERM');
  });
});

describe('a run on hosts', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
  });
  afterEach(() => at.dispose());

  const run = async (name: string, text: string): Promise<string> => {
    const file = await at.file(name, text);
    // Where nobody listens: whatever comes before the bus is said.
    const where = ['--on', 'hosts', '--agents', '2', '--bus', 'nats://127.0.0.1:1'];
    const words = ['run', file, '--target', 'http://127.0.0.1:1/', ...where];
    const { code, err } = await at.run(words, { deps: { parseScenario, buildPlan: buildRunPlan } });
    assert.equal(code, 2, err);
    return err;
  };

  const config = 'config:\n  connections: 4\n';
  const echo = 'scenario: { name: echo }\n';
  for (const [what, text] of [
    ['identities', `${config}  identities: { file: missing.csv }\n${echo}`],
    ['rows of data', `${config}  data: { file: missing.csv }\n${echo}`],
    [
      'a payload',
      `${config}scenario: { name: invoke, parameters: { method: Say, arguments: ["{file:missing.csv}"] } }\n`,
    ],
    ['a key', `${config}  certFile: missing.csv\n${echo}`],
  ] as const)
    it(`misses the file of ${what} before it looks for agents`, async () => {
      assert.match(await run('missing.yaml', text), /There is no file .+missing\.csv\.\n$/);
    });

  it('looks for its bus when it has its files', async () => {
    await at.file('users.csv', 'user\na\n');
    const text = `${config}  identities: { file: users.csv }\n${echo}`;
    assert.match(
      await run('whole.yaml', text),
      /The bus at nats:\/\/127\.0\.0\.1:1 cannot be used/,
    );
  });
});
