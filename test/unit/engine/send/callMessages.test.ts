import assert from 'node:assert/strict';
import {
  matchesCondition,
  compileKeep,
  maxKeptCharacters,
  fillKeptValues,
} from '../../../../src/engine/send/callMessages';
import { parseArguments } from '../../../../src/usecases/ownArguments';

describe('values of answers', () => {
  const find = (path: string, answer: unknown): unknown => compileKeep({ x: path })[0]![1](answer);

  it('are found by their JSONPath', () => {
    const answer = [
      { id: 'a', tags: ['new'] },
      { id: 'b', price: 3 },
    ];
    assert.equal(find('$[0].id', answer), 'a');
    assert.equal(find('$[?@.price > 2].id', answer), 'b');
    assert.deepEqual(find('$[0].tags', answer), ['new']);
    assert.equal(find('$', null), null);
    assert.equal(find('$[5].id', answer), undefined);
    assert.equal(find('$', undefined), undefined);
  });

  it('are not found in an answer that is nested too deep to look through', () => {
    let answer: unknown = { id: 1 };
    for (let depth = 0; depth < 5000; depth += 1) answer = { x: answer };
    assert.equal(find('$..id', answer), undefined);
  });

  it('are not kept where they are too large', () => {
    assert.equal(find('$', 'x'.repeat(maxKeptCharacters)), 'x'.repeat(maxKeptCharacters));
    assert.equal(find('$', 'x'.repeat(maxKeptCharacters + 1)), undefined);
    assert.equal(find('$', { x: 'x'.repeat(maxKeptCharacters) }), undefined);
  });

  it('go into arguments as they are, and name what is missing', () => {
    const items = parseArguments('["{a}", "is {a}", {"b": ["{b}"]}]', () => true);
    const filled = fillKeptValues(
      items,
      new Map<string, unknown>([
        ['a', 5],
        ['b', { c: '{text}' }],
      ]),
    );
    assert.deepEqual(filled, [
      { kind: 'value', value: 5 },
      { kind: 'text', parts: ['is ', '5'] },
      {
        kind: 'map',
        members: [
          [
            'b',
            {
              kind: 'list',
              items: [{ kind: 'map', members: [['c', { kind: 'text', parts: ['{text}'] }]] }],
            },
          ],
        ],
      },
    ]);
    assert.equal(fillKeptValues(items, new Map([['a', 5]])), 'b');
  });

  it('are asked for by what they equal, or whether there are any', () => {
    assert.deepEqual(
      [0, '', null, false, undefined, []].map((value) => matchesCondition(value, undefined)),
      Array(6).fill(false),
    );
    assert.deepEqual(
      [1, 'x', true, {}, [0]].map((value) => matchesCondition(value, undefined)),
      Array(5).fill(true),
    );
    assert.equal(matchesCondition(null, null), true);
    assert.equal(matchesCondition('1', 1), false);
  });
});
