import assert from 'node:assert/strict';
import { trafficLines } from '../../../../src/cli/views/stepTable';

const step = {
  index: 2,
  seconds: 10,
  payloadBytesIn: 10 * 1024 * 1024,
  payloadBytesOut: 5000 * 1024 ** 3,
  wireBytesIn: 15 * 1024 * 1024,
  wireBytesOut: 6000 * 1024 ** 3,
};

describe('trafficLines', () => {
  it('says bytes and their rate in and out, within 80 columns', () => {
    const lines = trafficLines([step]).map(({ text }) => text);
    assert.deepEqual(lines, [
      ' step  in: payload    on wire   MB/s  out: payload    on wire   MB/s',
      '    2        10 MB      15 MB   1.50     5000.0 GB  6000.0 GB 614400',
    ]);
    assert.ok(lines.every((line) => line.length <= 80));
  });

  it('divides by the measured time what came in it', () => {
    const later = { ...step, wireBytesOut: 30 * 1024 ** 2, wireBytesOutLater: 20 * 1024 ** 2 };
    assert.match(trafficLines([later])[1]!.text, / 30 MB {3}1\.00$/);
  });

  it('says what nobody could see as unknown', () => {
    const [, line] = trafficLines([{ ...step, wireBytesIn: null, wireBytesOut: null }]);
    assert.equal(
      line!.text,
      '    2        10 MB          –      –     5000.0 GB          –      –',
    );
  });

  it('is nothing where nothing was sent, and says little traffic as such', () => {
    assert.deepEqual(trafficLines([{ ...step, wireBytesIn: 0, wireBytesOut: 0 }]), []);
    assert.match(trafficLines([{ ...step, wireBytesOut: 9 }])[1]!.text, /9 B {2}<0\.01$/);
    assert.match(trafficLines([{ ...step, seconds: 0 }])[1]!.text, / –$/);
  });
});
