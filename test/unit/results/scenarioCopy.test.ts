import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { redactScenario } from '../../../src/results/completeResult';
import { redactedKeys, scenarioCopy } from '../../../src/results/scenarioCopy';

describe('scenarioCopy', () => {
  it('leaves a file without secrets untouched', () => {
    const text = '# mine\nmode:   simple\nconfig: {connections: 10, target: http://h/x}  # ten\n';
    assert.equal(scenarioCopy(text), text);
  });

  it('writes what the command line set, and drops the target it replaced', () => {
    const text = 'config:\n  webAppTarget: http://h/x # old\n  connections: 10\n';
    const copy = scenarioCopy(text, [
      { path: 'config.target', value: 'local' },
      { path: 'config.connections', value: '500' },
      { path: 'scenario.parameters.messageSize', value: '4KB' },
    ]);
    assert.equal(
      copy,
      'config:\n  connections: 500\n  target: local\nscenario:\n  parameters:\n    messageSize: 4KB\n',
    );
  });

  it('writes that a search was asked for, or left out', () => {
    const open = { path: 'search', value: '' };
    const budget = { path: 'search.budget', value: '2m' };
    const file = 'config: {}\n';
    assert.deepEqual(parse(scenarioCopy(file, [open])), { config: {}, search: {} });
    assert.deepEqual(parse(scenarioCopy(file, [open, budget])), {
      config: {},
      search: { budget: '2m' },
    });
    const searching = 'search: { of: rate } # mine\n';
    assert.deepEqual(parse(scenarioCopy(searching, [open])), { search: { of: 'rate' } });
    assert.deepEqual(parse(scenarioCopy(file + searching, [{ ...open, value: 'false' }])), {
      config: {},
    });
  });

  it('sets keys below a key without a value and in an empty file', () => {
    const set = [{ path: 'config.connections', value: '5' }];
    assert.equal(scenarioCopy('config:\n', set), 'config:\n  connections: 5\n');
    assert.equal(scenarioCopy('', set), 'config:\n  connections: 5\n');
  });

  it('sets keys with dots in their names and entries of a mix', () => {
    const copy = scenarioCopy('scenarios:\n  - name: echo\n', [
      { path: 'slo.p99.9', value: '1s' },
      { path: 'config.headers.X-A.B', value: '${env:A}' },
      { path: 'config.headers.Accept', value: 'x: y' },
      { path: 'scenarios.0.senders', value: '5' },
    ]);
    assert.deepEqual(parse(copy), {
      scenarios: [{ name: 'echo', senders: 5 }],
      slo: { 'p99.9': '1s' },
      config: { headers: { 'X-A.B': '${env:A}', Accept: 'x: y' } },
    });
  });

  it('keeps no literal secret, wherever it stands', () => {
    const copy = scenarioCopy(
      [
        '# connectionString: Endpoint=https://x;AccessKey=s3cret1;',
        'config:',
        '  connectionString: "Endpoint=https://x;AccessKey=s3cret2;Version=1.0"',
        '  accessToken: s3cret3',
        '  headers: { Authorization: Bearer s3cret4, X-Tenant: s3cret11, X-Pin: 4711, Accept: text/plain }',
        '  query: { code: s3cret5, pin: !!int 4711, blank: "" }',
        '  #  X-Api-Key: "s3cret12"',
        '  upstream: { publicUrl: "https://me:s3cret6@host/up?code=s3cret7" }',
        '  target: [ "https://host/hub?access_token=s3cret8" ]',
        '  password: s3cret9 # and Bearer s3cret10',
      ].join('\n'),
    );
    assert.doesNotMatch(copy, /s3cret|4711/);
    assert.match(copy, /X-Tenant: \(redacted\), X-Pin: \(redacted\), Accept: text\/plain/);
    assert.match(copy, /pin: \(redacted\), blank: ""/);
    assert.match(copy, /Endpoint=https:\/\/x;AccessKey=\(redacted\);Version=1.0/);
  });

  it('keeps references', () => {
    const text =
      'config:\n  connectionString: ${secret:conn}\n  headers: { Authorization: "Bearer ${env:T}" }\n';
    assert.equal(scenarioCopy(text), text);
  });

  it('keeps all of a session that is no secret, whatever it is called', () => {
    const text = [
      'config: { target: local }',
      'scenario:',
      '  name: session',
      '  parameters:',
      '    sessionInterval: 30s',
      '    sharedGroups: tokens',
      '    steps:',
      '      - call: SignIn',
      '        arguments: [{ password: "{identity.password}" }]',
      "        keep: { token: '$.token', sessionId: '$.id' }",
      '      - call: Ask',
      '        arguments: [{ token: "Bearer {token}", sessionId: "{sessionId}" }]',
      '',
    ].join('\n');
    assert.equal(scenarioCopy(text), text);
    const literal = text.replace('Bearer {token}', 'literal {token}');
    assert.match(scenarioCopy(literal), /token: "?\(redacted\)"?, sessionId: "\{sessionId\}"/);
    const { entries } = redactScenario(parseScenario(literal).scenario!);
    assert.deepEqual(JSON.parse(String(entries[0]!.parameters['steps'])), [
      {
        ...{ kind: 'call', method: 'SignIn', arguments: [{ password: '{identity.password}' }] },
        ...{ reply: 'completion', receivers: 'self', group: 'none', withinMs: 30_000 },
        keep: { token: '$.token', sessionId: '$.id' },
      },
      {
        ...{ kind: 'call', method: 'Ask' },
        arguments: [{ token: '(redacted)', sessionId: '{sessionId}' }],
        ...{ reply: 'completion', receivers: 'self', group: 'none', withinMs: 30_000, keep: {} },
      },
    ]);
  });

  it('leaves what a message says as it is', () => {
    const text = 'scenario:\n  parameters: { arguments: ["\u200fשלום\u202c", 7] }\n';
    assert.equal(scenarioCopy(text), text);
  });

  it('cleans what the command line set as well', () => {
    const copy = scenarioCopy('mode: simple\n', [
      { path: 'config.target', value: 'Endpoint=https://x;AccessKey=s3cret' },
    ]);
    assert.doesNotMatch(copy, /s3cret/);
  });

  it('of a pipeline file has the keys that were set for its use cases, and those beside it', () => {
    const text = `${readFileSync('test/fixtures/pipelines/mix.yaml', 'utf8')}config:\n  target: local\n`;
    const sets = [
      { path: 'scenarios.0.senders', value: '7' },
      { path: 'config.seed', value: '5' },
    ];
    const again = parseScenario(scenarioCopy(text, sets));
    assert.deepEqual(again.scenario, parseScenario(text, { overrides: sets }).scenario);
    assert.deepEqual(again.scenario!.entries[0]!.senders, { kind: 'count', count: 7 });
    assert.ok(again.problems.every(({ severity }) => severity !== 'error'));
  });
});

describe('redactedKeys', () => {
  it('names the keys whose secret was not kept', () => {
    const text = [
      'config:',
      '  target: http://localhost/h?key=hidden-in-query',
      '  accessToken: hidden-token',
      '  headers: {Authorization: Bearer hidden-header-value}',
      'scenario: {name: echo}',
      '',
    ].join('\n');
    assert.deepEqual(redactedKeys(text), []);
    assert.deepEqual(redactedKeys(scenarioCopy(text)), [
      'config.target',
      'config.accessToken',
      'config.headers.Authorization',
    ]);
  });

  it('names none where secrets are references, or only a comment lost one', () => {
    const text = 'config:\n  accessToken: ${secret:hub} # Bearer abcdefghijkl\n';
    const copy = scenarioCopy(text);
    assert.match(copy, /\(redacted\)/);
    assert.deepEqual(redactedKeys(copy), []);
  });
});

describe('the copy of a scenario with identities', () => {
  const config = (identities: string, more = ''): string =>
    `config:\n  identities: ${identities}\n${more}scenario: { name: echo }\n`;

  it('keeps references and placeholders as they are', () => {
    for (const text of [
      config("{ rule: 'u{index}', key: '${secret:k}', claims: { room: 'r{index}' } }"),
      config('{ url: \'https://a.test/t\', body: \'{"token":"${secret:a}","user":"u{index}"}\' }'),
      config("{ command: [node, token.mjs, 'u{index}'], env: { KEY: '${secret:k}' } }"),
      config('{ file: u.csv }', "  accessToken: '{identity.jwt}'\n"),
      config('{ file: u.csv }', "  headers: { Authorization: 'Bearer {identity.jwt}' }\n"),
      config('{ file: u.csv }', "  headers: { Cookie: 'a={identity.a}; b={data.b}' }\n"),
      config("[{ user: ann, password: '${secret:ann}' }]"),
    ])
      assert.equal(scenarioCopy(text), text);
  });

  it('has no literal secret', () => {
    for (const text of [
      config("{ rule: 'u{index}', key: S3cretValue }"),
      config("{ url: 'https://a.test/t?k=S3cretValue' }"),
      config("{ url: 'https://a.test/t', headers: { X-Any: S3cretValue } }"),
      config("{ url: 'https://a.test/t', body: 'user=a&password=S3cretValue&b=c' }"),
      config('{ url: \'https://a.test/t\', body: \'{"client_secret": "S3cretValue"}\' }'),
      config('{ command: [node, --password=S3cretValue], env: { A: S3cretValue } }'),
      config('[{ user: ann, password: S3cretValue }]'),
      config('{ file: u.csv }', "  headers: { X-Key: 'S3cretValue{identity.a}' }\n"),
    ])
      assert.ok(!scenarioCopy(text).includes('S3cret'), scenarioCopy(text));
  });
});
