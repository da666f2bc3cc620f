import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppServerSettings } from '../../../../src/targets/service/openService';
import { openTarget } from '../../../../src/targets/openTarget';
import { certificate, certificateKey } from '../../../fakes/rawHub';
import { targetContext } from '../../../fakes/targetContext';
import { scenarioWith } from '../../capacity/scenarios';

/** Serves nothing; its URL says what it was started with. */
const script = `process.stdin.on('end', () => process.exit(0)).once('data', (settings) => {
  console.log(JSON.stringify({ url: 'http://127.0.0.1:7/' + encodeURIComponent(settings) }));
});`;

describe('default mode', () => {
  it('sends its app servers the way of the clients: proxy and certificates', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalr-bench-'));
    try {
      const serverScript = join(folder, 'server.cjs');
      await writeFile(serverScript, script);
      const files: Readonly<Record<string, string>> = {
        ca: certificate,
        cert: certificate,
        key: certificateKey,
      };
      const scenario = scenarioWith({
        service: 'signalr',
        target: {
          kind: 'connectionString',
          value: 'Endpoint=https://service.test;AccessKey=made-up-for-tests;Version=1.0;',
        },
        caFile: 'ca',
        certFile: 'cert',
        keyFile: 'key',
      });
      const readFile = (name: string): Promise<string> => Promise.resolve(files[name]!);
      const proxy = { HTTPS_PROXY: 'http://proxy.test:3128' };
      const target = await openTarget(scenario, targetContext(proxy, { serverScript, readFile }));
      await target.dispose();
      const [, said = ''] = target.endpoint.urls[0]!.split('127.0.0.1:7/');
      const { proxies, ca, clientCertificate, insecureTls } = JSON.parse(
        decodeURIComponent(said),
      ) as AppServerSettings;
      assert.deepEqual(
        { proxies, ca, clientCertificate, insecureTls },
        {
          proxies: { https: 'http://proxy.test:3128/', except: [] },
          ca: certificate,
          clientCertificate: { cert: certificate, key: certificateKey },
          insecureTls: false,
        },
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
