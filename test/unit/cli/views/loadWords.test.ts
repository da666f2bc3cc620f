import assert from 'node:assert/strict';
import { loadWords } from '../../../../src/cli/views/loadWords';
import { parseScenario } from '../../../../src/scenario/parseScenario';

describe('loadWords', () => {
  it('counts the members of a group with all groups that a connection joins', () => {
    const { scenario } = parseScenario(
      'config: { connections: 20, baseSending: 20 }\n' +
        'scenario: { name: sendToGroup, parameters: { groupCount: 4, groupsPerConnection: 2 } }\n',
    );
    assert.ok(scenario);
    assert.match(loadWords(scenario), /groups of 10,/);
  });

  it('is soon done with a mix from a file that nobody has checked', () => {
    const { scenario } = parseScenario('scenario: { name: echo }\n');
    assert.ok(scenario);
    const [entry] = scenario.entries;
    const entries = Array.from({ length: 10_000 }, () => entry!);
    const hostile = { ...scenario, entries, connections: 1e308, baseSending: 1, step: 1e-300 };
    const words = loadWords(hostile);
    assert.match(words, / \+ 9,990 more, .* in 10,000 steps$/);
    assert.ok(words.length < 1500, `${words.length} characters`);
  });
});
