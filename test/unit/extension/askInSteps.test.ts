import '../../fakes/plainVscode';
import assert from 'node:assert/strict';
import { back, askInOrder } from '../../../src/extension/askInSteps';

describe('questions in steps', () => {
  /** Answers by a script; notes what each question was asked with. */
  async function run(count: number, script: readonly (string | typeof back | undefined)[]) {
    const asked: string[] = [];
    const given = [...script];
    const answers = await askInOrder<string>(count, (at, before, earlier) => {
      asked.push(`${at}:${before.join('')}:${earlier ?? '-'}`);
      return Promise.resolve(given.shift());
    });
    return { asked, answers };
  }

  it('are asked in order, each with the answers before it', async () => {
    const { asked, answers } = await run(3, ['a', 'b', 'c']);
    assert.deepEqual(answers, ['a', 'b', 'c']);
    assert.deepEqual(asked, ['0::-', '1:a:-', '2:ab:-']);
  });

  it('go back, with what was answered before', async () => {
    const { asked, answers } = await run(3, ['a', 'b', back, back, 'A', 'B', 'C']);
    assert.deepEqual(answers, ['A', 'B', 'C']);
    assert.deepEqual(asked.slice(2), ['2:ab:-', '1:a:b', '0::a', '1:A:b', '2:AB:-']);
  });

  it('end where one is turned away, and stay at the first', async () => {
    assert.equal((await run(2, ['a', undefined])).answers, undefined);
    assert.deepEqual((await run(1, [back, 'a'])).asked, ['0::-', '0::-']);
    assert.deepEqual((await run(0, [])).answers, []);
  });
});
