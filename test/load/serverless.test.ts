import assert from 'node:assert/strict';
import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import { loadRun } from './loadRun';

describe('the serverless mode of Azure SignalR Service, on its emulator', function () {
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
