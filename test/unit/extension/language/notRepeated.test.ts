import assert from 'node:assert/strict';
import {
  hasPlace,
  isYamlTooling,
  notRepeated,
} from '../../../../src/extension/language/analyseScenario';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Problem } from '../../../../src/scenario/problem';

const text = 'config:\n  conections: 5\n  unit: 3\n  accessToken: abc\n';
const { problems } = parseScenario(text);
const lineOf = ({ offset }: Problem): number => text.slice(0, offset).split('\n').length - 1;
const left = (...lines: number[]): string[] =>
  notRepeated(problems, lineOf, new Set(lines)).map(({ code }) => code);

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

describe('hasPlace', () => {
  it('knows what people work on, and leaves out what is only shown', () => {
    for (const scheme of ['file', 'untitled', 'vscode-remote']) assert.ok(hasPlace(scheme, []));
    for (const scheme of ['git', 'output', 'vscode-userdata', 'x']) {
      assert.equal(hasPlace(scheme, ['file']), false, scheme);
    }
    assert.ok(hasPlace('vscode-vfs', ['vscode-vfs']));
  });
});
