import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { clientCertificate } from '../../../../src/targets/resolveEndpoint';
import { certificate, certificateKey } from '../../../fakes/rawHub';
import { targetContext } from '../../../fakes/targetContext';
import { parseScenario } from '../../../../src/scenario/parseScenario';

const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const files: Readonly<Record<string, string>> = {
  'c.pem': certificate,
  'k.pem': certificateKey,
  'both.pem': certificate + certificateKey,
  'other.pem': other.export({ type: 'pkcs8', format: 'pem' }).toString(),
  'text.pem': 'nothing',
};
const read = (certFile?: string, keyFile?: string): ReturnType<typeof clientCertificate> =>
  clientCertificate(
    { certFile, keyFile },
    undefined,
    targetContext({}, { readFile: (name) => Promise.resolve(files[name]!) }),
  );

describe('clientCertificate', () => {
  it('is read from one file or two, or not there', async () => {
    assert.equal(await read(), undefined);
    assert.deepEqual(await read('c.pem', 'k.pem'), { cert: certificate, key: certificateKey });
    assert.equal((await read('both.pem'))?.key, files['both.pem']);
  });

  it('says what is wrong with the files', async () => {
    for (const [cert, key, message] of [
      [undefined, 'k.pem', /keyFile is given without certFile/],
      ['text.pem', 'k.pem', /certFile text\.pem holds no certificate/],
      ['c.pem', undefined, /holds no private key; name the file that does as keyFile/],
      ['c.pem', 'text.pem', /keyFile text\.pem holds no private key/],
      ['c.pem', 'other.pem', /do not belong together, or keyPassword is missing/],
    ] as const) {
      await assert.rejects(read(cert, key), { code: 'client-certificate', message });
    }
  });

  it('is named in the scenario, its password by reference', () => {
    const { scenario, problems } = parseScenario(
      'config:\n  target: https://a/h\n  certFile: c.pem\n  keyFile: k.pem\n  keyPassword: ${secret:key}\n',
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(
      [scenario!.certFile, scenario!.keyFile, scenario!.keyPassword],
      ['c.pem', 'k.pem', '${secret:key}'],
    );
  });
});
