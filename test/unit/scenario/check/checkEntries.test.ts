import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nearestDivisors } from '../../../../src/scenario/check/checkEntries';
import { openStreamsNeeded, type StreamShape } from '../../../../src/usecases/streams';
import { errorsOf, fixed, problemOf, scenarioOf, testProblems } from '../parsed';

const groups = (parameters: string): string =>
  `scenario: { name: sendToGroup, parameters: { ${parameters} } }`;

describe('groupCount', () => {
  testProblems(`
    that does not divide | connections: 1900 // baseSending: 1 | ${groups('groupCount: 180')} | warning group-count "180" | ^1,900 connections do not divide into 180 groups \\(10\\.6 members\\)\\. 190 makes groups of 10, 100 groups of 19\\.$
    above the connections | connections: 100 // baseSending: 1 | ${groups('groupCount: 180')} | error group-count "180"
    below groupsPerConnection | connections: 100 // baseSending: 1 | ${groups('groupCount: 2, groupsPerConnection: 5')} | warning group-count "5"
  `);

  const local = 'config:\n  target: local\n';
  for (const [name, text] of Object.entries({
    'other parameters stand': `${local}scenario:\n  name: sendToGroup\n  parameters:\n    messageSize: 5KB\n`,
    'the parameters are empty': `${local}scenario:\n  name: sendToGroup\n  parameters:\n`,
    'only the name stands': `${local}scenario:\n  name: sendToGroup`,
    'a comment follows': `${local}scenario:\n  name: sendToGroup # small\n`,
    'the parameters are {}': `${local}scenario:\n  name: sendToGroup\n  parameters: {}\n`,
    'they stand in braces': `${local}scenario:\n  name: sendToGroup\n  parameters: { messageSize: 5KB }\n`,
    'it is one of a mix': `${local}scenarios:\n  - name: sendToGroup\n  - name: echo\n`,
    'lines end with CRLF': `${local}scenario:\n  name: sendToGroup\n`.replaceAll('\n', '\r\n'),
  }))
    it(`is required, and its fix writes it where ${name}`, () => {
      const problem = problemOf(text, 'group-count');
      assert.equal(problem.severity, 'error');
      assert.deepEqual(errorsOf(fixed(text, problem)), [], fixed(text, problem));
    });

  it('is a number for the estimate where it is missing or too large', () => {
    const count = (text: string): unknown => scenarioOf(text).entries[0]!.parameters['groupCount'];
    assert.equal(count('scenario:\n  name: sendToGroup\n'), 100);
    assert.equal(count(`config: { connections: 100 }\n${groups('groupCount: 180')}\n`), 100);
  });

  it('suggests divisors that are the nearest on each side', () => {
    const numbers = fc.tuple(fc.integer({ min: 3, max: 5000 }), fc.integer({ min: 2, max: 4999 }));
    fc.assert(
      fc.property(numbers, ([total, count]) => {
        fc.pre(count < total && total % count !== 0);
        const [below, above] = nearestDivisors(total, count).sort((a, b) => a - b);
        assert.ok(below < count && count < above);
        const between = Array.from({ length: above - below - 1 }, (_, at) => below + 1 + at);
        assert.ok(between.every((each) => total % each !== 0));
        assert.deepEqual([total % below, total % above], [0, 0]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('streams', () => {
  const streams = (parameters: string): string =>
    `connections: 10 | scenario: { name: streamingEcho, parameters: { ${parameters} } }`;
  const long = 'streamingItemCount: 100, streamingItemSendDelay: 1s';
  testProblems(`
    more than a connection can hold | ${streams(long)} | error streams "1s" | ^Each sender would have 102 streams open
    few of them | ${streams(`${long}, sendingInterval: 2s`)} | none
    only down | ${streams(`${long}, streamDirection: download`)} | none
    that are cancelled | ${streams(`${long}, streamingCancelAfter: 10`)} | none
    one each millisecond | ${streams('sendingInterval: 1ms, streamingItemSendDelay: 100ms')} | error streams "100ms"
    uploads that are cancelled | ${streams('streamDirection: upload, streamingCancelAfter: 1')} | error streams "1" | remove streamingCancelAfter
  `);

  it('are open side by side for as long as their items and pauses take', () => {
    const shape = { method: 'M', items: 5, wanted: 5, cancels: false, delayMs: 50 };
    const open = (more: Partial<StreamShape>): number =>
      openStreamsNeeded({ ...shape, direction: 'both', ...more }, 100);
    // 300, 200 and 200 ms, and the one that begins.
    assert.deepEqual(
      [
        open({}),
        open({ direction: 'upload' }),
        open({ direction: 'download' }),
        open({ delayMs: 0 }),
      ],
      [4, 3, 3, 1],
    );
  });
});
