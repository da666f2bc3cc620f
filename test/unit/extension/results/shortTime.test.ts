import assert from 'node:assert/strict';
import { shortTime, shortTimes } from '../../../../src/extension/results/resultsModel';

const now = new Date(2026, 10, 21, 22, 0);
const at = (day: number, hour: number, minute: number, second = 0): Date =>
  new Date(2026, 10, day, hour, minute, second);
// Some versions of the language data put a narrow blank before AM and PM.
const plain = (text: string): string => text.replace(/\s/g, ' ');

describe('times of runs', () => {
  it('name the day only when it is another one', () => {
    const style = { now, language: 'en', seconds: false };
    assert.equal(plain(shortTime(at(21, 19, 28, 16), style)), '7:28 PM');
    assert.equal(plain(shortTime(at(20, 19, 28, 16), style)), 'Nov 20, 7:28 PM');
    const older = shortTime(new Date(2025, 10, 21, 19, 28), style);
    assert.equal(plain(older), 'Nov 21, 2025, 7:28 PM');
    assert.equal(shortTime(at(21, 19, 28, 16), { ...style, language: 'zh-cn' }), '19:28');
  });

  it('report seconds only where two would look alike', () => {
    const times = [at(21, 19, 28, 16), at(21, 19, 28, 40), at(21, 19, 29), at(20, 19, 28)];
    assert.deepEqual(shortTimes(times, { now, language: 'en' }).map(plain), [
      '7:28:16 PM',
      '7:28:40 PM',
      '7:29 PM',
      'Nov 20, 7:28 PM',
    ]);
  });
});
