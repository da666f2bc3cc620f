import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parseScenario } from '../../src/scenario/parseScenario';
import { configSpecs } from '../../src/scenario/keys/configKeys';
import { useCases } from '../../src/usecases/registry';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { withFolder } from './cliFolder';
import { sideBySide } from '../fakes/sideBySide';
import { runSample, runSampleByCommand, sampleScenario } from './smallSample';

/** Our examples, most as the Azure SignalR benchmark documents them, and pipelines as its generator wrote them. */
const samples = ['examples', 'test/fixtures/pipelines'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => path.join(folder, name)),
);
const local = { path: 'config.target', value: 'local' };

/** Plain use cases over plain ways, each of which is a run of `scenarioTable.test.ts`. */
const isInTable = (file: string): boolean =>
  /examples.(broadcast|connect-only|echo(-minimal)?|join-leave|long-polling|messagepack|mix|quick-start|send\w+|server-sent-events|streaming-?[eE]cho)\.|pipelines.echo\./.test(
    file,
  );

/** By the command line; the others run in this process, which knows how to begin without it. */
const byCommand = 'test/fixtures/pipelines/mix.yaml';

describe('samples of the Azure SignalR benchmark', () => {
  let hub: HubHere;
  let classic: HubHere;
  before(async () => {
    [hub, classic] = await Promise.all([startHubHere(), startHubHere('--classic')]);
  });
  after(() => Promise.all([hub.dispose(), classic.dispose()]));
  const test = sideBySide();

  const hubOf = (file: string): HubHere =>
    sampleScenario(file, local)?.connectionType === 'AspNet' ? classic : hub;

  for (const file of samples) {
    // Examples of services run against a service.
    const serves = file.startsWith('examples') && sampleScenario(file)?.service !== 'hub';
    if (sampleScenario(file, local) === undefined || serves || isInTable(file)) continue;
    // See below.
    if (file.includes('observed-server')) continue;
    test(`${file} runs on the embedded hub and loses nothing`, () =>
      byCommand === file
        ? withFolder((folder) => runSampleByCommand(folder, file, [local]))()
        : runSample(file, [{ ...local, value: hubOf(file).url }], {
            'signing-key': 'of the samples',
          }));
  }

  test(
    'observe a server, as the example does',
    withFolder(async (folder) => {
      const example = 'examples/observed-server.signalr.yaml';
      let asked = 0;
      const metrics = createServer((_request, response) => {
        asked += 1;
        response.end(
          `# TYPE orders_open gauge\norders_open ${asked}\ndotnet_thread_pool_queue_length 3\n`,
        );
      });
      await once(metrics.listen(0, '127.0.0.1'), 'listening');
      try {
        const { port } = metrics.address() as AddressInfo;
        const text = readFileSync(example, 'utf8').replace(
          'localhost:5000/metrics',
          `localhost:${port}/metrics`,
        );
        const file = folder.write('observed.yaml', text);
        const small = [
          'connections=10',
          'baseSending=10',
          'step=0',
          'warmup=0s',
          'singleStepDuration=2s',
        ];
        const set = ['target=local', ...small].flatMap((key) => ['--set', `config.${key}`]);
        const { stderr } = await folder.run(['run', file, '--keep-going', '--out', 'out', ...set]);
        const { observed } = folder.result('out');
        assert.deepEqual(observed?.problems, [], stderr);
        const [step] = observed.series.find(({ name }) => name === 'queue')!.steps;
        assert.deepEqual([step!.index, step!.mean, step!.max], [1, 3, 3]);
        const own = observed.series.find(({ name }) => name === 'orders_open')!;
        assert.ok(own.steps[0]!.last >= 2, JSON.stringify(own));
      } finally {
        metrics.close();
        metrics.closeAllConnections();
      }
    }),
  );

  it('are run, and show every use case, transport and protocol that runs', () => {
    const run = samples.filter((file) => sampleScenario(file, local) !== undefined);
    for (const name of ['test/fixtures/pipelines/sendToGroup.yaml', byCommand])
      assert.ok(run.includes(path.normalize(name)), name);
    const shown = run
      .filter((file) => file.startsWith('examples'))
      .map((file) => parseScenario(readFileSync(file, 'utf8')).scenario!);
    const used = (values: readonly string[]): string[] => [...new Set(values)].sort();
    assert.deepEqual(
      used(shown.flatMap(({ entries }) => entries.map(({ name }) => name))),
      // A replay is made of a recording; nobody writes one.
      used(useCases.map(({ name }) => name).filter((name) => name !== 'replay')),
    );
    assert.deepEqual(
      used(shown.map(({ transport }) => transport)),
      used(configSpecs.transport.choices),
    );
    assert.deepEqual(used(shown.map(({ protocol }) => protocol)), ['json', 'messagepack']);
  });

  test(
    'leave the counter file they ask for, the same as export makes',
    withFolder(async (folder) => {
      const file = folder.write(
        'a.yaml',
        'config:\n  target: local\n  connections: 10\n  baseSending: 10\n  singleStepDuration: 2s\n' +
          '  warmup: 200ms\n  resultFilePath: counters.txt\nscenario:\n  name: echo\n' +
          '  parameters:\n    messageSizes: 100B 60%, 1KB 40%\n    sendingInterval: 50ms\n',
      );
      await folder.run(['run', file, '--out', 'out']);
      const result = folder.onlyResult('out');
      const written = folder.read(result, 'counters.txt');
      const exported = await folder.run(['export', result, '--format', 'counters']);
      assert.deepEqual([exported.code, exported.stdout], [0, written]);
      const [step] = folder.result('out').steps;
      const last = JSON.parse(written.trim().split('\n').at(-1)!) as {
        Counters: Record<string, number>;
      };
      assert.equal(last.Counters['message:sent'], step!.sent);
      assert.equal(last.Counters['message:received'], step!.received);
      assert.equal(last.Counters['message:recvSize'], step!.payloadBytesOut + 8 * step!.received);
      // An echo brings back what was sent, so both sides have drawn the same sizes.
      assert.equal(step!.received, step!.sent);
      assert.equal(step!.payloadBytesOut, step!.payloadBytesIn);
      assert.ok(
        step!.payloadBytesIn > 100 * step!.sent && step!.payloadBytesIn < 1024 * step!.sent,
      );
      const imported = await folder.run(['import', path.join(result, 'counters.txt')]);
      assert.match(imported.stdout, / Connections\/sendingStep: 10\/10 in 2s\n/);
    }),
  );
});
