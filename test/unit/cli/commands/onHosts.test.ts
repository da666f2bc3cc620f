import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { waitUntilEndSeen } from '../../../../src/cli/commands/onHosts';
import type { EndingSignal } from '../../../../src/cli/exitCode';
import { buildRunPlan } from '../../../../src/plan/buildPlan';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { openTarget } from '../../../../src/targets/openTarget';
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
        assert.equal(await waitUntilEndSeen(publisher(wasSeen), signals(first)), undefined);
    assert.deepEqual(asked, [undefined, undefined, undefined, undefined]);
  });

  it('is left on the bus where the machine is taken away and nobody looks', async () => {
    assert.equal(await waitUntilEndSeen(publisher(false), signals('SIGTERM')), 'SIGTERM');
    assert.equal(await waitUntilEndSeen(publisher(true), signals('SIGTERM')), undefined);
    assert.deepEqual(asked, [10_000, 10_000]);
  });

  it('is not waited for when one more signal comes', async () => {
    const next = (): Promise<EndingSignal> => Promise.resolve('SIGTERM');
    const left = await waitUntilEndSeen({ seen: never }, { signal: () => undefined, next });
    assert.equal(left, 'SIGTERM');
  });
});

describe('a run on hosts', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
  });
  afterEach(() => at.dispose());

  const onHosts = ['--on', 'hosts', '--agents', '2', '--bus', 'nats://127.0.0.1:1'];
  const run = async (text: string, where: readonly string[] = onHosts): Promise<string> => {
    const file = await at.file('chat.yaml', text);
    const words = ['run', file, '--target', 'http://127.0.0.1:1/', ...where];
    const deps = { parseScenario, buildPlan: buildRunPlan, openTarget };
    const { code, err } = await at.run(words, { deps });
    assert.equal(code, 2, err);
    return err;
  };

  const config = 'config:\n  connections: 4\n';
  const echo = 'scenario: { name: echo }\n';
  const invoke = (argument: string): string =>
    `scenario: { name: invoke, parameters: { method: Say, arguments: ["${argument}"] } }\n`;
  const naming: Readonly<Record<string, string>> = {
    'identities.file': `${config}  identities: { file: named }\n${echo}`,
    data: `${config}  data: { file: named }\n${invoke('{data.user}')}`,
    payloadFile: `${config}scenario: { name: echo, parameters: { payloadFile: named } }\n`,
    arguments: config + invoke('{file:named}'),
    caFile: `${config}  caFile: named\n${echo}`,
    certFile: `${config}  certFile: named\n${echo}`,
    keyFile: `${config}  certFile: own.pem\n  keyFile: named\n${echo}`,
  };
  for (const [key, text] of Object.entries(naming)) {
    it(`misses the file at ${key} before it looks for agents`, async () => {
      await at.file('own.pem', '');
      assert.match(await run(text), /There is no file .+named\.\n$/);
    });

    for (const where of [[], onHosts])
      it(`reads no file at ${key} that a link leads to elsewhere${where.length > 0 ? ', on hosts' : ''}`, async () => {
        const elsewhere = await commandLine();
        try {
          const goal = await elsewhere.file('rows.csv', 'user\na\n');
          await symlink(goal, path.join(at.folder, 'named'));
          await at.file('own.pem', '');
          assert.match(
            await run(text, where),
            /named cannot be read: a link leads out of the folder/,
          );
        } finally {
          await elsewhere.dispose();
        }
      });
  }

  it('looks for its bus when it has its files', async () => {
    await at.file('users.csv', 'user\na\n');
    const text = `${config}  identities: { file: users.csv }\n${echo}`;
    assert.match(await run(text), /The bus at nats:\/\/127\.0\.0\.1:1 cannot be used/);
  });
});
