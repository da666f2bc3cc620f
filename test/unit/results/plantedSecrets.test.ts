import assert from 'node:assert/strict';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { breakCommands, english, visibleLine, visibleText } from '../../../src/base/text';
import { hideSecrets } from '../../../src/base/secrets';
import { redactScenario } from '../../../src/results/completeResult';
import {
  redactNotice,
  redactArgument,
  redactBody,
  redactCommand,
  redactConnectionString,
  redactHeader,
  redactInArguments,
  redactSecret,
  redactTarget,
  redactText,
  redactUrl,
  redactWords,
} from '../../../src/results/redact';
import { scenarioCopy } from '../../../src/results/scenarioCopy';
import { configKeys } from '../../../src/scenario/keys/configKeys';
import { secretPaths } from '../../../src/scenario/keys/keySpec';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { reachLines, listReach } from '../../../src/run/reach';
import { Planted } from '../../fakes/planted';

/** What people call what lets them in. */
const names = [
  ...['token', 'accessToken', 'access_token', 'password', 'X-Api-Key', 'api-key', 'clientSecret'],
  ...['client_secret', 'Authorization', 'Cookie', 'passphrase', 'sessionId', 'shared-key', 'pwd'],
  ...['AccountKey', 'private_key'],
];

type Config = Record<string, unknown>;

/** A value at a path of `config`; what `observe` has is a list. */
function at(path: string, value: string): Config {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) return { [first]: value };
  const inner = at(rest.join('.'), value);
  if (first === 'observe') return { observe: [{ prometheus: 'http://127.0.0.1:1/m', ...inner }] };
  return { [first]: first === 'identities' ? { rule: 'u{index}', ...inner } : inner };
}

describe('a secret that stands in a scenario', () => {
  const base = { target: 'local', connections: 2 };
  const textOf = (config: Config, scenario: Config = { name: 'echo' }): string =>
    stringify({ config: { ...base, ...config }, scenario });

  /** Everything that is stored, shown or asked of it. */
  function assertHidden(text: string, planted: Planted, warnings?: number): void {
    const { scenario, problems } = parseScenario(text);
    assert.ok(scenario !== undefined, text);
    const shown = [
      scenarioCopy(text),
      JSON.stringify(redactScenario(scenario)),
      ...reachLines(listReach(scenario, { reference: () => undefined }), english, true),
      ...problems.map(({ message }) => message),
    ];
    for (const each of shown) assert.deepEqual(planted.foundIn(each), [], `${text}\n${each}`);
    const reported = problems.filter(({ code }) => code === 'secret-in-file');
    if (warnings !== undefined) assert.equal(reported.length, warnings, text);
    // Each stands where it can be moved away.
    for (const { offset, length } of reported)
      assert.notDeepEqual(planted.foundIn(text.slice(offset, offset + length)), []);
  }

  it('is a warning, and kept nowhere, at each key that is one', () => {
    const paths = secretPaths(configKeys).map(([path]) => path);
    assert.deepEqual(paths.sort(), [
      ...['accessToken', 'identities.key', 'keyPassword', 'observe.authorization'],
    ]);
    for (const path of paths) {
      const planted = new Planted('key');
      assertHidden(textOf(at(path, planted.at(path))), planted, 1);
    }
  });

  it('is a warning, and kept nowhere, below each name that says so', () => {
    const url = 'http://127.0.0.1:1/t';
    const places: readonly ((secret: Config) => Config)[] = [
      (secret) => ({ headers: secret }),
      (secret) => ({ query: secret }),
      (secret) => ({ identities: [{ user: 'x', ...secret }] }),
      (secret) => ({ identities: { url, headers: secret } }),
      (secret) => ({ identities: { command: ['c'], env: secret } }),
    ];
    for (const [at, name] of names.entries())
      for (const step of [0, 2]) {
        const planted = new Planted('own');
        const place = places[(at + step) % places.length]!;
        assertHidden(textOf(place({ [name]: planted.at(name) })), planted, 1);
      }
  });

  it('is a warning, and neither kept nor asked about, in the words of a command', () => {
    const word = fc.constantFrom('node', 'tok.cjs', '-v', '--user', 'ann', '{index}', '--realm=x');
    const option = fc.tuple(
      fc.constantFrom(...names),
      fc.constantFrom('-', '--'),
      fc.constantFrom<'apart' | 'joined'>('apart', 'joined'),
    );
    fc.assert(
      fc.property(fc.array(word), option, fc.array(word), (before, [name, dashes, form], after) => {
        const planted = new Planted('cmd');
        const secret = planted.at(name);
        const said = `${dashes}${name}`;
        const own = form === 'apart' ? [said, secret] : [`${said}=${secret}`];
        const command = ['node', ...before, ...own, ...after];
        const text = textOf({ identities: { command } });
        assertHidden(text, planted, 1);
        const { identities } = redactScenario(parseScenario(text).scenario!);
        const hidden = command.map((each) => each.replace(secret, '(redacted)'));
        assert.deepEqual(identities?.kind === 'command' && identities.command, hidden);
      }),
      { numRuns: 40 },
    );
  });

  it('is one behind a name where a command signs in', () => {
    for (const [said, form] of [
      ['-u', 'apart'],
      ['--user', 'apart'],
      ['--user', 'joined'],
      ['--proxy-user', 'apart'],
    ] as const) {
      const planted = new Planted('log');
      const login = `ann:${planted.at('login')}`;
      const own = form === 'apart' ? [said, login] : [`${said}=${login}`];
      assertHidden(textOf({ identities: { command: ['curl', ...own, '{index}'] } }), planted, 1);
      assertHidden(`# curl ${own.join(' ')} https://a\n${textOf({})}`, planted);
    }
  });

  it('is kept nowhere in a comment that holds a line of a scenario', () => {
    const forms: readonly ((name: string, secret: string) => string)[] = [
      (name, secret) => `${name}: ${secret}`,
      (name, secret) => `- ${name}: ${secret}`,
      (name, secret) => `"${name}": '${secret} and more'`,
      (name, secret) => `${name}: more and ${secret}`,
      (name, secret) => `- { user: x, ${name}: ${secret} }`,
      (name, secret) => `headers: {"${name}": "${secret}", Accept: any}`,
      (name, secret) => `command: [node, tok.cjs, --${name}, ${secret}]`,
      (name, secret) => `command: ["node", "--${name}", "${secret}"]`,
      (name, secret) => `node tok.cjs --${name} ${secret}`,
      (name, secret) => `body: 'a=b&${name}=${secret}&c=d'`,
      (name, secret) => `body: "{\\"${name}\\": \\"${secret}\\"}"`,
      (name, secret) => `of old, ${name}: ${secret} was ours`,
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.constantFrom(...forms),
        fc.constantFrom('#', '# ', '    # ', '#  - '),
        (name, form, mark) => {
          const planted = new Planted('com');
          const comment = form(name, planted.at(name));
          assertHidden(`${mark}${comment}\n${textOf({})}`, planted);
          assertHidden(textOf({}).replace('local\n', `local ${mark.trim()}${comment}\n`), planted);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is kept nowhere in an argument of a call', () => {
    for (const name of names) {
      const planted = new Planted('arg');
      const method = { method: 'SignIn', arguments: [{ [name]: planted.at(name), room: ['a'] }] };
      assertHidden(textOf({}, { name: 'invoke', parameters: method }), planted);
      const { method: call, arguments: own } = method;
      const steps = [{ call, arguments: own }];
      assertHidden(textOf({}, { name: 'session', parameters: { steps } }), planted);
      const json = JSON.stringify({ room: 'a', [name]: planted.at('JSON') });
      const parameters = { method: call, arguments: ['{text:1KB}', json.replaceAll('{', '{{')] };
      assertHidden(textOf({}, { name: 'invoke', parameters }), planted);
    }
  });

  it('leaves references and what is no secret as they are', () => {
    const text = [
      '# Tokens come from ${secret:tokens}; for `node tok.cjs --password ${env:P}` see the docs.',
      textOf({
        headers: { Authorization: 'Bearer ${secret:t}', 'X-Api-Key': '{identity.key}' },
        identities: { command: ['node', '--realm', 'x', '-u', '{index}'], env: { K: '${env:K}' } },
      }),
    ].join('\n');
    assert.equal(scenarioCopy(text), text);
    assert.deepEqual(parseScenario(text).problems, []);
  });

  it('is looked for in time that grows with the text alone', () => {
    const pieces = [
      ...[
        '-eyJ',
        '-eyJ.',
        'eyJaaaaaaaa.',
        '-eyJabcdef.a',
        'Bearer ',
        'Bearer aaaaaaa ',
        'AccessKey',
      ],
      ...['AccessKey= ', 'http://', 'http://a@', 'http://a?b&c=', 'a- ', '--a ', '--token ', 'a; '],
      ...['a=b; ', 'secret=a; ', 'secret=;', 'secret: ', 'secret   ', 'secret , ', 'secret:\n'],
      ...['secret"', 'secret="', "secret='\\", 'secret=\\', 'secret=\\"', 'secret=&', '#secret: '],
      ...['token="', '\\"', 'a\\"', '"', '\\', ' ', 'a', '-', '.', '{', '{text:', '{id', '${', '<'],
      ...['a=', 'a:', '://', '“', '\u0001', '\u202e', '##', '::'],
    ];
    const ways: Readonly<Record<string, (text: string) => unknown>> = {
      ...{
        redactWords,
        redactBody,
        redactUrl,
        redactTarget,
        redactSecret,
        redactArgument,
        redactInArguments,
      },
      ...{ redactConnectionString, visibleText, visibleLine, breakCommands },
      redactCommand: (text) => redactCommand([text]),
      redactHeader: (text) => redactHeader('accept', text),
      hideSecrets: (text) => hideSecrets(text, ['aaaaaaaaab', 'eyJ-eyJ-eyJ']),
    };
    const cpuMs = (work: () => unknown): number => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    const least = (work: () => unknown): number => Math.min(...[1, 2, 3].map(() => cpuMs(work)));
    for (const [name, way] of Object.entries(ways))
      for (const piece of pieces) {
        const textOf = (length: number): string => piece.repeat(length / piece.length);
        const long = cpuMs(() => way(textOf(200_000)));
        // Eight times as long is 64 times the work where it grows with the square, which takes seconds.
        if (long < 200) continue;
        const [short, again] = [25_000, 200_000].map((length) => least(() => way(textOf(length))));
        assert.ok(again! < 24 * Math.max(short!, 1), `${name} of ${piece}: ${short}, ${again} ms`);
      }
  });

  it('is not looked for beyond what is shown', () => {
    const long = 'x '.repeat(40_000);
    for (const shown of [redactText(long), redactNotice(long)])
      assert.equal(shown, `${long.slice(0, 65_536)}…`);
    // What is left of one at the end is taken out as well.
    const cut = redactText(`${'x '.repeat(32_760)}AccessKey=${'k'.repeat(100)}`);
    assert.match(cut, /x AccessKey=\(redacted\)$/);
  });
});
