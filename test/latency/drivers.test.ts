import assert from 'node:assert/strict';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { withHub } from '../fakes/loadHub';
import { assertExact, loadRun, onlyStep, type LoadTest } from '../load/loadRun';
import { besideReference, inQuiet, noiseOf, ownMs, readsDelay } from './measuredRun';

const delayMs = 50;
const load = { connections: 5, singleStepDuration: '2s', warmup: '500ms', skipNegotiation: false };
const sent = 200;

/** All at once: whatever the machine does meanwhile, it does to each of them. */
async function byBoth(test: Omit<LoadTest, 'target'>, ofNative: string, ofSdk = ofNative) {
  const by = (driver: 'native' | 'sdk', target: string) =>
    loadRun({
      ...test,
      target,
      config: { ...load, ...test.config, driver },
      parameters: { sendingInterval: '50ms', ...test.parameters },
    });
  return (await Promise.all([by('native', ofNative), by('sdk', ofSdk)])).map(onlyStep);
}

describe(`a hub that answers after ${delayMs} ms`, function () {
  for (const transport of ['Websockets', 'ServerSentEvents', 'LongPolling'] as const)
    it(`is read as such by either driver, as by the official client in a process of its own: ${transport}`, function () {
      return withHub(`--delay ${delayMs}ms`, ({ url }) =>
        inQuiet(this, async () => {
          const [steps, reference] = await besideReference(url, transport, () =>
            byBoth({ config: { transport } }, url),
          );
          for (const step of steps) assertExact(step, sent, sent);
          const judged = steps.map((step) => readsDelay(step, delayMs, reference));
          return { judged: judged.every(Boolean), reference };
        }),
      );
    });
});

describe('the drivers of Azure Web PubSub', function () {
  it('read the same latency, but for what they cost themselves', async function () {
    // One for each driver: an emulator has one event handler, which leaves with the run that brought it.
    const emulators = await Promise.all([startWebPubSubEmulator(), startWebPubSubEmulator()]);
    const [ofNative, ofSdk] = emulators.map(({ connectionString }) => connectionString);
    try {
      // The hub beside it shows what the machine adds.
      await withHub(`--delay ${delayMs}ms`, ({ url }) =>
        inQuiet(this, async () => {
          const [[native, sdk], reference] = await besideReference(url, 'Websockets', () =>
            byBoth({ useCase: 'echo', config: { service: 'webpubsub' } }, ofNative!, ofSdk),
          );
          for (const step of [native!, sdk!]) assertExact(step, sent, sent);
          const noiseMs = noiseOf(reference, delayMs);
          const apartMs = Math.abs(sdk!.latencyUs.p50 - native!.latencyUs.p50) / 1000;
          assert.ok(
            noiseMs === undefined || apartMs <= ownMs + noiseMs,
            `p50 ${apartMs} ms apart, reference ${JSON.stringify(reference)}`,
          );
          return { judged: noiseMs !== undefined, reference };
        }),
      );
    } finally {
      await Promise.all(emulators.map((emulator) => emulator.dispose()));
    }
  });
});
