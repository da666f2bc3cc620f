import assert from 'node:assert/strict';
import { machineClock } from '../../../src/engine/machineClock';

const hrtimeUs = (): number => Number(process.hrtime.bigint()) / 1000;

describe('machineClock', () => {
  it('lies between two readings of the machine’s clock around it, however often it is made', () => {
    // A reading may be interrupted; then the two around it lie apart, and the clock still between them.
    for (let count = 0; count < 50; count++) {
      const clock = machineClock();
      const beforeUs = hrtimeUs();
      const nowUs = clock.nowUs();
      const afterUs = hrtimeUs();
      assert.ok(nowUs > beforeUs - 100 && nowUs < afterUs + 100, `${beforeUs} ${nowUs} ${afterUs}`);
    }
  });
});
