import assert from 'node:assert/strict';
import { formatTarget } from '../../../../src/scenario/target/targetKinds';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { brief, errorsOf, fixed, messageOf, problemOf, rowsOf, scenarioOf } from '../parsed';

const config = (...lines: string[]): string =>
  `config:\n${lines.map((line) => `  ${line}\n`).join('')}`;
const withUseCase = (name: string, ...lines: string[]): string =>
  `${config(...lines)}scenario:\n  name: ${name}\n`;

const signalr = 'Endpoint=https://a.service.signalr.net;AccessKey=${secret:key};Version=1.0;';
const webpubsub = 'Endpoint=https://a.webpubsub.azure.com;AccessKey=${secret:key};Version=1.0;';
const hub = 'http://localhost:5050/signalrbench';
const secret = 'c2VjcmV0LXNlY3JldA==';
const whole = (text: string): string =>
  text
    .replace(/HUB(?!_)/, hub)
    .replace('SIGNALR', signalr)
    .replace('PUBSUB', webpubsub)
    .replace('HUSH', secret);

/** Lines of `config` with `//` between, the use case, and all problems, or what the only one says. */
function testTargets(table: string): void {
  for (const [lines, name, expected] of rowsOf(table))
    it(`${lines!} ${name!}: ${expected!}`, () => {
      const written = config(...whole(lines!).split(' // '));
      const text = name === '' ? written : `${written}scenario: { name: ${name!} }\n`;
      if (expected!.startsWith('/'))
        assert.match(parseScenario(text).problems[0]!.message, new RegExp(expected!.slice(1, -1)));
      else assert.deepEqual(brief(text), expected === 'none' ? [] : whole(expected!).split(' + '));
    });
}

describe('the target', () => {
  // Lines of config, the kind of target that they mean, its words, and the service.
  for (const [line, kind, words, service] of rowsOf(`
    target: local | local | local | hub
    target: Local | local | local | hub
    target: HUB | hubUrl | HUB | hub
    target: [HUB, wss://b.com/x] | hubUrl | HUB, wss://b.com/x | hub
    target: "HUB, ws://b/x ," | hubUrl | HUB, ws://b/x | hub
    target: https://$\{env:HOST}/hub | hubUrl | https://$\{env:HOST}/hub | hub
    target: $\{env:HUB_URL} | hubUrl | $\{env:HUB_URL} | hub
    target: $\{env:CONNECTION_STRING} | connectionString | $\{env:CONNECTION_STRING} | signalr
    target: SIGNALR | connectionString | SIGNALR | signalr
    target: PUBSUB | connectionString | PUBSUB | webpubsub
    connectionString: SIGNALR | connectionString | SIGNALR | signalr
    webAppTarget: HUB | hubUrl | HUB | hub
    webAppTarget: http://[::1]:5050/x | hubUrl | http://[::1]:5050/x | hub
  `))
    it(`is read from ${line}`, () => {
      const text = config(whole(line!));
      assert.deepEqual(errorsOf(text), []);
      const scenario = scenarioOf(text);
      const found = [scenario.target!.kind, formatTarget(scenario.target), scenario.service];
      assert.deepEqual(found, [kind, whole(words!), service]);
    });

  it('keeps the service that is written', () => {
    assert.equal(scenarioOf(config('target: local', 'service: webpubsub')).service, 'webpubsub');
    assert.equal(scenarioOf(config(`target: ${hub}`, 'service: signalr')).service, 'signalr');
  });

  it('is a service for use cases of the REST API', () => {
    assert.equal(scenarioOf(withUseCase('restBroadcast', 'target: local')).service, 'signalr');
    const reference = withUseCase('restBroadcast', 'target: ${secret:mine}');
    assert.equal(scenarioOf(reference).target?.kind, 'connectionString');
    assert.deepEqual(errorsOf(reference), []);
  });

  it('points at what is wrong of it', () => {
    for (const url of [
      ...['localhost:5050/x', 'ftp://a/b', 'http://', 'http:///x', 'http://a:99999/x', 'local'],
      ...['http://a:b/x', 'http://a b/x', 'http://999.1.1.1/x', 'http://1.2.3.4.5/x'],
      ...['http://[:]x/x', 'nonsense!'],
    ])
      assert.ok(brief(config(`webAppTarget: ${url}`)).includes(`error hub-url "${url}"`), url);
    for (const [line, points] of [
      [`webAppTarget: ${hub}, localhost/x`, 'localhost/x'],
      [`webAppTarget: [${hub}, "a!b"]`, 'a!b'],
      ['target: [http://a/b, local]', 'local'],
    ] as const)
      assert.ok(brief(config(line)).includes(`error hub-url "${points}"`), line);
  });

  it('knows how a misspelt one was meant', () => {
    for (const [text, meant] of [
      ['http//localhost:5050/x', 'http://localhost:5050/x'],
      ['http:/localhost/x', 'http://localhost/x'],
      ['https:localhost/x', 'https://localhost/x'],
      ['WS:\\\\localhost/x', 'WS://localhost/x'],
      ['http;//${env:HOST}/x', 'http://${env:HOST}/x'],
      ['localhost:${env:PORT}/x', 'http://localhost:${env:PORT}/x'],
      ['ws:5050/x', 'http://ws:5050/x'],
      ['http/x', 'http://http/x'],
    ] as const) {
      const file = config(`webAppTarget: ${text}`);
      assert.equal(fixed(file, problemOf(file, 'hub-url')), config(`webAppTarget: ${meant}`));
    }
  });

  it('does not say what stands in a connection string that a flag has replaced', () => {
    for (const line of [
      'connectionString: Endpoint=https://xxx;AccessKey=xxx',
      'connectionString: no',
    ]) {
      const overrides = [{ path: 'config.target', value: 'local' }];
      assert.deepEqual(parseScenario(config(line), { overrides }).problems, []);
      assert.notDeepEqual(brief(config(line)), []);
    }
  });

  it('keeps the good entries of a list', () => {
    const text = config(`webAppTarget: ftp://a/b, ${hub}`);
    assert.deepEqual(scenarioOf(text).target, { kind: 'hubUrl', urls: [hub] });
  });

  testTargets(`
    target: http://localhost:5050 | | warning hub-path "http://localhost:5050"
    target: https://x.service.signalr.net | | error hub-url "https://x.service.signalr.net"
    target: https://x.service.signalr.net/client/ | | none
    target: 5 | | error wrong-type "5"
    target: {} | | error wrong-type "{}"
    target: [5, local] | | error wrong-type "5"
    target: | | error empty-value "target"
    target: [] | | error empty-value "[]"
    target: "," | | error empty-value "",""
    webAppTarget: "" | | error empty-value """"
    connectionString: SIGNALR // webAppTarget: HUB | | warning two-targets "connectionString"
    connectionString: SIGNALR // webAppTarget: HUB | restBroadcast | warning two-targets "webAppTarget"
    connectionString: SIGNALR // webAppTarget: HUB // target: local | | warning two-targets "connectionString" + warning two-targets "webAppTarget"
  `);

  it('wins over connectionString but for the REST API, and target over both', () => {
    const both = [`connectionString: ${signalr}`, `webAppTarget: ${hub}`];
    const kind = (text: string): string | undefined => scenarioOf(text).target?.kind;
    assert.equal(kind(config(...both)), 'hubUrl');
    assert.equal(kind(withUseCase('restBroadcast', ...both)), 'connectionString');
    assert.equal(kind(config(...both, 'target: local')), 'local');
  });

  it('under the wrong key is moved by a fix', () => {
    const url = config(`connectionString: ${hub}`);
    assert.deepEqual(brief(fixed(url, problemOf(url, 'connection-string'))), []);
    const string = config(`webAppTarget: ${signalr}`);
    assert.deepEqual(errorsOf(fixed(string, problemOf(string, 'hub-url'))), []);
  });
});

describe('a connection string', () => {
  testTargets(`
    connectionString: nonsense | | /not a connection string/
    connectionString: AccessKey=$\{secret:a}x | | none
    connectionString: AccessKey=xxx | | /no Endpoint/
    connectionString: Endpoint=https://a.b | | /no AccessKey/
    connectionString: Endpoint=a.b;AccessKey=xxx | | /Endpoint of this connection string has no scheme/
    connectionString: Endpoint=ws://a.b;AccessKey=xxx | | /http or https/
    connectionString: Endpoint=https://a.b;AccessKey=xxx;Port=0 | | /Port/
    connectionString: endpoint=http://localhost;accesskey=ABCDEF;Port=8888 | | none
    connectionString: Endpoint=https://a.b;AccessKey=abc=;AccessKey=def | | /AccessKey stands twice/
    connectionString: Endpoint=https://a.b;AccessKey=xxx;Version=2.0 | | /Version/
    connectionString: Endpoint=https://a.b;AccessKey=$\{env:K};Version=1.0 | | none
    connectionString: Endpoint=https://a.b;AccessKey=xxx;ClientEndpoint=c.d | | /ClientEndpoint .* no scheme/
    connectionString: Endpoint=https://a.b;AccessKey=$\{env:K};ServerEndpoint=https://c.d | | none
    connectionString: Endpoint=https://a.b;AuthType=azur | | /AuthType azur .* not known.* azure, azure\\.msi, azure\\.app, aad\\./
    connectionString: Endpoint=https://a.b;AuthType=0123456789abcdef+/= | | /The AuthType of this .* not known/
    connectionString: Endpoint=https://a.service.signalr.net;AuthType=azure.msi | | none
    connectionString: Endpoint=https://a.b;AuthType=azure.app;ClientId=a | | /needs TenantId/
    connectionString: Endpoint=https://a.b;AuthType=azure.app;ClientId=a;TenantId=b | | /ClientSecret or ClientCertPath/
    connectionString: Endpoint=https://a.b;AuthType=aad;ClientId=a;TenantId=b | | /ClientSecret or ClientCertPath/
    connectionString: $\{secret:all} | | none
    connectionString: Endpoint=$\{env:HOST};$\{secret:rest} | | none
    webAppTarget: HUB | restSendToUser | error connection-string-needed "HUB"
    target: local | restSendToUser | none
    target: HUB // service: webpubsub | | error connection-string-needed "HUB"
    service: webpubsub | | error connection-string-needed "webpubsub"
    service: webpubsub // target: $\{env:WPS} | | none
    target: PUBSUB | broadcast | error use-case-service "broadcast"
    target: PUBSUB | echo | none
    connectionString: Endpoint=https://xxx;AccessKey=xxx | | info placeholder "Endpoint=https://xxx;AccessKey=xxx"
    connectionString: Endpoint=https://signalr.example.test;AccessKey=$\{secret:key} // service: webpubsub | | none
  `);

  it('that names a host of the other service is an error where the service is written', () => {
    for (const [value, service, other] of [
      [signalr, 'webpubsub', 'signalr'],
      [signalr.replace('service.signalr.net', 'signalr.azure.cn'), 'webpubsub', 'signalr'],
      [webpubsub, 'signalr', 'webpubsub'],
      [webpubsub.replace('.com', '.us'), 'signalr', 'webpubsub'],
    ] as const) {
      const text = config(`connectionString: ${value}`, `service: ${service}`);
      assert.deepEqual(brief(text), [`error service-host "${service}"`]);
      const right = fixed(text, problemOf(text, 'service-host'));
      assert.deepEqual(errorsOf(right), []);
      assert.equal(scenarioOf(right).service, other);
    }
  });
});

describe('what stands beside the target', () => {
  testTargets(`
    connectionType: AspNet // target: local | | none
    connectionType: AspNet // webAppTarget: HUB | | none
    connectionType: AspNet // webAppTarget: http://a:5050/ | | error target-url "http://a:5050/" + warning hub-path "http://a:5050/"
    connectionType: AspNet // webAppTarget: http://a/app/?b=c/d | | error target-url "http://a/app/?b=c/d"
    connectionType: AspNet // target: [http://a/chat, "http://b/app/chat?x=1"] | | none
    connectionType: AspNet // target: [http://a/chat, http://b/news] | | error target-url "[http://a/chat, http://b/news]"
    connectionType: AspNet // webAppTarget: $\{env:TARGET} | | none
    connectionType: AspNet // webAppTarget: $\{env:SERVER}/chat,http://b/$\{env:NAME} | | none
    connectionType: AspNet // target: HUB // protocol: messagepack | | info no-effect "messagepack"
    connectionString: Endpoint=https://a.service.signalr.net;AuthType=azure | | none
    connectionString: Endpoint=http://localhost:8888;AuthType=azure | | none
    connectionString: Endpoint=http://a.service.signalr.net;AuthType=azure | | /needs an Endpoint with https/
    connectionString: Endpoint=https://a.service.signalr.net;AuthType=azure // insecureTls: true | | error connection-string "true"
    connectionString: Endpoint=https://a.service.signalr.net;AuthType=azure // caFile: a.pem | | error connection-string "a.pem"
    connectionString: Endpoint=https://a.contoso.test;AuthType=azure | | warning connection-string "Endpoint=https://a.contoso.test;AuthType=azure"
    connectionString: Endpoint=https://a.contoso.test;AuthType=azure | | /^a\\.contoso\\.test is not a host .* SIGNALR_BENCH_SIGN_IN_HOSTS/
    target: https://localhost/hub // keyFile: key.pem | | error client-certificate "key.pem"
    target: https://localhost/hub // keyFile: key.pem // certFile: cert.pem | | none
    upstream: { port: 80 } // connectionString: SIGNALR | | error upstream-url "upstream"
    upstream: { publicUrl: https://a.test } // connectionString: SIGNALR | | /write upstream\\.port,/
    upstream: { port: 80, publicUrl: https://a.test } // connectionString: SIGNALR | | none
    upstream: { port: 80 } // connectionString: Endpoint=http://localhost;ServerEndpoint=http://a.test;AccessKey=$\{env:K} | | error upstream-url "upstream"
    upstream: { port: 80 } // connectionString: Endpoint=http://localhost:8888;AccessKey=ABCD | | none
  `);
});

describe('headers and query', () => {
  const file = (value: string): string =>
    config('target: local', `headers: { X-User: '${value}' }`);

  it('have the number of the connection, and a fix for what only messages have', () => {
    for (const good of ['u-{senderIndex}', '{{sender}', '{"a":1}', '${env:USER}-{senderIndex}'])
      assert.deepEqual(brief(file(good)), [], good);
    for (const [text, meant] of [
      ['{sender}', '{senderIndex}'],
      ['u-{senderindx}', 'u-{senderIndex}'],
      ['{text:2KB}', '{senderIndex}'],
      ['at {place}', 'at {{place}'],
    ] as const) {
      const says = /is not a placeholder of headers, .* they have \{senderIndex\}/;
      assert.match(messageOf(file(text), 'placeholder'), says);
      assert.equal(fixed(file(text), problemOf(file(text), 'placeholder')), file(meant));
    }
    assert.deepEqual(errorsOf(config('target: local', "query: { a: '{group}' }")), ['placeholder']);
  });
});

describe('secrets in the file', () => {
  it('are warned about at the key, with a fix and without repeating it', () => {
    const text = config(`connectionString: Endpoint=https://a.b;AccessKey=${secret};Version=1.0;`);
    const problem = problemOf(text, 'secret-in-file');
    assert.equal(text.slice(problem.offset, problem.offset + problem.length), secret);
    assert.ok(!problem.message.includes(secret));
    assert.deepEqual(brief(fixed(text, problem)), []);
  });

  it('get no fix inside braces, where a reference needs quotes', () => {
    const text = `config: { connectionString: Endpoint=https://a.b;AccessKey=${secret} }\n`;
    assert.equal(problemOf(text, 'secret-in-file').fix, undefined);
  });

  testTargets(`
    # Endpoint=https://a.b;AccessKey=HUSH // target: local | | warning secret-in-file "HUSH"
    connectionString: Endpoint=https://a.b;AccessKey=$\{secret:a} | | none
    connectionString: Endpoint=https://a.b;AccessKey=<key> | | info placeholder "Endpoint=https://a.b;AccessKey=<key>"
    connectionString: Endpoint=https://a.b;AccessKey=*** | | info placeholder "Endpoint=https://a.b;AccessKey=***"
    connectionString: Endpoint=http://localhost:8888;AccessKey=HUSH | | none
    target: https://u:pw123@a.b/hub | | warning secret-in-file "https://u:pw123@a.b/hub"
    target: local // accessToken: abc | | warning secret-in-file "abc"
    target: local // headers: { authorization: "Bearer abc" } | | warning secret-in-file "Bearer abc"
    target: https://a.b/hub?access_token=$\{env:T} // accessToken: $\{env:T} // headers: { authorization: "Bearer $\{env:T}" } | | none
  `);
});
