import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseFilter } from '../../../../src/servers/webpubsub/filter';
import { FilterError } from '../../../../src/servers/webpubsub/filterTokens';

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
    assert.throws(() => parseFilter("userId eq 'a' and age gt 3"), /position 18/);
    assert.throws(() => parseFilter('('.repeat(100)), /deep/);
    assert.throws(() => parseFilter('not '.repeat(2000)), FilterError);
    assert.throws(() => parseFilter(' '.repeat(9000)), /8192/);
  });

  it('made of anything are understood or refused', () => {
    const words =
      "userId groups 'g' in eq and or not ( ) , length startswith 1 null constructor".split(' ');
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...words)).map((list) => list.join(' ')),
    );
    const check = fc.property(text, (filter) => {
      try {
        assert.equal(typeof parseFilter(filter)(nobody), 'boolean');
      } catch (error) {
        assert.ok(error instanceof FilterError, String(error));
      }
    });
    fc.assert(check, { numRuns: 500 });
  });
});
