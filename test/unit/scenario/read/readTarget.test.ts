import assert from 'node:assert/strict';
import { formatTarget } from '../../../../src/scenario/target/targetKinds';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { brief, errorsOf, fixed, problemOf, rowsOf, scenarioOf } from '../parsed';

const config = (...lines: string[]): string =>
  `config:\n${lines.map((line) => `  ${line}\n`).join('')}`;
const withUseCase = (name: string, ...lines: string[]): string =>
  `${config(...lines)}scenario:\n  name: ${name}\n`;

const signalr = 'Endpoint=https://a.service.signalr.net;AccessKey=${secret:key};Version=1.0;';
const webpubsub = 'Endpoint=https://a.webpubsub.azure.com;AccessKey=${secret:key};Version=1.0;';
const hub = 'http://localhost:5050/signalrbench';

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
      const whole = (text: string): string =>
        text
          .replace(/HUB(?!_)/, hub)
          .replace('SIGNALR', signalr)
          .replace('PUBSUB', webpubsub);
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
    const written = [
      'connectionString: Endpoint=https://xxx;AccessKey=xxx',
      'connectionString: no',
    ];
    for (const line of written) {
      const { problems } = parseScenario(config(line), {
        overrides: [{ path: 'config.target', value: 'local' }],
      });
      assert.deepEqual(problems, []);
      assert.notDeepEqual(brief(config(line)), []);
    }
  });

  it('keeps the good entries of a list', () => {
    const text = config(`webAppTarget: ftp://a/b, ${hub}`);
    assert.deepEqual(scenarioOf(text).target, { kind: 'hubUrl', urls: [hub] });
  });

  it('without a path is a warning', () => {
    assert.deepEqual(brief(config('target: http://localhost:5050')), [
      'warning hub-path "http://localhost:5050"',
    ]);
  });

  it('that is the endpoint of a service is an error, its clients come in where they are sent', () => {
    assert.deepEqual(errorsOf(config('target: https://x.service.signalr.net')), ['hub-url']);
    assert.deepEqual(errorsOf(config('target: https://x.service.signalr.net/client/')), []);
  });

  it('that is not a text or names nothing is an error', () => {
    for (const wrong of ['target: 5', 'target: {}', 'target: [5, local]'])
      assert.deepEqual(errorsOf(config(wrong)), ['wrong-type']);
    for (const empty of ['target:', 'target: []', 'target: ","', 'webAppTarget: ""'])
      assert.deepEqual(errorsOf(config(empty)), ['empty-value']);
  });

  it('under the wrong key is moved by a fix', () => {
    const url = config(`connectionString: ${hub}`);
    assert.deepEqual(brief(fixed(url, problemOf(url, 'connection-string'))), []);
    const string = config(`webAppTarget: ${signalr}`);
    assert.deepEqual(errorsOf(fixed(string, problemOf(string, 'hub-url'))), []);
  });
});

describe('two targets', () => {
  it('of a hub: webAppTarget wins over connectionString, with a warning', () => {
    const text = config(`connectionString: ${signalr}`, `webAppTarget: ${hub}`);
    assert.equal(scenarioOf(text).target?.kind, 'hubUrl');
    assert.deepEqual(brief(text), ['warning two-targets "connectionString"']);
  });

  it('of a REST use case: connectionString wins', () => {
    const text = withUseCase(
      'restBroadcast',
      `connectionString: ${signalr}`,
      `webAppTarget: ${hub}`,
    );
    assert.equal(scenarioOf(text).target?.kind, 'connectionString');
    assert.deepEqual(brief(text), ['warning two-targets "webAppTarget"']);
  });

  it('with target: it wins over both', () => {
    const text = config(`connectionString: ${signalr}`, `webAppTarget: ${hub}`, 'target: local');
    assert.equal(scenarioOf(text).target?.kind, 'local');
    assert.equal(brief(text).length, 2);
  });
});

describe('a connection string', () => {
  for (const [line, problem] of [
    ['nonsense', /not a connection string/],
    ['AccessKey=${secret:a}x', undefined],
    ['AccessKey=xxx', /no Endpoint/],
    ['Endpoint=https://a.b', /no AccessKey/],
    ['Endpoint=https://a.b;AuthType=azure', undefined],
    ['Endpoint=a.b;AccessKey=xxx', /Endpoint of this connection string has no scheme/],
    ['Endpoint=ws://a.b;AccessKey=xxx', /http or https/],
    ['Endpoint=https://a.b;AccessKey=xxx;Port=0', /Port/],
    ['endpoint=http://localhost;accesskey=ABCDEF;Port=8888', undefined],
    ['Endpoint=https://a.b;AccessKey=abc=;AccessKey=def', /AccessKey stands twice/],
    ['Endpoint=https://a.b;AccessKey=abc;Version=2.0', /Version/],
    ['Endpoint=https://a.b;AccessKey=abc;Version=1.0', undefined],
    ['Endpoint=https://a.b;AccessKey=abc;ClientEndpoint=c.d', /ClientEndpoint .* no scheme/],
    ['Endpoint=https://a.b;AccessKey=abc;ServerEndpoint=https://c.d', undefined],
    [
      'Endpoint=https://a.b;AuthType=azur',
      /AuthType azur .* not known.* azure, azure\.msi, azure\.app, aad\./,
    ],
    ['Endpoint=https://a.b;AuthType=0123456789abcdef+/=', /The AuthType of this .* not known/],
    ['Endpoint=https://a.b;AuthType=azure.msi', undefined],
    ['Endpoint=https://a.b;AuthType=azure.app;ClientId=a', /needs TenantId/],
    [
      'Endpoint=https://a.b;AuthType=azure.app;ClientId=a;TenantId=b',
      /ClientSecret or ClientCertPath/,
    ],
    ['Endpoint=https://a.b;AuthType=aad;ClientId=a;TenantId=b', /ClientSecret or ClientCertPath/],
    ['${secret:all}', undefined],
    ['Endpoint=${env:HOST};${secret:rest}', undefined],
  ] as const) {
    it(`${line} is ${problem === undefined ? 'good' : `wrong: ${String(problem)}`}`, () => {
      const text = config(`connectionString: ${line}`);
      if (problem === undefined) assert.deepEqual(errorsOf(text), []);
      else assert.match(problemOf(text, 'connection-string').message, problem);
    });
  }

  it('is needed for use cases of the REST API', () => {
    assert.ok(
      brief(withUseCase('restSendToUser', `webAppTarget: ${hub}`)).includes(
        `error connection-string-needed "${hub}"`,
      ),
    );
    assert.deepEqual(errorsOf('scenario:\n  name: restSendToUser\n'), ['connection-string-needed']);
    assert.deepEqual(errorsOf(withUseCase('restSendToUser', 'target: local')), []);
  });

  it('is needed for Web PubSub', () => {
    const text = config(`target: ${hub}`, 'service: webpubsub');
    assert.deepEqual(errorsOf(text), ['connection-string-needed']);
    assert.deepEqual(errorsOf(config('service: webpubsub')), ['connection-string-needed']);
    assert.deepEqual(errorsOf(config('service: webpubsub', 'target: ${env:WPS}')), []);
  });
});

describe('the use case and the service', () => {
  it('must fit', () => {
    const text = withUseCase('broadcast', `target: ${webpubsub}`);
    assert.ok(brief(text).includes('error use-case-service "broadcast"'));
    assert.deepEqual(errorsOf(withUseCase('echo', `target: ${webpubsub}`)), []);
  });

  it('of ASP.NET SignalR need the name of one hub behind the URL of a server, or no target', () => {
    const errors = (...lines: string[]): string[] =>
      errorsOf(config('connectionType: AspNet', ...lines));
    assert.deepEqual(errors(), []);
    assert.deepEqual(errors('target: local'), []);
    assert.deepEqual(errors(`webAppTarget: ${hub}`), []);
    for (const nameless of ['http://a:5050', 'http://a:5050/', 'http://a/app/?b=c/d'])
      assert.deepEqual(errors(`webAppTarget: ${nameless}`), ['target-url'], nameless);
    assert.deepEqual(errors('target: [http://a/chat, "http://b/app/chat?x=1"]'), []);
    assert.deepEqual(errors('target: [http://a/chat, http://b/news]'), ['target-url']);
    assert.deepEqual(errors('webAppTarget: ${env:HUB}'), []);
    assert.deepEqual(errors('webAppTarget: ${env:SERVER}/chat,http://b/${env:NAME}'), []);
    assert.deepEqual(
      brief(config('connectionType: AspNet', `target: ${hub}`, 'protocol: messagepack')),
      ['info no-effect "messagepack"'],
    );
  });

  it('do not show a sign-in where a run would not', () => {
    const signIn = (endpoint: string): string =>
      `connectionString: Endpoint=${endpoint};AuthType=azure;Version=1.0`;
    const own = signIn('https://a.service.signalr.net');
    assert.deepEqual(brief(config(own)), []);
    assert.deepEqual(brief(config(signIn('http://localhost:8888'))), []);
    const open = config(signIn('http://a.service.signalr.net'));
    assert.match(problemOf(open, 'connection-string').message, /needs an Endpoint with https/);
    assert.deepEqual(brief(config(own, 'insecureTls: true')), ['error connection-string "true"']);
    assert.deepEqual(brief(config(own, 'caFile: a.pem')), ['error connection-string "a.pem"']);
    const foreign = problemOf(config(signIn('https://a.contoso.test')), 'connection-string');
    assert.equal(foreign.severity, 'warning');
    assert.match(foreign.message, /^a\.contoso\.test is not a host .* SIGNALR_BENCH_SIGN_IN_HOSTS/);
  });

  it('want the certificate to a key', () => {
    const key = ['target: https://localhost/hub', 'keyFile: key.pem'];
    assert.deepEqual(brief(config(...key)), ['error client-certificate "key.pem"']);
    assert.deepEqual(brief(config(...key, 'certFile: cert.pem')), []);
  });

  it('with an upstream handler need its port and a public URL unless the service runs here', () => {
    const lines = ['upstream: { port: 80 }', `connectionString: ${signalr}`];
    assert.deepEqual(errorsOf(config(...lines)), ['upstream-url']);
    const noPort = ['upstream: { publicUrl: https://a.test }', lines[1]!];
    assert.match(problemOf(config(...noPort), 'upstream-url').message, /write upstream\.port,/);
    const both = ['upstream: { port: 80, publicUrl: https://a.test }', lines[1]!];
    assert.deepEqual(errorsOf(config(...both)), []);
    const gateway = 'Endpoint=http://localhost;ServerEndpoint=http://a.test;AccessKey=ABCD';
    assert.deepEqual(errorsOf(config(lines[0]!, `connectionString: ${gateway}`)), ['upstream-url']);
    lines[1] = 'connectionString: Endpoint=http://localhost:8888;AccessKey=ABCD';
    assert.deepEqual(errorsOf(config(...lines)), []);
  });
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
      const problem = problemOf(file(text), 'placeholder');
      assert.match(
        problem.message,
        /is not a placeholder of headers, .* they have \{senderIndex\}/,
      );
      assert.equal(fixed(file(text), problem), file(meant));
    }
    assert.deepEqual(errorsOf(config('target: local', "query: { a: '{group}' }")), ['placeholder']);
  });
});

describe('secrets in the file', () => {
  const secret = 'c2VjcmV0LXNlY3JldA==';

  it('are warned about at the key, with a fix and without repeating it', () => {
    const text = config(`connectionString: Endpoint=https://a.b;AccessKey=${secret};Version=1.0;`);
    const problem = problemOf(text, 'secret-in-file');
    assert.equal(text.slice(problem.offset, problem.offset + problem.length), secret);
    assert.ok(!problem.message.includes(secret));
    assert.deepEqual(brief(fixed(text, problem)), []);
  });

  it('in comments too', () => {
    const text = `# Endpoint=https://a.b;AccessKey=${secret}\n${config('target: local')}`;
    assert.deepEqual(brief(text), [`warning secret-in-file "${secret}"`]);
  });

  it('get no fix inside braces, where a reference needs quotes', () => {
    const text = `config: { connectionString: Endpoint=https://a.b;AccessKey=${secret} }\n`;
    assert.equal(problemOf(text, 'secret-in-file').fix, undefined);
  });

  it('are none of a placeholder, a reference, or a service on this machine', () => {
    for (const key of ['xxx', '${secret:a}', '<key>', '***']) {
      const text = config(`connectionString: Endpoint=https://a.b;AccessKey=${key}`);
      assert.ok(!brief(text).some((problem) => problem.includes('secret-in-file')), key);
    }
    const text = config(`connectionString: Endpoint=http://localhost:8888;AccessKey=${secret}`);
    assert.deepEqual(brief(text), []);
  });

  it('of other kinds are tokens, authorization headers and passwords in URLs', () => {
    const literal = config(
      'target: https://u:pw123@a.b/hub',
      'accessToken: abc',
      'headers: { authorization: "Bearer abc" }',
    );
    assert.equal(brief(literal).filter((line) => line.includes('secret-in-file')).length, 3);
    const referenced = config(
      'target: https://a.b/hub?access_token=${env:T}',
      'accessToken: ${env:T}',
      'headers: { authorization: "Bearer ${env:T}" }',
    );
    assert.deepEqual(brief(referenced), []);
  });

  it('placeholders are pointed out', () => {
    const text = config('connectionString: Endpoint=https://xxx;AccessKey=xxx');
    assert.deepEqual(brief(text), ['info placeholder "Endpoint=https://xxx;AccessKey=xxx"']);
  });

  it('that name a host of the other service are an error where it is written', () => {
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
    const gateway = 'Endpoint=https://signalr.example.test;AccessKey=${secret:key}';
    assert.deepEqual(errorsOf(config(`connectionString: ${gateway}`, 'service: webpubsub')), []);
  });
});
