import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import * as vscode from 'vscode';
import { bothEmulators } from '../load/bothEmulators';
import { endingIn, startLong } from './longRun';
import { recordingMessages } from './messages';

/** A port of this machine that nobody listens on. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

const variables = { signalr: 'AZURE_SIGNALR', webpubsub: 'AZURE_WEBPUBSUB' } as const;

describe('an example of a service, with nothing but a connection string in the environment', () => {
  // Waits for the end of each run: its result is there before its servers have gone, and a run meanwhile asks a question.
  const shown = recordingMessages();
  const connectionStrings = bothEmulators();

  before(() => {
    for (const service of ['signalr', 'webpubsub'] as const)
      process.env[variables[service]] = connectionStrings[service];
  });
  after(() => {
    for (const name of Object.values(variables)) Reflect.deleteProperty(process.env, name);
  });

  it('runs through a webhook, after a question, since only that has an address beyond this machine', async () => {
    const name = 'azure-signalr-upstream.signalr.yaml';
    const examples = path.resolve(__dirname, '..', '..', '..', 'examples');
    // Few connections, which measure soon on any machine; all else as it stands there.
    const text = readFileSync(path.join(examples, name), 'utf8')
      .replace('arrivingRate: 50', 'arrivingRate: 200\n  warmup: 0s')
      .replace(/connections: [12]00/, 'connections: 20')
      .replace(/baseSending: \d+/, 'baseSending: 5')
      .replace('groupCount: 20', 'groupCount: 2')
      // The port that people read of may be another test's.
      .replace('port: 7071', `port: ${await freePort()}`);
    shown.messages.press = 'Run';
    const folder = await startLong(name, text);
    assert.ok(shown.messages.find(/^Contact other machines/));
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    assert.equal(await endingIn(folder), 'stopped');
    const { connections, steps, errors } = JSON.parse(
      readFileSync(path.join(folder, 'result.json'), 'utf8'),
    ) as {
      connections: { requested: number; connected: number };
      steps: readonly { lost: number }[];
      errors: object;
    };
    assert.equal(connections.connected, connections.requested);
    assert.deepEqual(errors, {});
    assert.ok(steps.every(({ lost }) => lost === 0));
  });
});
