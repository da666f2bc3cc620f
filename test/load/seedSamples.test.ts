import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
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

/** By the command line; the others run in this process, which knows how to begin without it. */
const byCommand = ['examples/echo.yaml', 'test/fixtures/pipelines/mix.yaml'];

describe('samples of the Azure SignalR benchmark', () => {
  let hub: HubHere;
  before(async () => (hub = await startHubHere()));
  after(() => hub.dispose());
  const test = sideBySide();

  for (const file of samples) {
    // Examples of services run against a service.
    const serves = file.startsWith('examples') && sampleScenario(file)?.service !== 'hub';
    if (sampleScenario(file, local) === undefined || serves) continue;
    test(`${file} runs on the embedded hub and loses nothing`, () =>
      byCommand.includes(file)
        ? withFolder((folder) => runSampleByCommand(folder, file, [local]))()
        : runSample(file, [{ ...local, value: hub.url }], { 'signing-key': 'of the samples' }));
  }

  it('are run, and show every use case, transport and protocol that runs', () => {
    const run = samples.filter((file) => sampleScenario(file, local) !== undefined);
    for (const name of ['test/fixtures/pipelines/sendToGroup.yaml', ...byCommand])
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
