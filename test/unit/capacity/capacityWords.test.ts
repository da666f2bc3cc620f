import assert from 'node:assert/strict';
import { joinWords } from '../../../src/scenario/text/words';
import {
  formatBandwidth,
  formatFigure,
  formatUtilisation,
} from '../../../src/capacity/capacityWords';

describe('wording', () => {
  it('shows figures with the decimals they deserve', () => {
    const shown = [0, 0.2, 1 / 60, 1.5, 16.6667, 1900.2, 3_000_000].map(formatFigure);
    assert.deepEqual(shown, ['0', '0.2', '0.0167', '1.5', '16.7', '1,900', '3,000,000']);
  });

  it('never lets a share read as 100 % that is not', () => {
    assert.deepEqual([0.95, 1, 1.004, 0.999, 1.024].map(formatUtilisation), [
      '95 %',
      '100 %',
      '100.4 %',
      '99.9 %',
      '102 %',
    ]);
  });

  it('reads a MB as 1,000 KB of 1,024 bytes, like the guides', () => {
    assert.equal(formatBandwidth(1000 * 2048), '2 MB/s');
    assert.equal(formatBandwidth(20 * 2048), '40 KB/s');
  });

  it('lists words', () => {
    assert.deepEqual(
      [joinWords([]), joinWords(['a']), joinWords(['a', 'b', 'c'])],
      ['', 'a', 'a, b and c'],
    );
  });
});
