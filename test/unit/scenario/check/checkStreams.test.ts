import assert from 'node:assert/strict';
import { openAtOnce, type StreamShape } from '../../../../src/usecases/streams';
import { brief, problemOf } from '../parsed';

const streams = (...lines: string[]): string =>
  `config:\n  target: local\n  connections: 10\nscenario:\n  name: streamingEcho\n  parameters:\n${lines.map((line) => `    ${line}\n`).join('')}`;

describe('streams', () => {
  it('that a connection cannot hold are an error', () => {
    const long = ['streamingItemCount: 100', 'streamingItemSendDelay: 1s'];
    const text = streams(...long);
    assert.deepEqual(brief(text), ['error streams "1s"']);
    assert.match(problemOf(text, 'streams').message, /^Each sender would have 102 streams open/);
    assert.deepEqual(brief(streams(...long, 'sendingInterval: 2s')), []);
    assert.deepEqual(brief(streams(...long, 'streamDirection: download')), []);
    assert.deepEqual(brief(streams(...long, 'streamingCancelAfter: 10')), []);
    assert.deepEqual(brief(streams('sendingInterval: 1ms', 'streamingItemSendDelay: 100ms')), [
      'error streams "100ms"',
    ]);
  });

  it('that only go up cannot be cancelled', () => {
    const text = streams('streamDirection: upload', 'streamingCancelAfter: 1');
    assert.deepEqual(brief(text), ['error streams "1"']);
    assert.match(problemOf(text, 'streams').message, /remove streamingCancelAfter/);
  });

  it('are open side by side for as long as their items and pauses take', () => {
    const shape = { method: 'M', items: 5, wanted: 5, cancels: false, delayMs: 50 };
    const open = (more: Partial<StreamShape>): number =>
      openAtOnce({ ...shape, direction: 'both', ...more }, 100);
    // 300, 200 and 200 ms, and the one that begins.
    assert.equal(open({}), 4);
    assert.equal(open({ direction: 'upload' }), 3);
    assert.equal(open({ direction: 'download' }), 3);
    assert.equal(open({ delayMs: 0 }), 1);
  });
});
