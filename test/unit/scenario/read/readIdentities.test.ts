import assert from 'node:assert/strict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';

const invoke = (args: string): string =>
  `scenario:\n  name: invoke\n  parameters: { method: Say, arguments: [${args}] }\n`;

function read(config: string, more = 'scenario: { name: echo }\n') {
  const text = `config:\n  target: local\n  connections: 4\n${config.replace(/^/gm, '  ')}\n${more}`;
  const { scenario, problems } = parseScenario(text);
  const said = problems
    .filter(({ severity }) => severity !== 'info')
    .map((each) => ({ ...each, at: text.slice(each.offset, each.offset + each.length) }));
  return { scenario: scenario!, said };
}

function readWell(config: string, more?: string): Scenario {
  const { scenario, said } = read(config, more);
  assert.deepEqual(said, []);
  return scenario;
}

describe('identities of a scenario', () => {
  it('are a list, a file, a rule, a command or a token endpoint', () => {
    const of = (config: string) => readWell(config).identities;
    assert.deepEqual(of("identities:\n  - { user: ann, token: '${secret:a}', level: 3 }"), {
      kind: 'list',
      rows: [{ user: 'ann', token: '${secret:a}', level: 3 }],
    });
    assert.deepEqual(of('identities: { file: users.csv }'), { kind: 'file', file: 'users.csv' });
    assert.deepEqual(
      of(
        "identities:\n  rule: 'user-{index}'\n  key: ${secret:k}\n  audience: chat\n  claims: { role: [a, 'b{index}'] }\n  lifetime: 2m\n  count: 3",
      ),
      {
        ...{ kind: 'rule', rule: 'user-{index}', key: '${secret:k}', algorithm: 'HS256' },
        ...{ audience: 'chat', userClaim: 'sub', claims: { role: ['a', 'b{index}'] } },
        ...{ lifetimeMs: 120_000, count: 3 },
      },
    );
    const how = { rate: 20, inFlight: 4, timeoutMs: 10_000 };
    assert.deepEqual(
      of("identities: { command: [node, a.mjs, 'u{index}'], env: { K: '${secret:k}' } }"),
      {
        ...{ kind: 'command', command: ['node', 'a.mjs', 'u{index}'], env: { K: '${secret:k}' } },
        ...how,
      },
    );
    assert.deepEqual(of("identities: { url: 'https://a.test/t', body: 'u={index}', rate: 5/s }"), {
      ...{ kind: 'url', url: 'https://a.test/t', method: 'POST', headers: {}, body: 'u={index}' },
      ...{ ...how, rate: 5 },
    });
  });

  it('and data give values to headers, query, token and arguments', () => {
    const config =
      "identities: { file: u.csv }\ndata: { file: d.jsonl }\nheaders: { Cookie: 's={identity.session}' }\nquery: { room: '{data.room}' }\naccessToken: '{identity.jwt}'";
    const scenario = readWell(config, invoke("'{identity.user}', '{data.count:number}'"));
    assert.deepEqual(scenario.data, { file: 'd.jsonl', take: 'connection' });
    assert.equal(scenario.accessToken, '{identity.jwt}');
  });

  const wrong: readonly (readonly [config: string, at: string, message: RegExp, more?: string])[] =
    [
      ['identities: {}', 'identities', /identities needs one of file, rule, command or url/],
      ['identities: []', 'identities', /empty list/],
      ['identities: [ann]', 'ann', /Each identity is a map/],
      ['identities: [{ user: a, room: b }, { user: c }]', '{ user: c }', /has no room/],
      ['identities: { file: u.csv, rule: a }', 'a', /identities has both file and rule/],
      ['identities: { file: ../u.csv }', '../u.csv', /beside the scenario file/],
      ['identities: { file: u.csv, lifetime: 1h }', 'lifetime', /means nothing beside file/],
      ["identities: { rule: 'u{index}' }", "'u{index}'", /needs the key/],
      [
        "identities: { rule: 'u{senderIndex}', key: '${secret:k}' }",
        '{senderIndex}',
        /is not a placeholder of rule/,
      ],
      ["identities: { rule: u, key: '${secret:k}' }", 'u', /the same name/],
      [
        "identities: { rule: 'u{index}', key: '${secret:k}', claims: { exp: 3 } }",
        'claims',
        /write lifetime/,
      ],
      ["identities: { rule: 'u{data.x}', key: '${secret:k}' }", '', /needs config\.data/],
      ["identities: { rule: 'u{index}', key: plain-text-key }", 'plain-text-key', /A signing key/],
      ['identities: [{ user: a, password: abcdef }]', 'abcdef', /A secret of an identity/],
      ['identities: { command: node a.mjs }', 'node a.mjs', /command is a list/],
      ["identities: { command: [node, '${secret:k}'] }", "'${secret:k}'", /seen by other programs/],
      ['identities: { url: /token }', '/token', /whole URL/],
      ['data: { take: shared }', 'data', /data has no file/],
      ["query: { a: '{identity.x}' }", '', /needs config\.identities/],
      ["headers: { a: '{identiy.x}' }", '{identiy.x}', /is not a placeholder of headers/],
      ["headers: { a: '{group}' }", '', /\{group\} in headers needs a use case/],
      [
        "data: { file: a.csv, take: shared }\nheaders: { a: '{data.x}' }",
        '',
        /no row of its own with take: shared/,
      ],
      [
        'identities: [{ user: a }]',
        '',
        /no usr\. Did you mean .*\{identity\.user\}/,
        invoke("'{identity.usr}'"),
      ],
      ['unit: 1', '{identity}', /needs the name of a column/, invoke("'{identity}'")],
      ['unit: 1', '{data.x:text}', /takes number alone/, invoke("'{data.x:text}'")],
      ['unit: 1', '{dat.x}', /Did you mean .*\{data\.x\}/, invoke("'{dat.x}'")],
      [
        "identities: { rule: 'u{index}', key: '${secret:k}' }",
        '',
        /can stand in accessToken, headers and query/,
        invoke("'{identity.token}'"),
      ],
    ];
  for (const [config, at, message, more] of wrong)
    it(`says what is wrong and where: ${config.split('\n').at(-1)!} ${more ?? ''}`, () => {
      const { said } = read(config, more);
      const found = said.find((each) => message.test(each.message));
      assert.ok(found, said.map((each) => each.message).join('\n') || 'no problem');
      if (at !== '') assert.equal(found.at, at);
    });
});
