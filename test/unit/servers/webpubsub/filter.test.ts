import assert from 'node:assert/strict';
import { parseFilter, FilterError } from '../../../../src/servers/webpubsub/filter';

const ann = { id: 'c1', userId: 'ann', groups: new Set(['g', "o'brien"]) };
const nobody = { id: 'c2', userId: undefined, groups: undefined };

describe('filters', () => {
  const table: [filter: string, ann: boolean, nobody: boolean][] = [
    ["userId eq 'ann'", true, false],
    ["userId ne 'ann'", false, true],
    ['userId eq null', false, true],
    ['userId ne null', true, false],
    ["connectionId eq 'c2'", false, true],
    ["'g' in groups", true, false],
    ["'o''brien' in groups", true, false],
    ["not ('g' in groups)", false, true],
    ["userId in ('bob','ann')", true, false],
    ["userId eq 'x' or userId eq 'ann' and 'h' in groups", false, false],
    ["(userId eq 'x' or userId eq 'ann') and 'g' in groups", true, false],
    ["startswith(userId, 'a')", true, false],
    ["not endswith(userId,'nn')", false, true],
    ["contains(toupper(userId), 'NN')", true, false],
    ["concat(userId, '1') eq 'ann1'", true, false],
    ['length(userId) gt 2 and length(userId) le 3', true, false],
    ["indexof(userId, 'n') eq 1", true, false],
    ["substring(userId, 1) eq 'nn' and substring(userId, 1, 1) eq 'n'", true, false],
    ["trim(tolower(' ANN ')) eq userId", true, false],
    ["userId lt 'b' and userId ge 'ann'", true, false],
    ['TRUE and not false', true, true],
    ["USERID EQ 'ann'", true, false],
  ];
  for (const [filter, forAnn, forNobody] of table) {
    it(`mean what they say: ${filter}`, () => {
      const wants = parseFilter(filter);
      assert.deepEqual([wants(ann), wants(nobody)], [forAnn, forNobody]);
    });
  }

  it('that are not understood are refused with the place', () => {
    const bad = ['', 'age gt 3', 'userId', "userId eq 'x", "userId eq 'x')", 'userId eq', '()'];
    const more = [
      "groups eq 'g'",
      "'g' in (",
      'length() gt 3',
      'length(userId, 2) gt 1',
      '1 +',
      '1e5',
      'null',
      '1 constructor 1',
      "'true'x",
    ];
    for (const filter of [...bad, ...more]) {
      assert.throws(() => parseFilter(filter), FilterError, filter);
    }
    assert.throws(() => parseFilter('not '.repeat(2000)), FilterError);
  });

  const reported: [filter: string, problem: string][] = [
    ['invalid filter', 'Syntax error at position 14 in'],
    ["userId eq 'a') and x", 'Syntax error at position 14 in'],
    ['userId eq', 'Syntax error at position 9 in'],
    ['userId eq 1e5', 'Syntax error at position 10 in'],
    ["userId eq 'x", 'There is an unterminated string literal at position 12 in'],
    ["userId eq 'a' && x", "Syntax error: character '&' is not valid at position 14 in"],
    ["userId eq 'a' and Age gt 3", "Could not find a property named 'Age' at position 18 in"],
    ["endwith(userId, 'a')", "An unknown function with name 'endwith' was found at position 0 in"],
    [
      ' length(userId, 1) gt 1',
      "The function 'length' takes another number of arguments at position 1 in",
    ],
    ['('.repeat(100), 'It is nested too deeply at position 51 in'],
  ];
  for (const [filter, problem] of reported) {
    it(`that are not understood are refused with what and where: ${filter}`, () => {
      const message = `Invalid syntax for '${filter}': ${problem} '${filter}'. (Parameter 'filter')`;
      assert.throws(() => parseFilter(filter), { message });
    });
  }

  it('that are too long are not repeated', () => {
    assert.throws(
      () => parseFilter('x'.repeat(9000)),
      (error: Error) => {
        assert.match(error.message, /^Invalid syntax for 'x{100}…': A filter has at most 8192/);
        return error.message.length < 300;
      },
    );
  });
});
