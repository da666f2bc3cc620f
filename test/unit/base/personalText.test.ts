import assert from 'node:assert/strict';
import {
  connectionPlaceholders,
  fillPersonalText,
  identityPlaceholders,
  parsePersonalText,
} from '../../../src/base/personalText';
import { dotNetTicks } from '../../../src/base/message';

describe('a text that is filled when a connection opens', () => {
  const filled = (text: string, encode?: (value: string) => string): string =>
    fillPersonalText(
      parsePersonalText(text, connectionPlaceholders).parts,
      {
        ...{ index: 7, group: 'g3', nowMs: 1000 },
        identity: { user: 'ann', 'first name': 'A & B', age: 3, roles: ['x'] },
        data: { room: 'r1' },
      },
      encode,
    );

  it('has number, group, time and values of rows in it', () => {
    assert.equal(filled('u{senderIndex}-{group}'), 'u7-g3');
    assert.equal(filled('{identity.user}@{data.room}'), 'ann@r1');
    assert.equal(filled('{identity.first name}|{identity.age}|{identity.roles}'), 'A & B|3|["x"]');
    assert.equal(filled('{time} {ticks}'), `1000 ${dotNetTicks(1000)}`);
    assert.equal(filled('{{senderIndex} ${env:A}'), '{senderIndex} ${env:A}');
  });

  it('has nothing where a row has no such value, also not what every object has', () => {
    assert.equal(filled('<{identity.none}{data.constructor}>'), '<>');
  });

  it('writes values as the text around them wants them, and that text as it is', () => {
    assert.equal(filled('a&b={identity.first name}', encodeURIComponent), 'a&b=A%20%26%20B');
  });

  it('names what is not a placeholder of it, and leaves words of other tools alone', () => {
    const wrong = (text: string, names = connectionPlaceholders): string[] =>
      parsePersonalText(text, names).wrong.map(({ name, offset }) => `${offset} ${name}`);
    assert.deepEqual(wrong('{index}{sender} {identiy.room}{data}{data.}'), [
      ...['0 index', '7 sender', '16 identiy.room', '30 data', '36 data.'],
    ]);
    assert.deepEqual(wrong('{senderIndex}{index}', identityPlaceholders), ['0 senderIndex']);
    assert.deepEqual(wrong('{"a":{"b":1}} {request.path} {x_1} {senderIndex:3}'), [
      '35 senderIndex',
    ]);
  });
});
