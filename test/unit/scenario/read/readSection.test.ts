import assert from 'node:assert/strict';
import {
  testProblems,
  brief,
  errorsOf,
  fixed,
  messageOf,
  problemOf,
  scenarioOf,
  withConfig,
} from '../parsed';

describe('an unknown key', () => {
  testProblems(`
    a key of config at the top | | connections: 5 | error unknown-key "connections" | not belong at the top, but in config\\.
    a parameter at the top | | groupCount: 5 | error unknown-key "groupCount" | in scenario\\.parameters
    a parameter in config | messageSize: 5 | | error unknown-key "messageSize" | not belong in config, but in scenario\\.parameters
    an objective in config | p99: 1s | | error unknown-key "p99" | but in slo
    a key of upstream in config | publicUrl: http://x/y | | error unknown-key "publicUrl" | but in config\\.upstream
    a section in config | slo: {} | | error unknown-key "slo" | but in the top of the file
    a parameter beside the name | | scenario: { sendingInterval: 5s } | error unknown-key "sendingInterval" | not belong in scenario, but in scenario\\.parameters
    a key of config as a parameter | | scenario: { parameters: { connections: 5 } } | error unknown-key "connections" | but in config
    one that resembles nothing | | slo: { zzzzzzzzz: 5 } | error unknown-key "zzzzzzzzz" | Known are p50, p90
    one that is misspelt | conections: 5 | | error unknown-key "conections" | Did you mean "connections"\\?
    one in another letter case | Connections: 5 | | error unknown-key "Connections" | Did you mean "connections"\\?
  `);

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

  it('is reported even when it is not a text', () => {
    assert.deepEqual(errorsOf(withConfig('5: 5', '? [a, b]', ': 5', '~: 3')), [
      'unknown-key',
      'unknown-key',
      'unknown-key',
    ]);
  });

  it('that is a merge key says that merging is not understood', () => {
    const text = 'config: &base\n  target: local\nslo:\n  <<: *base\n';
    assert.match(messageOf(text, 'unknown-key'), /Merge keys/);
  });

  it('of another use case is a warning and is ignored', () => {
    const text =
      'config:\n  target: local\nscenario:\n  name: echo\n  parameters:\n    groupCount: x\n';
    assert.deepEqual(brief(text), ['warning other-use-case "groupCount"']);
    assert.match(messageOf(text, 'other-use-case'), /belongs to sendToGroup/);
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
