import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import type { ProxySettings } from '../../../../src/base/endpoint';
import { openTarget } from '../../../../src/targets/openTarget';
import { proxySettings } from '../../../../src/targets/resolveEndpoint';
import { targetContext } from '../../../fakes/targetContext';
import { scenarioWith } from '../../capacity/scenarios';

const hub = 'https://hub.test/h';
const read = (
  environment: Readonly<Record<string, string>>,
  url = hub,
): ProxySettings | undefined => proxySettings([url], (name) => environment[name]);

describe('proxySettings', () => {
  it('takes proxies and exceptions from the environment, lower case first', () => {
    assert.equal(read({}), undefined);
    assert.equal(read({ NO_PROXY: 'a' }), undefined);
    assert.deepEqual(read({ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'A.test, b:80  c' }), {
      https: 'http://p:1/',
      except: ['a.test', 'b:80', 'c'],
    });
    const both = { HTTP_PROXY: 'https://q', http_proxy: 'p:3128' };
    assert.deepEqual(read(both), { http: 'http://p:3128/', except: [] });
  });

  it('refuses what is no proxy only where it is needed, and does not repeat it', () => {
    for (const bad of ['http://me:S3cret@', 'socks5://me:S3cret@p', 'ht!tp://S3cret', 'http://:']) {
      assert.throws(
        () => read({ HTTPS_PROXY: bad }),
        (error: unknown) => {
          assert.ok(error instanceof ExpectedError, bad);
          assert.match(error.message, /^The environment variable HTTPS_PROXY is not a URL/);
          assert.doesNotMatch(error.message, /S3cret/);
          return true;
        },
      );
      assert.equal(read({ HTTPS_PROXY: bad }, 'http://hub.test/h'), undefined);
      assert.equal(read({ HTTPS_PROXY: bad }, 'https://localhost/h'), undefined);
      assert.equal(read({ HTTPS_PROXY: bad, NO_PROXY: 'hub.test' }), undefined);
    }
  });

  it('makes user and password secrets of the run', async () => {
    const target = await openTarget(
      scenarioWith({ target: { kind: 'hubUrl', urls: [hub] } }),
      targetContext({ HTTPS_PROXY: 'http://somebody:p%40ssword@p' }),
    );
    for (const secret of ['somebody', 'p%40ssword', 'p@ssword'])
      assert.ok(target.secrets.includes(secret), secret);
    assert.equal(target.url, hub);
  });
});
