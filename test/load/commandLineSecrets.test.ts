import assert from 'node:assert/strict';
import { startFront, testCertificate } from '../fakes/loadFront';
import { withHubHere } from '../fakes/loadHub';
import { assertRan, withFolder } from './cliFolder';

describe('signalr-bench and certificates', function () {
  it(
    'trusts those that caFile names, all with insecureTls, and no others',
    withFolder((folder) =>
      withHubHere('', async ({ url }) => {
        const front = await startFront(url, { tls: true });
        const config = { connections: 5, baseSending: 5, warmup: 0 };
        folder.write('ca.pem', testCertificate);
        const run = (out: string, more: object) =>
          folder.run([
            'run',
            folder.scenario('tls.yaml', { target: front.url, config: { ...config, ...more } }),
            ...['--out', out],
          ]);
        try {
          const unknown = await run('unknown', {});
          assert.equal(unknown.code, 3);
          assert.match(unknown.stdout, /tls: TLS failed: the certificate is not trusted/);
          assertRan(await run('ca', { caFile: 'ca.pem', skipNegotiation: false }));
          assertRan(await run('any', { insecureTls: true }));
          for (const out of ['ca', 'any'])
            assert.equal(folder.result(out).steps[0]!.received, 50, out);
        } finally {
          await front.dispose();
        }
      }),
    ),
  );
});
