import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nearestDivisors } from '../../../../src/scenario/check/checkEntries';
import { brief, errorsOf, fixed, problemOf, scenarioOf } from '../parsed';

const groups = (connections: number, ...lines: string[]): string =>
  `config:\n  target: local\n  connections: ${connections}\n  baseSending: 1\nscenario:\n  name: sendToGroup\n  parameters:\n${lines.map((line) => `    ${line}\n`).join('')}`;

describe('groupCount', () => {
  it('that does not divide is a warning with the nearest counts that do', () => {
    const text = groups(1900, 'groupCount: 180');
    const problem = problemOf(text, 'group-count');
    assert.equal(problem.severity, 'warning');
    assert.equal(
      problem.message,
      '1,900 connections do not divide into 180 groups (10.6 members). 190 makes groups of 10, 100 groups of 19.',
    );
    assert.equal(text.slice(problem.offset, problem.offset + problem.length), '180');
    assert.deepEqual(brief(fixed(text, problem)), []);
  });

  it('above the connections is an error', () => {
    const text = groups(100, 'groupCount: 180');
    assert.deepEqual(brief(text), ['error group-count "180"']);
    assert.equal(scenarioOf(text).entries[0]!.parameters['groupCount'], 100);
    assert.deepEqual(errorsOf(fixed(text, problemOf(text, 'group-count'))), []);
  });

  const local = 'config:\n  target: local\n';
  for (const [name, text] of Object.entries({
    'other parameters stand': groups(100, 'messageSize: 5KB'),
    'the parameters are empty': groups(100),
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

  it('is filled in where it is missing, so that the estimate has a number', () => {
    const { parameters } = scenarioOf('scenario:\n  name: sendToGroup\n').entries[0]!;
    assert.equal(parameters['groupCount'], 100);
  });

  it('below groupsPerConnection is a warning', () => {
    assert.deepEqual(brief(groups(100, 'groupCount: 2', 'groupsPerConnection: 5')), [
      'warning group-count "5"',
    ]);
  });

  it('suggests divisors that are the nearest on each side', () => {
    const numbers = fc.tuple(fc.integer({ min: 3, max: 5000 }), fc.integer({ min: 2, max: 4999 }));
    fc.assert(
      fc.property(numbers, ([total, count]) => {
        fc.pre(count < total && total % count !== 0);
        const [below, above] = nearestDivisors(total, count).sort((a, b) => a - b);
        assert.ok(below < count && count < above);
        for (let between = below + 1; between < above; between++)
          assert.notEqual(total % between, 0);
        assert.equal(total % below, 0);
        assert.equal(total % above, 0);
      }),
      { numRuns: 200 },
    );
  });
});
