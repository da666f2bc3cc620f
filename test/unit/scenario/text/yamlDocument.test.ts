import assert from 'node:assert/strict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { readYaml } from '../../../../src/scenario/text/yamlDocument';
import { brief, errorsOf, messageOf, problemOf, scenarioOf } from '../parsed';

/** Parses with little CPU: hostile files must not cost time, and a busy machine must not be blamed on them. */
function quick(text: string): ReturnType<typeof parseScenario> {
  const before = process.cpuUsage();
  const parsed = parseScenario(text);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 5_000_000, `took ${user + system} us of CPU`);
  return parsed;
}

describe('broken YAML', () => {
  it('gives its problem and the parts that could be read', () => {
    const text =
      'config:\n  connections: 77\n bad: 3\n  target: local\nscenario:\n  name: broadcast\n';
    assert.ok(errorsOf(text).includes('yaml'));
    const scenario = scenarioOf(text);
    assert.equal(scenario.connections, 77);
  });

  it('with an unclosed bracket still reads what follows', () => {
    const text = 'config: { connections: 5, target: local\nscenario:\n  name: broadcast\n';
    assert.ok(errorsOf(text).includes('yaml'));
    assert.equal(scenarioOf(text).connections, 5);
    assert.equal(scenarioOf(text).entries[0]!.name, 'broadcast');
  });

  it('with an open quote says where, and still reads what follows', () => {
    for (const quote of ['"', "'"]) {
      const text = `config:\n  hub: ${quote}chat\n  step: 5\nscenario:\n  name: broadcast\n`;
      const yaml = problemOf(text, 'yaml');
      assert.equal(yaml.offset, text.indexOf(quote));
      assert.match(yaml.message, /is never closed/);
      assert.equal(scenarioOf(text).step, 5);
      assert.equal(scenarioOf(text).entries[0]!.name, 'broadcast');
    }
    assert.deepEqual(errorsOf('config: "\\"'), ['yaml']);
    assert.deepEqual(errorsOf("config: 'it''"), ['yaml']);
  });

  it('with tabs says so', () => {
    const { problems } = parseScenario('config:\n\tconnections: 5\n');
    assert.equal(problems.map(({ code }) => code).join(), 'yaml');
    assert.match(problems[0]!.message, /tab/);
  });

  it('with a line that is indented further says so once', () => {
    const { problems } = parseScenario('config:\n  connections: 10\n   baseSending: 5\n');
    assert.equal(problems.length, 1);
    assert.match(problems[0]!.message, /line below is indented further than this one/);
    assert.match(messageOf('config:\n  target: a: b\n', 'yaml'), /second colon/);
  });

  it('with a reference in a flow map asks for quotes', () => {
    const text = 'config:\n  headers: { Authorization: Bearer ${secret:x} }\n';
    const { problems } = parseScenario(text);
    assert.ok(problems.some(({ message }) => message.includes('needs quotes')));
  });

  it('never repeats pieces of the file, which may be secret', () => {
    const text = 'a: 1\n"SECRETTEXT" oops: [}\nb: }SECRETTEXT\n- SECRETTEXT\n';
    for (const { message } of parseScenario(text).problems.filter(({ code }) => code === 'yaml')) {
      assert.ok(!message.includes('SECRETTEXT'), message);
    }
  });

  it('with two documents reads the first and refuses the second', () => {
    const text = 'config:\n  target: local\n---\nconfig: 5\n';
    assert.deepEqual(errorsOf(text), ['several-documents']);
    assert.deepEqual(scenarioOf(text).target, { kind: 'local' });
  });

  it('warns about tags and ignores them', () => {
    const text = 'config:\n  target: local\n  connections: !big 5\n';
    assert.ok(brief(text).includes('warning yaml-tag "!big"'));
  });

  it('reports a key that is written twice, at its second place', () => {
    const text = 'config:\n  target: local\n  step: 5\n  step: 6\n';
    const problem = problemOf(text, 'duplicate-key');
    assert.equal(problem.offset, text.lastIndexOf('step'));
    assert.equal(scenarioOf(text).step, 5);
  });
});

describe('aliases', () => {
  it('are followed', () => {
    const text =
      'config:\n  target: local\n  warmup: &short 2s\n  drain: *short\n  singleStepDuration: 10s\n';
    assert.deepEqual(brief(text), []);
    assert.equal(scenarioOf(text).drainMs, 2000);
  });

  it('without an anchor are a problem at their place', () => {
    const text = 'config:\n  target: *nowhere\n';
    assert.ok(brief(text).includes('error yaml "*nowhere"'));
  });

  it('that point at what holds them end', () => {
    quick('config: &a\n  upstream: *a\nscenarios: &b [*b, *b]\n');
    quick('&r config: *r\nslo: *r\n');
  });

  it('in great number are refused', () => {
    const text = `scenarios:\n  - &a { name: echo }\n${'  - *a\n'.repeat(200)}`;
    assert.ok(quick(text).problems.some(({ code }) => code === 'too-large'));
  });
});

describe('hostile text', () => {
  it('that doubles itself with each line ends in problems', () => {
    const names = Array.from('abcdefghi');
    const lines = names.map((name, index) => {
      const before = names[index - 1];
      const items = Array.from({ length: 9 }, () => (before === undefined ? 'lol' : `*${before}`));
      return `${name}: &${name} [${items.join(', ')}]`;
    });
    const text = `${lines.join('\n')}\nconfig:\n  target: *i\n  headers: *i\nscenarios: *i\n`;
    assert.ok(quick(text).problems.some(({ severity }) => severity === 'error'));
  });

  it('that is larger than 2 MB is not parsed', () => {
    const { scenario, problems } = quick('a: 1\n'.repeat(500_000));
    assert.equal(scenario, undefined);
    assert.equal(problems.map(({ code }) => code).join(), 'too-large');
  });

  it('that is binary is one problem at the first strange character', () => {
    const { problems } = quick('config:\n  target: lo\u0000cal\n');
    assert.deepEqual(
      problems.map(({ code, offset }) => [code, offset]),
      [['binary', 20]],
    );
  });

  const nested: Record<string, string> = {
    'flow lists': '['.repeat(3_000) + ']'.repeat(3_000),
    'open flow lists': '['.repeat(5_000),
    'flow maps': '{'.repeat(3_000),
    'flow maps with keys': '{a: '.repeat(1_000),
    'compact lists': '- '.repeat(3_000),
    'explicit keys': '? '.repeat(3_000),
    'indented maps': Array.from({ length: 400 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
  };
  for (const [name, text] of Object.entries(nested)) {
    it(`with deep ${name} is refused`, () => {
      assert.equal(
        quick(text)
          .problems.map(({ code }) => code)
          .join(),
        'too-deep',
      );
    });
  }

  const long: Record<string, string> = {
    'closing brackets': '}'.repeat(100_000),
    quotes: '"'.repeat(100_000),
    'open quotes': "a: 'x\n".repeat(50_000),
    anchors: '&a '.repeat(100_000),
    bangs: '! '.repeat(100_000),
    keys: Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join('\n'),
    'fewer keys': Array.from({ length: 2_000 }, (_, index) => `k${index}: 1`).join('\n'),
    documents: '---\n'.repeat(60_000),
    'empty lines': '\n'.repeat(200_000),
    'one word': 'x'.repeat(200_000),
    'one key': `${'x'.repeat(1000)}: ${'y'.repeat(200_000)}`,
    'one target': `config:\n  target: ${'http://a/b,'.repeat(20_000)}\n`,
    references: `config:\n  target: "${'${'.repeat(100_000)}"\n`,
    colons: ': '.repeat(100_000),
    escapes: `"${'\\q'.repeat(50_000)}"`,
    'access keys': `# ${'endpoint=http://localhost;accesskey=ab;'.repeat(5_000)}`,
  };
  for (const [name, text] of Object.entries(long)) {
    it(`with very many ${name} ends soon and is no scenario to run`, () => {
      assert.ok(quick(text).problems.some(({ severity }) => severity === 'error'));
    });
  }

  it('keeps numbers of sections and problems bounded', () => {
    assert.ok(readYaml('}'.repeat(5_000)).problems.length <= 45);
  });
});
