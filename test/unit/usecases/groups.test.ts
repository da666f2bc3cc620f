import assert from 'node:assert/strict';
import fc from 'fast-check';
import { largestGroup } from '../../../src/usecases/parameters';

/** Lets every connection join, one by one. */
function countedLargest(connections: number, groupCount: number, perConnection: number): number {
  const members = new Array<number>(groupCount).fill(0);
  for (let connection = 0; connection < connections; connection++) {
    for (let joined = 0; joined < Math.min(perConnection, groupCount); joined++) {
      members[(connection + joined) % groupCount]! += 1;
    }
  }
  return Math.max(...members);
}

describe('the largest group', () => {
  for (const [connections, groupCount, groupsPerConnection, members] of [
    [1900, 190, 1, 10],
    [1900, 180, 1, 11],
    [1000, 500, 1, 2],
    [10, 20, 1, 1],
    [10, 3, 5, 10],
    [5, 4, 2, 3],
  ] as const) {
    it(`of ${connections} connections in ${groupsPerConnection} of ${groupCount} groups has ${members} members`, () => {
      assert.equal(largestGroup({ groupCount, groupsPerConnection }, connections), members);
    });
  }

  it('is what counting gives', () => {
    const numbers = fc.tuple(
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 50 }),
    );
    fc.assert(
      fc.property(numbers, ([connections, groupCount, groupsPerConnection]) => {
        assert.equal(
          largestGroup({ groupCount, groupsPerConnection }, connections),
          countedLargest(connections, groupCount, groupsPerConnection),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('without a number of groups is a defect, not a number', () => {
    assert.throws(() => largestGroup({ groupsPerConnection: 1 }, 10), /groupCount/);
  });
});
