import assert from 'node:assert/strict';
import {
  analyseScenario,
  diagnosticsOf,
  type Analysis,
  isEditableScheme,
  isYamlTooling,
  withoutReportedErrors,
  analysisCache,
} from '../../../../src/extension/language/analyseScenario';
import { quickFixes, type TextFix } from '../../../../src/extension/language/quickFixes';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { crlf, tooMuch } from './atCursor';
import type { Problem } from '../../../../src/scenario/problem';

const codes = (text: string): string[] =>
  diagnosticsOf(analyseScenario(text)).map(({ code }) => code);

function applied(text: string, { changes }: TextFix): string {
  return [...changes]
    .map((change, index) => ({ ...change, index }))
    .sort((a, b) => b.offset - a.offset || b.index - a.index)
    .reduce(
      (now, { offset, length, text: put }) =>
        now.slice(0, offset) + put + now.slice(offset + length),
      text,
    );
}

const exceeded = (analysis: Analysis): TextFix[] => {
  const problem = diagnosticsOf(analysis).find(({ code }) => code === 'exceeds-unit');
  assert.ok(problem);
  return quickFixes(analysis, problem);
};

describe('diagnosticsOf', () => {
  it('is what the parser says', () => {
    const text = 'config:\n  conections: 5\n';
    assert.deepEqual(diagnosticsOf(analyseScenario(text)), parseScenario(text).problems);
  });

  it('says at the unit that it is exceeded', () => {
    const found = diagnosticsOf(analyseScenario(tooMuch)).find(
      ({ code }) => code === 'exceeds-unit',
    )!;
    assert.equal(tooMuch.slice(found.offset, found.offset + found.length), '5');
    assert.equal(found.severity, 'warning');
    assert.match(found.message, /Too much for Unit 5: it takes Unit 10/);
    assert.ok(!codes(tooMuch.replace('unit: 5', 'unit: 10')).includes('exceeds-unit'));
  });

  it('says it at the tier when that is free', () => {
    const text = 'config:\n  sku: free\n  connections: 100\nscenario:\n  name: echo\n';
    const found = diagnosticsOf(analyseScenario(text)).find(({ code }) => code === 'exceeds-unit')!;
    assert.equal(text.slice(found.offset, found.offset + found.length), 'free');
  });

  it('gives one problem for a file above 2 MB, and reads nothing of it', () => {
    const analysis = analyseScenario('config:\n  connections: 5\n'.repeat(200_000));
    assert.deepEqual(
      diagnosticsOf(analysis).map(({ code }) => code),
      ['too-large'],
    );
    assert.equal(analysis.outline.nodes.length, 0);
  });
});

describe('quickFixes', () => {
  it("solves the parser's problems", () => {
    const text = 'config:\n  conections: 5\n';
    const analysis = analyseScenario(text);
    const problem = diagnosticsOf(analysis).find(({ code }) => code === 'unknown-key')!;
    const [fix] = quickFixes(analysis, problem);
    assert.equal(applied(text, fix!), 'config:\n  connections: 5\n');
  });

  const variants = {
    'numbers in milliseconds': tooMuch,
    'durations as text': tooMuch.replace('1000', '1s'),
    CRLF: crlf(tooMuch),
    'no interval': tooMuch.replace(/ {4}sendingInterval.*\n/, ''),
    brackets: tooMuch.replace(
      /parameters:[^]*$/,
      'parameters: {messageSize: 2KB, groupCount: 190}\n',
    ),
    'a limit of steps': tooMuch.replace('step: 600', 'step: 600\n  sendingSteps: 3'),
    'the standard tier': tooMuch.replace('unit: 5', 'unit: 5\n  sku: standard'),
    'the free tier': tooMuch
      .replace('unit: 5', 'sku: free')
      .replaceAll('190', '10')
      .replace('100 ', '10'),
  };
  for (const [name, text] of Object.entries(variants)) {
    it(`makes a scenario fit its unit in several ways: ${name}`, () => {
      const fixes = exceeded(analyseScenario(text));
      assert.ok(fixes.length >= 1);
      for (const fix of fixes) {
        const before = codes(text).filter((code) => code !== 'exceeds-unit');
        const added = codes(applied(text, fix)).filter((code) => !before.includes(code));
        assert.deepEqual(added, [], `${fix.title}:\n${applied(text, fix)}`);
      }
    });
  }

  it('offers the unit, the interval and the senders', () => {
    const titles = exceeded(analyseScenario(tooMuch)).map(({ title }) => title);
    assert.deepEqual(titles, [
      'Plan Unit 10, the smallest that fits',
      'Send every 1900 ms',
      'Send from 700 connections at most',
    ]);
  });

  for (const unit of ['unit:\n    5', 'unit: >-\n    5', 'unit: # five\n\n    5']) {
    it(`writes over a value that stands below the line of its key: ${unit.split('\n').join(' ')}`, () => {
      const text = tooMuch.replace('unit: 5', unit).replace('step: 600', 'step:\n    600');
      const plan = exceeded(analyseScenario(text)).find(({ title }) => title.startsWith('Plan'));
      assert.ok(plan);
      const { scenario } = analyseScenario(applied(text, plan));
      assert.deepEqual([scenario?.unit, scenario?.step], [10, 600]);
    });
  }

  const echo = 'scenario:\n  name: echo\n';
  const removals: readonly (readonly [text: string, title: string, rest: string])[] = [
    [`config:\n  connections:\n  step: 5\n${echo}`, 'connections', `config:\n  step: 5\n${echo}`],
    [`config:\n  zzz: 5 # why\n${echo}`, 'zzz', echo],
    [`config: { step: 5, zzz: 1 }\n${echo}`, 'zzz', `config: { step: 5 }\n${echo}`],
    [`config: { zzz: 1, step: 5 }\n${echo}`, 'zzz', `config: { step: 5 }\n${echo}`],
    [`config:\n  step: 5\n  step: 6\n${echo}`, 'step', `config:\n  step: 5\n${echo}`],
    [`config:\n  acks: all\n  step: 5\n${echo}`, 'acks', `config:\n  step: 5\n${echo}`],
    [
      `${echo}  parameters:\n    groupCount: 5\n    messageSize: 1KB\n`,
      'groupCount',
      `${echo}  parameters:\n    messageSize: 1KB\n`,
    ],
    [
      `${echo}  parameters:\n    messageSize: 1KB\n    messageSizes: 1KB 50 %, 2KB 50 %\n`,
      'messageSize',
      `${echo}  parameters:\n    messageSizes: 1KB 50 %, 2KB 50 %\n`,
    ],
    [
      `config:\n  connectionFailPercentage: 0.1\n  step: 5\nslo:\n  dropped: 1%\n${echo}`,
      'connectionFailPercentage',
      `config:\n  step: 5\nslo:\n  dropped: 1%\n${echo}`,
    ],
    [`config:\n  step: !mine 5\n${echo}`, 'the tag', `config:\n  step:  5\n${echo}`],
    [
      'scenarios:\n  - zzz: 5\n    name: echo\n  - name: broadcast\n',
      'zzz',
      'scenarios:\n  - name: echo\n  - name: broadcast\n',
    ],
  ];
  for (const [at, [text, what, rest]] of removals.entries()) {
    // Each second one with the line ends of Windows.
    const change = at % 2 === 0 ? String : crlf;
    it(`takes out what a message says to remove: ${what} of ${JSON.stringify(change(text))}`, () => {
      const analysis = analyseScenario(change(text));
      for (const problem of diagnosticsOf(analysis))
        if (/\bremove\b/i.test(problem.message))
          assert.ok(quickFixes(analysis, problem).length > 0, problem.message);
      const fixes = diagnosticsOf(analysis).flatMap((problem) => quickFixes(analysis, problem));
      const fix = fixes.find(({ title }) => title.startsWith('Remove '));
      assert.equal(applied(change(text), fix!), change(rest));
    });
  }

  it('drops a fix after which the problem is still there, or which breaks the text', () => {
    const text = 'config:\n  target: local\nscenario:\n  name: ech\n';
    const analysis = analyseScenario(text);
    const problem = diagnosticsOf(analysis).find(({ code }) => code === 'unknown-use-case')!;
    const { offset, length } = problem;
    const wrote = (written: string): number =>
      quickFixes(analysis, {
        ...problem,
        fix: { title: 'x', offset, length, text: written },
      }).length;
    assert.equal(wrote('echo'), 1);
    assert.equal(wrote('nothing'), 0);
    assert.equal(wrote('echo: {'), 0);
    assert.equal(wrote('echo\n  nme: 5'), 0);
  });

  it('keeps a fix that lets mistakes below it be seen', () => {
    const text = 'confg:\n  target: local\n  conections: 5\n  uni: 3\nscenario:\n  name: echo\n';
    const analysis = analyseScenario(text);
    const problem = diagnosticsOf(analysis).find(({ code }) => code === 'unknown-key')!;
    assert.deepEqual(
      quickFixes(analysis, problem).map(({ title }) => title),
      ['Write "config"'],
    );
  });

  it('offers what helps only: connections alone are too many', () => {
    const text = 'config:\n  unit: 1\n  connections: 5000\nscenario:\n  name: connectOnly\n';
    assert.deepEqual(
      exceeded(analyseScenario(text)).map(({ title }) => title),
      ['Plan Unit 5, the smallest that fits'],
    );
  });
});

const text = 'config:\n  conections: 5\n  unit: 3\n  accessToken: abc\n';
const { problems } = parseScenario(text);
const lineOf = ({ offset }: Problem): number => text.slice(0, offset).split('\n').length - 1;
const left = (...lines: number[]): string[] =>
  withoutReportedErrors(problems, lineOf, new Set(lines)).map(({ code }) => code);

describe('problems beside those of other YAML tooling', () => {
  const all = problems.map(({ code }) => code);

  it('are all shown where it reports nothing', () => {
    assert.deepEqual(left(), all);
    assert.deepEqual(left(7), all);
  });

  it('leave out the errors of its lines, and only these', () => {
    const without = (code: string): string[] => all.filter((each) => each !== code);
    assert.ok(all.includes('unknown-key'));
    assert.deepEqual(left(1), without('unknown-key'));
    // A warning is known here only.
    assert.ok(all.includes('secret-in-file'));
    assert.deepEqual(left(3), all);
  });

  it('know the tooling by its source', () => {
    for (const source of ['YAML', 'yaml-schema: Scenario', 'yaml-schema'])
      assert.ok(isYamlTooling(source), source);
    for (const source of ['SignalR Benchmark', 'yamllint', '', undefined])
      assert.ok(!isYamlTooling(source), source);
  });
});

describe('isEditableScheme', () => {
  it('knows what people work on, and leaves out what is only shown', () => {
    for (const scheme of ['file', 'untitled', 'vscode-remote'])
      assert.ok(isEditableScheme(scheme, []));
    for (const scheme of ['git', 'output', 'vscode-userdata', 'x']) {
      assert.equal(isEditableScheme(scheme, ['file']), false, scheme);
    }
    assert.ok(isEditableScheme('vscode-vfs', ['vscode-vfs']));
  });
});

/** A document that counts how often its text is put together. */
function fakeDocument(text: string) {
  const document = {
    version: 1,
    reads: 0,
    size: text.length,
    getText: () => {
      document.reads += 1;
      return text;
    },
  };
  return document;
}

const cacheOf = (isScenario: boolean) =>
  analysisCache({
    isScenario: () => isScenario,
    sizeOf: ({ size }: ReturnType<typeof fakeDocument>) => size,
  });

describe('analysisCache', () => {
  it('reads each version once', () => {
    const cache = cacheOf(true);
    const document = fakeDocument('scenario:\n  name: echo\n');
    assert.ok(cache.analysisOf(document)?.scenario);
    assert.equal(cache.analysisOf(document), cache.analysisOf(document));
    assert.equal(document.reads, 1);
    document.version += 1;
    assert.ok(cache.analysisOf(document));
    assert.equal(document.reads, 2);
    assert.equal(cache.isTooLarge(document), false);
    assert.equal(cacheOf(false).analysisOf(document), undefined);
  });

  it('does not even fetch a text of megabytes', () => {
    const cache = cacheOf(true);
    const document = fakeDocument('# '.repeat(2_500_000));
    assert.equal(cache.analysisOf(document), undefined);
    assert.equal(cache.isTooLarge(document), true);
    assert.equal(document.reads, 0);
    assert.equal(cacheOf(false).isTooLarge(document), false);
  });
});
