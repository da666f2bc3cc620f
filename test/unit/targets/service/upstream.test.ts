import assert from 'node:assert/strict';
import { openTarget } from '../../../../src/targets/openTarget';
import { targetContext } from '../../../fakes/targetContext';
import { scenarioWith } from '../../capacity/scenarios';

const connectionString = 'Endpoint=https://service.test;AccessKey=made-up-for-tests;Version=1.0;';

/** What a run against a service elsewhere, known by a reference only, is refused with. */
async function refusal(
  service: 'signalr' | 'webpubsub',
  upstream: { readonly port: number; readonly publicUrl?: string },
): Promise<string> {
  const target = { kind: 'connectionString', value: '${env:SERVICE}' } as const;
  const context = targetContext({ SERVICE: connectionString });
  return openTarget(scenarioWith({ service, target, upstream }), context).then(
    () => 'opened',
    (error: unknown) => (error as Error).message,
  );
}

describe('an upstream handler', () => {
  for (const service of ['signalr', 'webpubsub'] as const)
    it(`needs a port and a public URL where the service is elsewhere: ${service}`, async () => {
      const publicUrl = 'https://tunnel.test/';
      const both = await refusal(service, { port: 0 });
      assert.match(both, /by itself: write upstream\.port, .*, and upstream\.publicUrl, /);
      assert.match(await refusal(service, { port: 0, publicUrl }), /write upstream\.port, [^:]*$/);
      assert.match(await refusal(service, { port: 7071 }), /write upstream\.publicUrl, /);
      assert.match(
        await refusal(service, { port: 7071, publicUrl }),
        /^The upstream handler did not start/,
      );
    });
});
