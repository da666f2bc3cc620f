import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sideBySide } from '../fakes/sideBySide';
import { bothEmulators } from './bothEmulators';
import { withFolder } from './cliFolder';
import { runSample, runSampleByCommand, sampleScenario } from './smallSample';

/** Written for a hub, and the one of a use case that the other tests of services leave out. */
const ofHubs = ['join-leave.signalr.yaml'];
/** By the command line; the others run in this process. */
const byCommand = ['azure-signalr.signalr.yaml', 'web-pubsub-echo.signalr.yaml'];
const references = { signalr: '${env:AZURE_SIGNALR}', webpubsub: '${env:AZURE_WEBPUBSUB}' };

describe('examples, with nothing but a connection string in the environment', function () {
  const connectionStrings = bothEmulators();
  const test = sideBySide();

  for (const name of readdirSync('examples')) {
    const file = path.join('examples', name);
    const service = ofHubs.includes(name) ? 'signalr' : sampleScenario(file)?.service;
    if (service === undefined || service === 'hub') continue;
    const reference = references[service];
    const target = { path: 'config.target', value: reference };
    // They share an emulator, but no hub.
    const hub = { path: 'config.hub', value: name.replace(/\W/g, '_') };
    const overrides = readFileSync(file, 'utf8').includes(reference) ? [hub] : [target, hub];
    test(`${name} runs against ${service} and loses nothing`, () => {
      const env = {
        AZURE_SIGNALR: connectionStrings.signalr,
        AZURE_WEBPUBSUB: connectionStrings.webpubsub,
      };
      return byCommand.includes(name)
        ? withFolder((folder) => runSampleByCommand(folder, file, overrides, env))()
        : runSample(file, overrides, env);
    });
  }
});
