import assert from 'node:assert/strict';
import { commandLine, type CommandLine } from '../commandLine';

describe('flags of another place than --on says', () => {
  let at: CommandLine;
  let file: string;
  beforeEach(async () => {
    at = await commandLine();
    file = await at.file('chat-room.yaml', 'mode: simple\n');
  });
  afterEach(() => at.dispose());

  const agents = '--on hosts or --on kubernetes';
  for (const [words, sentence] of [
    [['--bus', 'nats://h'], '--bus belongs to --on hosts.'],
    [['--publish'], '--publish belongs to --on hosts.'],
    [['--agents', '1'], `--agents belongs to ${agents}.`],
    [['--run', 'r'], `--run belongs to ${agents}.`],
    [['--join-within', '3s'], `--join-within belongs to ${agents}.`],
    [['--agent-timeout', '3s'], `--agent-timeout belongs to ${agents}.`],
    [['--image', 'node:22'], '--image belongs to --on kubernetes.'],
    ...['namespace', 'context', 'kubectl', 'secret', 'bus-image'].map(
      (flag) =>
        [['--on', 'hosts', `--${flag}`, 'x'], `--${flag} belongs to --on kubernetes.`] as const,
    ),
    [['--on', 'kubernetes', '--bus', 'nats://h'], '--bus belongs to --on hosts.'],
    ...['baseline', 'tolerance', 'html', 'md', 'junit', 'metrics-port', 'otlp'].map(
      (flag) =>
        [
          ['--on', 'kubernetes', `--${flag}`, '1'],
          `--${flag} has no effect with --on kubernetes.`,
        ] as const,
    ),
  ] as const)
    it(`are refused by run ${words.join(' ')}`, async () => {
      const { code, err, calls } = await at.run(['run', file, ...words]);
      // Whatever ends a run stands in the reports that were asked for.
      const report = /--(html|md|junit)/.test(words.join(' ')) ? 'report    1\n' : '';
      assert.deepEqual([code, err], [2, `${sentence} Nothing was started.\n${report}`]);
      assert.equal(calls.targetsOpen, 0);
    });

  it('are refused by doctor, attach and agents list', async () => {
    const doctor = await at.run(['doctor', '--manifest']);
    const attach = await at.run(['attach', 'r', '--namespace', 'load']);
    const inCluster = await at.run(['attach', 'r', '--on', 'kubernetes', '--bus', 'nats://h']);
    assert.deepEqual(
      [doctor, attach, inCluster].map(({ code, err }) => [code, err]),
      [
        [2, '--manifest belongs to --on kubernetes. Nothing was started.\n'],
        [2, '--namespace belongs to --on kubernetes. Nothing was started.\n'],
        [2, '--bus has no effect with --on kubernetes. Nothing was started.\n'],
      ],
    );
    const list = await at.run(['agents', 'list', '--bus', 'nats://h', '--namespace', 'load']);
    assert.equal(list.code, 2);
    assert.match(list.err, /'--bus <url>' cannot be used with option '--namespace <name>'/);
  });

  it('are taken where they belong', async () => {
    const here = await at.run(['run', file, '--md', 'report.md']);
    assert.equal(here.code, 0, here.err);
    // Without a bus it comes no further than to look for one.
    const hosts = await at.run(['run', file, '--on', 'hosts', '--agents', '2', '--publish']);
    assert.match(hosts.err, /name it with --bus/);
  });
});
