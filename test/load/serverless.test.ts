import assert from 'node:assert/strict';
import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import { CliFolder } from './cliFolder';
import { loadRun } from './loadRun';

const connections = 20;
const senders = 4;
const groups = { groupCount: 4 };

describe('the serverless mode of Azure SignalR Service, on its emulator', function () {
  this.timeout(60_000);

  let folder: CliFolder;
  before(() => {
    folder = new CliFolder();
  });
  after(() => folder.dispose());

  for (const [protocol, driver] of [
    ['json', 'native'],
    ['messagepack', 'sdk'],
  ] as const)
    it(`counts what comes over lasting server connections exactly, ${protocol}, driver ${driver}`, async () => {
      const name = `${protocol}-${driver}`;
      const config = { service: 'signalr', workers: 2, baseSending: 3 * senders };
      const file = folder.scenario(`${name}.yaml`, {
        target: 'local',
        entries: [
          { name: 'restPersistBroadcast', senders },
          { name: 'restPersistSendToUser', senders },
          { name: 'restPersistSendToGroup', senders, parameters: groups },
        ],
        config: { ...config, protocol, driver, connections, skipNegotiation: false },
        slo: { p99: '5s' },
      });
      const { code, stderr } = await folder.run(['run', file, '--out', name]);
      // On a busy machine the step may be invalid; its counts are exact all the same.
      assert.ok(code === 0 || code === 4, stderr);
      const { steps, errors } = folder.result(name);
      const [step] = steps;
      assert.deepEqual(errors, {});
      assert.ok(step?.entries);
      const receivers = [connections, 1, connections / groups.groupCount];
      step.entries.forEach((counts, entry) => {
        assert.equal(counts.sent, senders * 10);
        assert.equal(counts.expected, counts.sent * receivers[entry]!);
        assert.equal(counts.received, counts.expected);
        assert.equal(counts.duplicated + counts.outOfOrder, 0);
      });
    });

  it('leaves room for the lasting server connection where clients take all that the size has', async () => {
    const emulator = await startAzureSignalr({ mode: 'serverless', unit: 'free' });
    const { connections, errors, steps } = await loadRun({
      target: emulator.connectionString,
      useCase: 'restPersistSendToUser',
      config: { service: 'signalr', skipNegotiation: false },
    });
    await emulator.dispose();
    // One client finds no room, as often as it is tried.
    assert.deepEqual([connections.failed, Object.keys(errors)], [1, ['throttled']]);
    const [step] = steps;
    assert.ok(step!.received > 0 && step!.received === step!.expected);
  });
});
