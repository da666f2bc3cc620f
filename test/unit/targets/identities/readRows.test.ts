import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { readRows } from '../../../../src/targets/identities/readRows';

const refusal = (file: string, text: string): string => {
  try {
    readRows(file, text);
  } catch (error) {
    assert.ok(error instanceof ExpectedError && error.code === 'data-file', String(error));
    return error.message;
  }
  return 'read';
};

describe('a file of rows', () => {
  it('is CSV with names in its first line, however it was written', () => {
    assert.deepEqual(readRows('u.csv', '\uFEFFuser, room\r\nann,"a ""b"", c"\r\n\r\nbob,\r\n'), [
      { user: 'ann', room: 'a "b", c' },
      { user: 'bob', room: '' },
    ]);
    assert.deepEqual(readRows('u.csv', 'user;weight\nann;1,5\n'), [{ user: 'ann', weight: '1,5' }]);
    assert.deepEqual(readRows('u.tsv', 'user\tline\nann\t"a\nb"'), [{ user: 'ann', line: 'a\nb' }]);
    assert.deepEqual(readRows('u.csv', 'user\nann'), [{ user: 'ann' }]);
  });

  it('is one JSON object a line, whose values keep what they are', () => {
    const text =
      '\uFEFF{"user":"ann","age":3,"roles":["a"]}\r\n\n{"age":null,"user":7,"roles":[],"x":1}';
    assert.deepEqual(readRows('u.jsonl', text), [
      { user: 'ann', age: 3, roles: ['a'] },
      { age: null, user: 7, roles: [], x: 1 },
    ]);
    const [row] = readRows('u.ndjson', '{"__proto__":"x"}');
    assert.deepEqual(Object.keys(row!), ['__proto__']);
    assert.deepEqual(Object.keys(readRows('u.csv', '__proto__\nx')[0]!), ['__proto__']);
  });

  it('says where it is wrong, and nothing of what stands there', () => {
    const secret = 's3cret';
    const wrong: readonly (readonly [file: string, text: string, message: RegExp])[] = [
      ['u.csv', '', /has no rows/],
      ['u.csv', 'user,room\n', /has no rows/],
      ['u.csv', `user,room\nann,1\n${secret}\n`, /line 3 has 1 value, another number/],
      ['u.csv', `user,room\n"x\ny",1\na,b,${secret}\n`, /line 4 has 3 values/],
      ['u.csv', `user,room\nann,"${secret}\n`, /has a quote that is never closed/],
      ['u.csv', `user,room\nann,"1"${secret}\n`, /line 2 has a quote inside a value/],
      ['u.csv', `user,\nann,${secret}\n`, /has no name for column 2/],
      ['u.csv', 'user,user\na,b\n', /names the column user twice/],
      ['u.csv', `user\n"${'x'.repeat(300_000)}`, /line \d belongs to a row of more than 256 KB/],
      ['u.csv', '{"user":"ann"}', /ends with \.jsonl/],
      ['u.json', '[{"user":"ann"}]', /ends with \.jsonl/],
      ['u.jsonl', `{"user":"ann"}\n{"user":${secret}}`, /line 2 is not a JSON object/],
      ['u.jsonl', '\n["ann"]', /line 2 is not a JSON object/],
      ['u.jsonl', '{"user":1,"room":2}\n{"user":1}', /line 2 has no room/],
      ['u.jsonl', `{"user":"${'x'.repeat(300_000)}"}`, /line 1 is longer than 256 KB/],
      ['u.csv', `${Array.from({ length: 201 }, (_, at) => `c${at}`).join()}\n`, /more than 200/],
    ];
    for (const [file, text, message] of wrong) {
      const said = refusal(file, text);
      assert.match(said, message);
      assert.ok(!said.includes(secret), said);
    }
  });
});
