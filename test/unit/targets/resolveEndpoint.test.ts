import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { generateKeyPairSync } from 'node:crypto';
import { ExpectedError } from '../../../src/base/expectedError';
import type { Scenario } from '../../../src/scenario/scenario';
import type { TargetSpec } from '../../../src/scenario/target/targetKinds';
import { openTarget } from '../../../src/targets/openTarget';
import {
  resolveEndpoint,
  clientCertificate,
  proxySettings,
} from '../../../src/targets/resolveEndpoint';
import { secretVariable } from '../../../src/scenario/target/references';
import type { OpenTarget, TargetContext } from '../../../src/targets/target';
import { shownUrl } from '../../../src/wire/connectFailure';
import { scenarioWith } from '../capacity/scenarios';
import { certificate, certificateKey } from '../../fakes/rawHub';
import { targetContext } from '../../fakes/targetContext';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { ProxySettings } from '../../../src/base/endpoint';

const values: Readonly<Record<string, string>> = {
  'secret token': 'T0ken',
  'env EMPTY': ' ',
  'env HOST': 'hub.test:81',
  'env URLS': 'http://a.test/h, wss://b.test/h?k=1',
  'secret service': 'Endpoint=http://localhost;AccessKey=T0ken',
  'secret url': 'http://localhost/a',
  'secret braces': '{senderIndex}{{',
  'secret odd': '${env:HOST}',
  'secret bad': 'ht!tp:/T0ken',
};
const context: TargetContext = {
  reference: (kind, name) => values[`${kind} ${name}`],
  serverScript: 'none.js',
  readFile: (path) => readFile(path, 'utf8'),
};

const hub = (...urls: string[]): TargetSpec => ({ kind: 'hubUrl', urls });

/** The failure of opening a target, which shows no secret. */
async function refused(changes: Partial<Scenario>): Promise<ExpectedError> {
  const outcome = await openTarget(scenarioWith(changes), context).catch((error: unknown) => error);
  assert.ok(outcome instanceof ExpectedError, String(outcome));
  assert.doesNotMatch(outcome.message, /T0ken/);
  return outcome;
}

function open(changes: Partial<Scenario>): Promise<OpenTarget> {
  return openTarget(scenarioWith(changes), context);
}

describe('resolving an endpoint', () => {
  it('refuses local addresses that no connection could come from', async () => {
    const whyNot = async (url: string, ...localAddresses: string[]): Promise<string> => {
      const { code, message } = await refused({ target: hub(url), localAddresses });
      assert.equal(code, 'local-address');
      return message;
    };
    assert.match(
      await whyNot('http://a.test/h', '1:2:3'),
      /^"1:2:3" in localAddresses is not an IP/,
    );
    assert.match(
      await whyNot('http://[::1]:1/h', '127.0.0.1'),
      /^Connections from 127\.0\.0\.1 .* cannot reach ::1, .* write IPv6 addresses/,
    );
    assert.match(
      await whyNot('http://127.0.0.1:1/h', '127.0.0.1', '::1'),
      /^Connections from ::1 .* cannot reach 127\.0\.0\.1, .* write IPv4 addresses/,
    );
    const localAddresses = ['127.0.0.1'];
    for (const url of ['http://127.0.0.1:1/h', 'http://a.test/h']) {
      const { endpoint } = await open({ target: hub(url), localAddresses });
      assert.deepEqual(endpoint.localAddresses, localAddresses);
    }
  });

  it('refuses local addresses where a proxy connects in place of them', async () => {
    const proxied: TargetContext = {
      ...context,
      reference: (_kind, name) => (name === 'HTTP_PROXY' ? 'http://proxy.test:3128' : undefined),
    };
    const resolve = (url: string): Promise<unknown> =>
      resolveEndpoint([url], scenarioWith({ localAddresses: ['127.0.0.1'] }), proxied);
    await assert.rejects(
      resolve('http://a.test/h'),
      /^ExpectedError: Connections to a\.test go through a proxy, .* name a\.test in NO_PROXY\.$/,
    );
    await resolve('http://127.0.0.1/h');
  });

  it('puts the values in everywhere, and nothing twice', async () => {
    const { endpoint } = await open({
      target: hub('https://${env:HOST}/hub?key=${secret:token}'),
      headers: { 'X-Key': 'k ${secret:token} ${secret:token}', 'X-Odd': '${secret:odd}' },
      query: { tenant: '${env:HOST}' },
      accessToken: '${secret:token}',
    });
    assert.deepEqual(endpoint, {
      urls: ['https://hub.test:81/hub?key=T0ken'],
      headers: { 'X-Key': 'k T0ken T0ken', 'X-Odd': '${env:HOST}' },
      query: { tenant: 'hub.test:81' },
      accessToken: 'T0ken',
      insecureTls: false,
      skipNegotiation: false,
    });
  });

  it('keeps the place of the number of the connection, but not one in a value', async () => {
    const { endpoint } = await open({
      target: hub('https://a.test/hub'),
      headers: { 'X-User': '${env:HOST}-{senderIndex}', 'X-Same': '{{${secret:braces}' },
      query: { room: '{senderIndex}' },
    });
    assert.deepEqual(endpoint.headers, { 'X-Same': '{{senderIndex}{{' });
    const number = { name: 'senderIndex' };
    assert.deepEqual(endpoint.personal, {
      headers: { 'X-User': ['hub.test:81-', number] },
      query: { room: [number] },
    });
  });

  it('shows URLs without user, query and fragment', async () => {
    const { url, hostsBeyond } = await open({
      target: hub('https://me:T0ken@${env:HOST}/hub?key=${secret:token}#x', 'http://[::1]:5/h'),
    });
    assert.equal(url, 'https://hub.test:81/hub, http://[::1]:5/h');
    assert.deepEqual(hostsBeyond, ['hub.test:81']);
    assert.equal(shownUrl('T0ken'), '(not a URL)');
  });

  it('names every missing reference once and where to set it, never a value', async () => {
    const { code, message } = await refused({
      target: hub('https://${env:NONE}/${secret:token}'),
      headers: { a: '${secret:api-key} ${secret:api-key}' },
      query: { b: '${env:NONE}' },
      accessToken: '${secret:other}',
    });
    assert.equal(code, 'missing-reference');
    assert.equal(
      message,
      'These values are referred to, but not set: environment variable NONE, ' +
        'secret api-key (environment variable SIGNALR_BENCH_SECRET_API_KEY), ' +
        'secret other (environment variable SIGNALR_BENCH_SECRET_OTHER).',
    );
    assert.equal(secretVariable('a-b_c1'), 'SIGNALR_BENCH_SECRET_A_B_C1');
  });

  it('says that a value is empty, where nothing else is a target', async () => {
    for (const target of [
      hub('${env:EMPTY}'),
      { kind: 'connectionString', value: '${env:EMPTY}' } as const,
    ]) {
      const { code, message } = await refused({ target, service: 'signalr' });
      assert.equal(code, 'missing-reference');
      assert.match(message, /, but empty: environment variable EMPTY\./);
    }
  });

  it('takes ws for http and several URLs from one value', async () => {
    const { endpoint } = await open({ target: hub('ws://127.0.0.1:5/x', '${env:URLS}') });
    assert.deepEqual(endpoint.urls, [
      'http://127.0.0.1:5/x',
      'http://a.test/h',
      'https://b.test/h?k=1',
    ]);
  });

  it('takes the bare endpoint of a service for no hub, and says what to write', async () => {
    for (const [url, service, name] of [
      ['https://x.service.signalr.net', 'Azure SignalR Service', 'AZURE_SIGNALR'],
      ['https://x.webpubsub.azure.com/', 'Azure Web PubSub', 'AZURE_WEBPUBSUB'],
    ] as const) {
      const { code, message } = await refused({ target: hub(url) });
      assert.equal(code, 'target-url');
      assert.match(message, new RegExp(`endpoint of ${service}, not a hub: .*\\{env:${name}\\}`));
    }
  });

  it('refuses what is no hub URL without repeating it', async () => {
    for (const url of ['${secret:bad}', '', 'T0ken', 'ftp://T0ken@x/', 'javascript:T0ken'])
      assert.equal((await refused({ target: hub(url) })).code, 'target-url');
  });

  it('reads the file of an authority and refuses one without a certificate', async () => {
    const target = hub('https://x.test/');
    const caFile = 'test/fixtures/tls/localhost.crt';
    const { endpoint } = await open({ target, caFile });
    assert.match(endpoint.ca!, /BEGIN CERTIFICATE/);
    const { code, message } = await refused({ target, caFile: 'test/fixtures/tls/localhost.key' });
    assert.equal(code, 'ca-file');
    assert.match(message, /^caFile test\/fixtures\/tls\/localhost\.key holds no certificate/);
  });

  it('hands flags on, and the transport where it is not the usual one', async () => {
    const flags = { insecureTls: true, skipNegotiation: true };
    for (const transport of ['LongPolling', 'Websockets'] as const) {
      const scenario = scenarioWith({ ...flags, transport });
      const endpoint = await resolveEndpoint(['http://x/'], scenario, context);
      assert.deepEqual([endpoint.insecureTls, endpoint.skipNegotiation], [true, true]);
      assert.equal(endpoint.transport, transport === 'LongPolling' ? transport : undefined);
    }
  });
});

describe('opening a target', () => {
  it('says what to do when there is none', async () => {
    await assert.rejects(open({}), { code: 'no-target' });
  });

  const service = (value: string): TargetSpec => ({ kind: 'connectionString', value });
  const text = 'Endpoint=https://a.service.signalr.net;AccessKey=${secret:token};Version=1.0;';

  it('of a service signs tokens with the key of its connection string, which is a secret', async () => {
    const entries = [{ name: 'restBroadcast', parameters: {} } as never];
    const opened = await open({ target: service(text), service: 'signalr', hub: 'chat', entries });
    assert.deepEqual(opened.endpoint.urls, ['https://a.service.signalr.net/client/?hub=chat']);
    assert.deepEqual(opened.endpoint.service, {
      kind: 'signalr',
      hub: 'chat',
      audience: 'https://a.service.signalr.net',
      restUrl: 'https://a.service.signalr.net',
      accessKey: 'T0ken',
    });
    assert.ok(opened.secrets.includes('T0ken'));
    assert.equal(opened.url, 'https://a.service.signalr.net (hub chat)');
    assert.deepEqual(opened.hostsBeyond, ['a.service.signalr.net']);
  });

  it('takes the text of a reference for what it is: a URL or a connection string', async () => {
    const entries = [{ name: 'restBroadcast', parameters: {} } as never];
    const referring = (url: string): Partial<Scenario> => {
      return { target: hub(url), service: 'hub', hub: 'chat', entries };
    };
    const opened = await open(referring('${secret:service}'));
    assert.equal(opened.kind, 'connectionString');
    assert.equal(opened.endpoint.service?.kind, 'signalr');
    assert.equal((await open(referring('${secret:url}'))).kind, 'hubUrl');
  });

  it('of Web PubSub needs no negotiation', async () => {
    const target = service('Endpoint=http://localhost:8080;AccessKey=${secret:token}');
    const { endpoint, hostsBeyond } = await open({
      target,
      service: 'webpubsub',
      hub: 'chat',
      entries: [{ name: 'sendToGroup', parameters: {} }],
    });
    assert.deepEqual(endpoint.urls, ['http://localhost:8080/client/hubs/chat']);
    assert.equal(endpoint.skipNegotiation, true);
    assert.deepEqual(hostsBeyond, []);
  });

  it('refuses what is not a connection string, the other service, and strangers who want a sign-in', async () => {
    for (const [value, code] of [
      ['${secret:token}', 'connection-string'],
      ['Endpoint=https://a.webpubsub.azure.com;AccessKey=T0ken', 'service'],
      ['Endpoint=https://a.service.signalr.net.evil.test;AuthType=azure', 'connection-string'],
      ['${secret:absent}', 'missing-reference'],
    ] as const)
      assert.equal((await refused({ target: service(value), service: 'signalr' })).code, code);
    const target = service('Endpoint=https://a.service.signalr.net;AccessKey=T0ken');
    assert.equal((await refused({ target, service: 'webpubsub' })).code, 'service');
  });
});

const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const files: Readonly<Record<string, string>> = {
  'c.pem': certificate,
  'k.pem': certificateKey,
  'both.pem': certificate + certificateKey,
  'other.pem': other.export({ type: 'pkcs8', format: 'pem' }).toString(),
  'text.pem': 'nothing',
};
const readCertificate = (
  certFile?: string,
  keyFile?: string,
): ReturnType<typeof clientCertificate> =>
  clientCertificate(
    { certFile, keyFile },
    undefined,
    targetContext({}, { readFile: (name) => Promise.resolve(files[name]!) }),
  );

describe('clientCertificate', () => {
  it('is read from one file or two, or not there', async () => {
    assert.equal(await readCertificate(), undefined);
    assert.deepEqual(await readCertificate('c.pem', 'k.pem'), {
      cert: certificate,
      key: certificateKey,
    });
    assert.equal((await readCertificate('both.pem'))?.key, files['both.pem']);
  });

  it('says what is wrong with the files', async () => {
    for (const [cert, key, message] of [
      [undefined, 'k.pem', /keyFile is given without certFile/],
      ['text.pem', 'k.pem', /certFile text\.pem holds no certificate/],
      ['c.pem', undefined, /holds no private key; name the file that does as keyFile/],
      ['c.pem', 'text.pem', /keyFile text\.pem holds no private key/],
      ['c.pem', 'other.pem', /do not belong together, or keyPassword is missing/],
    ] as const) {
      await assert.rejects(readCertificate(cert, key), { code: 'client-certificate', message });
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

const proxiedHub = 'https://hub.test/h';
const readProxies = (
  environment: Readonly<Record<string, string>>,
  url = proxiedHub,
): ProxySettings | undefined => proxySettings([url], (name) => environment[name]);

describe('proxySettings', () => {
  it('takes proxies and exceptions from the environment, lower case first', () => {
    assert.equal(readProxies({}), undefined);
    assert.equal(readProxies({ NO_PROXY: 'a' }), undefined);
    assert.deepEqual(readProxies({ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'A.test, b:80  c' }), {
      https: 'http://p:1/',
      except: ['a.test', 'b:80', 'c'],
    });
    const both = { HTTP_PROXY: 'https://q', http_proxy: 'p:3128' };
    assert.deepEqual(readProxies(both), { http: 'http://p:3128/', except: [] });
  });

  it('refuses what is no proxy only where it is needed, and does not repeat it', () => {
    for (const bad of ['http://me:S3cret@', 'socks5://me:S3cret@p', 'ht!tp://S3cret', 'http://:']) {
      assert.throws(
        () => readProxies({ HTTPS_PROXY: bad }),
        (error: unknown) => {
          assert.ok(error instanceof ExpectedError, bad);
          assert.match(error.message, /^The environment variable HTTPS_PROXY is not a URL/);
          assert.doesNotMatch(error.message, /S3cret/);
          return true;
        },
      );
      assert.equal(readProxies({ HTTPS_PROXY: bad }, 'http://hub.test/h'), undefined);
      assert.equal(readProxies({ HTTPS_PROXY: bad }, 'https://localhost/h'), undefined);
      assert.equal(readProxies({ HTTPS_PROXY: bad, NO_PROXY: 'hub.test' }), undefined);
    }
  });

  it('makes user and password secrets of the run', async () => {
    const target = await openTarget(
      scenarioWith({ target: { kind: 'hubUrl', urls: [proxiedHub] } }),
      targetContext({ HTTPS_PROXY: 'http://somebody:p%40ssword@p' }),
    );
    for (const secret of ['somebody', 'p%40ssword', 'p@ssword'])
      assert.ok(target.secrets.includes(secret), secret);
    assert.equal(target.url, proxiedHub);
  });
});
