import assert from 'node:assert/strict';
import { locateProblems, formatProblem } from '../../../../src/cli/scenarioOf';
import { parseScenario } from '../../../../src/scenario/parseScenario';

const linesOf = (text: string, set: Record<string, string> = {}): string[] => {
  const overrides = Object.entries(set).map(([path, value]) => ({ path, value }));
  return locateProblems('a.yaml', text, parseScenario(text, { overrides }).problems).map(
    formatProblem,
  );
};

describe('a problem as one line', () => {
  it('names the flag that a wrong value came from, not a place in the file', () => {
    const lines = linesOf('config:\n  target: local\n', {
      'config.connections': 'abc',
      'config.foo': '1',
      'config.target': 'ftp://x',
    });
    assert.deepEqual(lines.length, 3);
    assert.ok(
      lines.some((line) => line.startsWith('--set config.connections: error wrong-type conn')),
    );
    assert.ok(
      lines.includes('--set config.foo: error unknown-key there is no key "foo" in config.'),
    );
    assert.ok(lines.some((line) => line.startsWith('--target: error hub-url "ftp://x" in target')));
  });

  it('points at the bracket that is never closed, and reports nothing of what follows from it', () => {
    assert.deepEqual(
      linesOf('config:\n  target: local\n  connections: [10\nscenario:\n  name: echo\n'),
      [
        'a.yaml:3:16 error yaml Not valid YAML: this [ is never closed. Write ] where the list ends.',
      ],
    );
    assert.deepEqual(linesOf('config: { target: local\nscenario:\n  name: echo\n'), [
      'a.yaml:1:9 error yaml Not valid YAML: this { is never closed. Write } where the map ends.',
    ]);
  });

  it('says what a flag is to be written as', () => {
    const reported = (value: string): string =>
      linesOf(`config:\n  target: local\n  skipNegotiation: ${value}\n`)[0] ?? '';
    assert.match(reported('yes'), /must be true or false, not "yes": write true\.$/);
    assert.match(reported('off'), /must be true or false, not "off": write false\.$/);
    assert.match(reported('"true"'), /must be true or false, without quotes\.$/);
    assert.match(reported('maybe'), /must be true or false\.$/);
  });
});
