import assert from 'node:assert/strict';
import { brief, errorsOf, fixed, problemOf, scenarioOf, withConfig } from '../parsed';

describe('an unknown key', () => {
  it('gets the key that was probably meant, with a fix', () => {
    const text = withConfig('conections: 5');
    const problem = problemOf(text, 'unknown-key');
    assert.match(problem.message, /Did you mean "connections"\?/);
    assert.deepEqual(errorsOf(fixed(text, problem)), []);
  });

  it('in the wrong letter case too', () => {
    assert.equal(problemOf(withConfig('Connections: 5'), 'unknown-key').fix?.text, 'connections');
  });

  for (const [text, home] of [
    ['connections: 5\nconfig:\n', /not belong at the top, but in config\./],
    ['groupCount: 5\n', /in scenario\.parameters/],
    [withConfig('messageSize: 5'), /not belong in config, but in scenario\.parameters/],
    [withConfig('p99: 1s'), /but in slo/],
    [withConfig('publicUrl: http://x/y'), /but in config\.upstream/],
    [withConfig('slo: {}'), /but in the top of the file/],
    ['scenario:\n  sendingInterval: 5s\n', /not belong in scenario, but in scenario\.parameters/],
    ['scenario:\n  parameters:\n    connections: 5\n', /but in config/],
  ] as const) {
    it(`under the wrong parent is shown where it belongs: ${text.split('\n').join(' ')}`, () => {
      assert.match(problemOf(text, 'unknown-key').message, home);
    });
  }

  it('at the top opens the section it belongs to, as long as there is none', () => {
    const text = 'connections: 5\nscenario:\n  name: broadcast\n';
    const mended = fixed(text, problemOf(text, 'unknown-key'));
    assert.equal(scenarioOf(mended).connections, 5);
    assert.deepEqual(errorsOf(mended), []);
    assert.equal(problemOf(`config:\n${text}`, 'unknown-key').fix, undefined);
  });

  for (const [name, text] of Object.entries({
    'keys below it': 'headers:\n  Authorization: abc\n',
    'a list below it': 'target:\n- http://localhost:5000/hub\n',
    'a folded text': 'target: >-\n  local\n',
    'a value on the next line': 'connections:\n  5\n',
  })) {
    it(`at the top is not moved without what belongs to it: ${name}`, () => {
      assert.equal(problemOf(`${text}scenario:\n  name: echo\n`, 'unknown-key').fix, undefined);
    });
  }

  it('in quotes keeps them, which make a key of it in compact braces', () => {
    const text = '{"config":{"target":"local","connectons":100},"scenario":{"name":"echo"}}';
    const mended = fixed(text, problemOf(text, 'unknown-key'));
    assert.match(mended, /"connections":100/);
    assert.deepEqual(errorsOf(mended), []);
  });

  it('that resembles nothing says what is known where that is short', () => {
    assert.match(problemOf('slo:\n  zzzzzzzzz: 5\n', 'unknown-key').message, /Known are p50, p90/);
  });

  it('is reported even when it is not a text', () => {
    assert.deepEqual(errorsOf(withConfig('5: 5', '? [a, b]', ': 5', '~: 3')), [
      'unknown-key',
      'unknown-key',
      'unknown-key',
    ]);
  });

  it('that is a merge key says that merging is not understood', () => {
    const text = 'config: &base\n  target: local\nslo:\n  <<: *base\n';
    assert.match(problemOf(text, 'unknown-key').message, /Merge keys/);
  });

  it('of another use case is a warning and is ignored', () => {
    const text =
      'config:\n  target: local\nscenario:\n  name: echo\n  parameters:\n    groupCount: x\n';
    assert.deepEqual(brief(text), ['warning other-use-case "groupCount"']);
    assert.match(problemOf(text, 'other-use-case').message, /belongs to sendToGroup/);
    assert.deepEqual(Object.keys(scenarioOf(text).entries[0]!.parameters), [
      'messageSize',
      'sendingInterval',
    ]);
  });
});

describe('an unknown use case', () => {
  it('gets the name that was probably meant and the list of names', () => {
    const text = 'config:\n  target: local\nscenario:\n  name: brodcast\n';
    const problem = problemOf(text, 'unknown-use-case');
    assert.match(problem.message, /Did you mean broadcast\?.*echo, broadcast, sendToClient/);
    assert.deepEqual(brief(fixed(text, problem)), []);
    assert.equal(scenarioOf(text).entries[0]!.name, 'broadcast');
  });

  it('in a block is replaced with the block, not with the line break behind it', () => {
    const text =
      'config:\n  target: local\nscenario:\n  name: |\n    ech\n  parameters:\n    messageSize: 2KB\n';
    assert.deepEqual(brief(fixed(text, problemOf(text, 'unknown-use-case'))), []);
  });

  it('that resembles nothing is read as echo', () => {
    assert.equal(scenarioOf('scenario:\n  name: zzzzz\n').entries[0]!.name, 'echo');
  });

  it('in another letter case is understood with a warning, an alias without', () => {
    const named = (name: string): string =>
      `config:\n  target: local\nscenario:\n  name: ${name}\n`;
    assert.deepEqual(brief(named('SENDTOCLIENT')), ['warning letter-case "SENDTOCLIENT"']);
    assert.deepEqual(brief(named('sendToConnection')), []);
    assert.equal(scenarioOf(named('sendToConnection')).entries[0]!.name, 'sendToClient');
  });
});
