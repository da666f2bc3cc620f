import assert from 'node:assert/strict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { scenarioSchema } from '../../../../src/scenario/keys/schema';
import { brief, problemOf, scenarioOf, withConfig } from '../parsed';

const pushing = (pushes: string, scenario = 'name: connectOnly'): string =>
  `${withConfig('connections: 100', `pushes: ${pushes}`)}scenario: { ${scenario} }\n`;
const price = 'name: PriceChanged, perSecond: 2, size: 38';

describe('pushes of a file', () => {
  it('have a name, a rate, a size and those whom they reach, everyone where nobody says so', () => {
    const text = pushing(
      `[{ ${price} }, { name: Typing, perSecond: 30/m, size: 1KB, to: group }, { name: Ping, perSecond: 0.1/s, size: 2, to: client }]`,
      'name: sendToGroup, parameters: { groupCount: 10 }',
    );
    assert.deepEqual(brief(text), []);
    assert.deepEqual(scenarioOf(text).pushes, [
      { name: 'PriceChanged', perSecond: 2, bytes: 38, to: 'everyone' },
      { name: 'Typing', perSecond: 0.5, bytes: 1024, to: 'group' },
      { name: 'Ping', perSecond: 0.1, bytes: 2, to: 'client' },
    ]);
    assert.equal(scenarioOf(withConfig()).pushes, undefined);
  });

  const wrong: [string, string, string, RegExp][] = [
    ['no list', '{ name: A }', 'wrong-type', /pushes must be a list/],
    ['no map', '[A]', 'wrong-type', /Each entry of pushes is a map/],
    ['no name', '[{ perSecond: 2, size: 9 }]', 'missing-key', /has no name\./],
    ['no rate and no size', '[{ name: A }]', 'missing-key', /has no perSecond, size\./],
    ['an empty name', "[{ name: ' ', perSecond: 2, size: 9 }]", 'empty-value', /name is an empty/],
    [
      'a long name',
      `[{ name: ${'a'.repeat(101)}, perSecond: 2, size: 9 }]`,
      'too-large',
      /longer than 100/,
    ],
    ['no rate above 0', '[{ name: A, perSecond: 0, size: 9 }]', 'below-bounds', /perSecond must/],
    [
      'a rate beyond all hubs',
      '[{ name: A, perSecond: 2000000, size: 9 }]',
      'above-bounds',
      /at most 1,000,000/,
    ],
    [
      'a size of 0',
      '[{ name: A, perSecond: 2, size: 0 }]',
      'below-bounds',
      /size must be at least/,
    ],
    ['a size beyond 16 MB', '[{ name: A, perSecond: 2, size: 17MB }]', 'above-bounds', /16 MB/],
    ['others', `[{ ${price}, to: users }]`, 'unknown-value', /everyone, group or client/],
    ['a misspelt key', `[{ ${price}, too: client }]`, 'unknown-key', /"to"/],
    ['groups of nobody', `[{ ${price}, to: group }]`, 'push-group', /to: client/],
  ];
  for (const [what, pushes, code, message] of wrong)
    it(`are refused: ${what}`, () => {
      assert.match(problemOf(pushing(pushes), code).message, message);
    });

  it('belong under config', () => {
    const text = `${withConfig()}pushes: [{ ${price} }]\n`;
    assert.match(problemOf(text, 'unknown-key').message, /in config/);
  });

  it('are bounded in number, in the schema, too, and never throw', () => {
    const many = `[${Array.from({ length: 101 }, () => `{ ${price} }`).join(', ')}]`;
    assert.match(problemOf(pushing(many), 'above-bounds').message, /at most 100/);
    assert.equal(scenarioOf(pushing(many)).pushes?.length, 100);
    const schema = JSON.stringify(scenarioSchema());
    assert.match(schema, /"pushes":\{[^{}]*"type":"array","minItems":1,"maxItems":100,/);
    for (const pushes of ['[', '[null]', '[[]]', '{}', '[{ name: 5, size: x }]', '[{ to: [] }]'])
      assert.doesNotThrow(() => parseScenario(pushing(pushes)));
  });
});
