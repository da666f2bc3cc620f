import assert from 'node:assert/strict';
import { loadWords } from '../../../src/cli/loadWords';
import { parseScenario } from '../../../src/scenario/parseScenario';

describe('loadWords', () => {
  it('counts the members of a group with all groups that a connection joins', () => {
    const { scenario } = parseScenario(
      'config: { connections: 20, baseSending: 20 }\n' +
        'scenario: { name: sendToGroup, parameters: { groupCount: 4, groupsPerConnection: 2 } }\n',
    );
    assert.ok(scenario);
    assert.match(loadWords(scenario), /groups of 10,/);
  });
});
