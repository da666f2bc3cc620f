import assert from 'node:assert/strict';
import { CliFolder } from './cliFolder';

describe('the default mode of Azure SignalR Service, on its emulator', function () {
  this.timeout(60_000);

  let folder: CliFolder;
  before(() => {
    folder = new CliFolder();
  });
  after(() => folder.dispose());

  for (const driver of ['native', 'sdk'])
    it(`counts a broadcast through two app servers exactly, driver ${driver}`, async () => {
      const config = { service: 'signalr', appServers: 2, serverConnections: 3, workers: 1 };
      const file = folder.scenario(`${driver}.yaml`, {
        target: 'local',
        useCase: 'broadcast',
        parameters: { sendingInterval: '100ms' },
        config: {
          ...config,
          driver,
          protocol: 'messagepack',
          connections: 10,
          skipNegotiation: false,
        },
        slo: { p99: '5s' },
      });
      const { code, stderr } = await folder.run(['run', file, '--out', driver]);
      // On a busy machine the step may be invalid; its counts are exact all the same.
      assert.ok(code === 0 || code === 4, stderr);
      const [step] = folder.result(driver).steps;
      assert.equal(step?.sent, 50);
      assert.equal(step.expected, 500);
      assert.equal(step.received, 500);
      assert.equal(step.duplicated + step.lost, 0);
    });
});
