import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sideBySide } from '../fakes/sideBySide';
import { bothEmulators } from './bothEmulators';
import { withFolder } from './cliFolder';
import { runSample, sampleScenario } from './smallSample';

/** Written for hubs, they run behind Azure SignalR Service as well. */
const hubExamples = [
  'broadcast.yaml',
  'echo.yaml',
  'join-leave.signalr.yaml',
  'sendToClient.yaml',
  'sendToGroup.yaml',
  'streamingEcho.yaml',
];
const references = { signalr: '${env:AZURE_SIGNALR}', webpubsub: '${env:AZURE_WEBPUBSUB}' };

describe('examples, with nothing but a connection string in the environment', function () {
  this.timeout(60_000);
  const connectionStrings = bothEmulators();
  const test = sideBySide();

  for (const name of readdirSync('examples')) {
    const file = path.join('examples', name);
    const service = hubExamples.includes(name) ? 'signalr' : sampleScenario(file)?.service;
    if (service === undefined || service === 'hub') continue;
    const reference = references[service];
    const target = { path: 'config.target', value: reference };
    const sample = sampleScenario(file, target)!;
    const named = readFileSync(file, 'utf8').includes(reference);
    test(
      `${name} runs against ${service} and loses nothing`,
      withFolder((folder) => {
        // They share an emulator, but no hub.
        const args = ['--set', `config.hub=${name.replace(/\W/g, '_')}`];
        return runSample(folder, file, sample, named ? args : ['--target', reference, ...args], {
          AZURE_SIGNALR: connectionStrings.signalr,
          AZURE_WEBPUBSUB: connectionStrings.webpubsub,
        });
      }),
    );
  }
});
