import assert from 'node:assert/strict';
import { hasOwnName } from '../../../src/extension/hasOwnName';
import { fromName, nameWithOrigin } from '../../../src/extension/resultEntry';

const startedMs = Date.parse('2026-11-21T14:02:11Z');

describe('names of result folders', () => {
  it('tell time and scenario', () => {
    assert.deepEqual(fromName('2026-11-21T14-02-11-chat-room'), {
      scenario: 'chat-room',
      startedMs,
    });
    assert.deepEqual(fromName('my best run'), { scenario: 'my best run', startedMs: 0 });
  });

  it('are told from those that somebody gave them', () => {
    const own = (name: string) => hasOwnName({ name, scenario: 'fresh' });
    const made = '2026-11-21T14-02-11-fresh';
    assert.deepEqual([made, `${made}-2`].map(own), [true, true]);
    const given = ['baseline-fresh', 'fresh', `${made} best`, `${made}-best`, `old-${made}`];
    assert.deepEqual(given.filter(own), []);
  });

  it('keep time and scenario of a run without a result, whatever it is called', () => {
    const made = '2026-11-21T14-02-11-chat-room';
    const named = nameWithOrigin(made, 'before the change');
    assert.equal(named, `${made} before the change`);
    assert.deepEqual(fromName(named), { scenario: 'chat-room', startedMs });
    assert.equal(nameWithOrigin(named, 'after it'), `${made} after it`);
    assert.equal(nameWithOrigin(named, `${made} after it`), `${made} after it`);
    assert.equal(nameWithOrigin(named, made), made);
    assert.equal(nameWithOrigin('named by hand', 'by another'), 'by another');
  });
});
