import assert from 'node:assert/strict';
import fc from 'fast-check';
import { english } from '../../../src/base/text';
import { configKeys } from '../../../src/scenario/keys/configKeys';
import type { KeySpec } from '../../../src/scenario/keys/keySpec';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { Scenario } from '../../../src/scenario/scenario';
import {
  contactKey,
  contactsBeyond,
  reachLines,
  listReach,
  createRedirectQuestion,
  type Contact,
} from '../../../src/run/reach';
import { prepareRun } from '../../../src/run/prepareRun';
import type { Shell } from '../../../src/run/shell';
import { fakeDeps } from '../cli/fakeDeps';

const away = 'https://PLANT.example';
const secret = '${secret:PLANT}';
const command = ['PLANT', 'argument'];

/** What a config may name, by the key that it stands at: `PLANT` is to be in the list. */
const places: Readonly<Record<string, object>> = {
  target: { target: `${away}/hub` },
  'target in a list': { target: ['http://localhost:1/h', `${away}/hub`] },
  'target as a reference': { target: 'http://localhost/${secret:PLANT}' },
  webAppTarget: { webAppTarget: `${away}/hub` },
  connectionString: { connectionString: `Endpoint=${away};AccessKey=\${secret:key};` },
  'connectionString, its key': {
    connectionString: `Endpoint=http://localhost;AccessKey=${secret};`,
  },
  'connectionString, for clients': {
    connectionString: `Endpoint=http://localhost;ClientEndpoint=${away};AccessKey=\${secret:key};`,
  },
  'connectionString, for servers': {
    connectionString: `Endpoint=http://localhost;ServerEndpoint=${away};AccessKey=\${secret:key};`,
  },
  'connectionString, its certificate': {
    connectionString:
      'Endpoint=http://localhost;AuthType=azure.app;ClientId=c;TenantId=t;ClientCertPath=PLANT.pem;',
  },
  headers: { headers: { 'X-Key': secret } },
  'headers, names': { headers: { 'X-PLANT': 'x' } },
  query: { query: { q: secret } },
  accessToken: { accessToken: secret },
  keyPassword: { certFile: 'c.pem', keyPassword: secret },
  caFile: { caFile: 'PLANT.pem' },
  certFile: { certFile: 'PLANT.pem' },
  keyFile: { certFile: 'c.pem', keyFile: 'PLANT.pem' },
  'upstream.publicUrl': { service: 'webpubsub', upstream: { publicUrl: away } },
  'data.file': { data: { file: 'PLANT.csv' } },
  identities: { identities: [{ token: secret }] },
  'identities.file': { identities: { file: 'PLANT.csv' } },
  'identities.key': { identities: { rule: 'u-{index}', key: secret } },
  'identities.command': { identities: { command } },
  'identities.env': { identities: { command: ['x'], env: { A: secret } } },
  'identities.env, names': { identities: { command: ['x'], env: { PLANT: 'x' } } },
  'identities.url': { identities: { url: `${away}/token` } },
  'identities.headers': { identities: { url: 'http://localhost/', headers: { A: secret } } },
  'identities.body': { identities: { url: 'http://localhost/', body: `a=${secret}` } },
  'observe.prometheus': { observe: [{ prometheus: `${away}/metrics` }] },
  'observe.authorization': {
    observe: [{ prometheus: 'http://localhost/', authorization: `Bearer ${secret}` }],
  },
  'observe.azureMonitor': {
    observe: [{ azureMonitor: `/subscriptions/${secret}/SignalR/x`, region: 'westeurope' }],
  },
  'observe.region': {
    observe: [{ azureMonitor: '/subscriptions/${secret:a}/SignalR/x', region: 'plant' }],
  },
};

const isElsewhere = ['webAppTarget', 'connectionString'];

function read(config: object, parameters: object = {}, name = 'echo'): Scenario {
  const { scenario } = parseScenario(
    JSON.stringify({
      config: {
        ...(isElsewhere.some((key) => key in config) ? {} : { target: 'local' }),
        ...config,
      },
      scenario: { name, parameters },
    }),
  );
  assert.ok(scenario);
  return scenario;
}

const nothing = { reference: () => undefined };
const linesOf = (scenario: Scenario): string => reachLines(listReach(scenario, nothing)).join('\n');
const shows = /PLANT/i;

const withReferences = (keys: readonly KeySpec[], above = ''): string[] =>
  keys.flatMap(({ name, references, keys: below = [] }) => [
    ...(references === true ? [above + name] : []),
    ...withReferences(below, `${above}${name}.`),
  ]);

describe('what a run executes, reads and contacts', () => {
  for (const [place, config] of Object.entries(places))
    it(`has what stands at ${place}`, () => assert.match(linesOf(read(config)), shows));

  const naming: Readonly<Record<string, readonly [useCase: string, parameters: object]>> = {
    payloadFile: ['echo', { payloadFile: 'PLANT.bin' }],
    arguments: ['invoke', { method: 'M', arguments: [{ a: ['x {file:PLANT.txt}'] }] }],
    streamingItems: ['invoke', { method: 'M', streamingItems: ['{file:PLANT.txt}'] }],
    steps: ['session', { steps: [{ call: 'M', arguments: ['{file:PLANT.txt}'] }, { wait: '1s' }] }],
  };
  for (const [place, [useCase, parameters]] of Object.entries(naming))
    it(`has a file at ${place}, and that the target gets it`, () => {
      const lines = linesOf(read({}, parameters, useCase));
      assert.match(lines, /^It reads PLANT\.\w+\.$/m);
      assert.match(lines, /^It contacts local \(load\) with .*file PLANT\./m);
    });

  it('has the file of rows that a token endpoint gets', () => {
    const config = { data: { file: 'PLANT.csv' }, identities: { url: `${away}/{data.name}` } };
    assert.match(linesOf(read(config)), /\(token endpoint\) with file PLANT\.csv\./);
  });

  it('has where somebody is signed in', () => {
    const signIn = (type: string): string =>
      linesOf(read({ connectionString: `Endpoint=https://a.example;AuthType=${type};` }));
    assert.match(signIn('azure'), /login\.microsoftonline\.com \(sign-in\)/);
    assert.match(signIn('azure.msi'), /169\.254\.169\.254 \(sign-in\)/);
  });

  it('has what a host gets that the target redirects to', () => {
    const scenario = read({ headers: { 'X-Key': secret }, accessToken: '${env:TOKEN}' });
    const { reach } = createRedirectQuestion(scenario, nothing, ['b.example']);
    assert.deepEqual(reachLines(reach), [
      'It contacts b.example (redirect of the target) with header X-Key, access token, secret PLANT, variable TOKEN.',
    ]);
  });

  it('is remembered for the same host, use, encryption and contents alone', () => {
    const contacts: Contact[] = [];
    for (const host of ['a.example', 'a.example: x'])
      for (const why of ['load', 'observe', 'otlp'] as const)
        for (const isOpen of [undefined, true] as const)
          for (const gets of [[], ['x'], ['x', 'y'], ['x, y']])
            contacts.push({ host, why, isBeyond: true, gets, ...(isOpen && { isOpen }) });
    assert.equal(new Set(contacts.map(contactKey)).size, contacts.length);
    const [load] = contacts;
    assert.equal(contactKey({ ...load!, why: 'redirect' }), contactKey(load!));
    const at = (url: string): string[] =>
      contactsBeyond(listReach(read({ target: url }), nothing)).map(contactKey);
    assert.notDeepEqual(at('http://a.example/h'), at('https://a.example/h'));
  });

  it('hides nothing behind what is long, many or looks like more lines', () => {
    const far = read({
      target: Array.from({ length: 200 }, (_, at) => `http://127.0.0.1:${at + 1}/h`),
      query: { 'a\nIt contacts nothing': 'x', ...{ ['q'.repeat(9000)]: 'y' } },
      identities: { url: 'https://{index}.PLANT.example/\n\nagreed\u202e' },
    });
    const lines = reachLines(listReach(far, nothing));
    assert.match(lines[0]!, /PLANT.*token endpoint/);
    for (const line of lines) {
      assert.doesNotMatch(line, /[\n\u202e]/);
      assert.ok(line.length < 4200, `${line.length}`);
    }
  });

  it('is looked for at every key that takes references', () => {
    const missing = withReferences(configKeys).filter((key) => !Object.hasOwn(places, key));
    assert.deepEqual(missing, []);
  });

  it('has everything of any mix of places, and nothing goes on before a yes', () =>
    fc.assert(
      fc.asyncProperty(fc.subarray(Object.keys(places)), async (chosen) => {
        const config = Object.assign({}, ...chosen.map((place) => places[place])) as object;
        const scenario = read(config);
        const reach = listReach(scenario, nothing);
        const asksNobody = reach.programs.length === 0 && contactsBeyond(reach).length === 0;
        const done: string[] = [];
        const doing = (what: string) => (): never => {
          done.push(what);
          throw new Error('it went on');
        };
        const parts = fakeDeps({
          openTarget: doing('opened'),
          askHub: doing('asked'),
          redirectHosts: doing('redirects'),
        });
        const shell: Shell = {
          context: { ...nothing, serverScript: '', readFile: () => Promise.resolve('') },
          confirm: () => Promise.resolve(false),
          say: () => undefined,
          t: english,
          startTime: () => new Date(0),
        };
        const request = { title: 's.yaml', text: '', overrides: [], directories: [] };
        await assert.rejects(
          prepareRun(scenario, request, shell, parts),
          asksNobody ? /it went on/ : { code: 'not-confirmed' },
        );
        assert.deepEqual(done, asksNobody ? ['opened'] : []);
      }),
      { numRuns: 100 },
    ));

  it('knows a command by its words, its environment and the folder that it runs in', () => {
    const hashOf = (identities: object, commandFolder: string): string =>
      listReach(read({ identities }), { ...nothing, commandFolder }).programs[0]!.hash;
    const hashes = [
      hashOf({ command: ['./login.sh'] }, '/a'),
      hashOf({ command: ['./login.sh'] }, '/b'),
      hashOf({ command: ['./login.sh', 'x'] }, '/a'),
      hashOf({ command: ['./login.sh'], env: { A: 'x' } }, '/a'),
    ];
    assert.equal(new Set(hashes).size, hashes.length);
    assert.equal(hashOf({ command: ['./login.sh'], count: 2 }, '/a'), hashes[0]);
  });

  it('shows hosts of references, and no values of secrets', () => {
    const scenario = read({
      target: '${env:HUB}',
      identities: { url: '${env:LOGIN}/t', headers: { Authorization: '${secret:key}' } },
    });
    const values: Readonly<Record<string, string>> = {
      ...{ HUB: 'https://a.example/h?code=V4LUE,http://localhost/', LOGIN: 'https://b.example:81' },
      key: 'V4LUE',
    };
    const reach = listReach(scenario, { reference: (_kind, name) => values[name] });
    assert.deepEqual(
      reach.contacts.map(({ host, why, isBeyond }) => [host, why, isBeyond]),
      [
        ['a.example', 'load', true],
        ['localhost', 'load', false],
        ['b.example:81', 'identities', true],
      ],
    );
    assert.match(reachLines(reach).join(), /b\.example:81 .* header Authorization.*secret key/);
    assert.doesNotMatch(reachLines(reach).join(), /V4LUE/);
  });

  it('takes a host that differs from client to client for any', () => {
    const at = (url: string) => contactsBeyond(listReach(read({ identities: { url } }), nothing));
    assert.equal(at('https://{index}/t').length, 1);
    assert.equal(at('http://127.0.0.1:8{index}/t').length, 1);
    assert.equal(at('http://127.0.0.1/{index}?u={index}').length, 0);
    assert.equal(at('http://0.0.0.0/t').length, 0);
  });

  it('shows each character of a command that could hide another', () => {
    const words = ['sh', '-c', 'a\u202eb "c"\n\u2028'];
    assert.match(
      linesOf(read({ identities: { command: words } })),
      /command sh -c "a\\u202eb \\"c\\"\\n\\u2028", /,
    );
    // Beyond the first plane a character is two units, of which the first may be that of others, too.
    const tags = linesOf(read({ identities: { command: ['x', '\u{e0041}', '\u{e0042}'] } }));
    assert.match(tags, /command x "\\udb40\\udc41" "\\udb40\\udc42", /);
    const long = linesOf(read({ identities: { command: ['x', 'y'.repeat(9000)] } }));
    assert.match(long, /y… \(\+7,002\)/);
    const env = { LD_PRELOAD: './x.so', KEY: 'a ${secret:key}', PATH: 'b c' };
    const reach = listReach(read({ identities: { command: ['az'], env } }), nothing);
    assert.match(
      reachLines(reach).join(),
      /command LD_PRELOAD=\.\/x\.so "KEY=a \$\{secret:key\}" "PATH=b c" az, /,
    );
    // Who reads a log may not be who reads the scenario.
    assert.doesNotMatch(reachLines(reach, english, true).join(), /x\.so|b c/);
  });
});
