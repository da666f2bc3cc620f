import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  formatBytes,
  formatCount,
  formatDurationMs,
  formatLatencyUs,
  formatShare,
  parseDurationMs,
  parseShare,
  parseSizeBytes,
} from '../../../src/base/units';

function table<T>(
  name: string,
  convert: (value: T) => unknown,
  rows: readonly (readonly [T, unknown])[],
): void {
  for (const [value, expected] of rows) {
    it(`${name} ${JSON.stringify(value)} is ${expected === undefined ? 'refused' : JSON.stringify(expected)}`, () => {
      assert.deepEqual(convert(value), expected);
    });
  }
}

describe('reading units', () => {
  table('duration', parseDurationMs, [
    ['250ms', 250],
    ['30s', 30_000],
    ['30 s', 30_000],
    [' 30s ', 30_000],
    ['1.5m', 90_000],
    ['2min', 120_000],
    ['2h', 7_200_000],
    ['500us', 0.5],
    ['0s', 0],
    ['5', undefined],
    ['s', undefined],
    ['-5s', undefined],
    ['5S', undefined],
    ['5 seconds', undefined],
    ['1.s', undefined],
    ['', undefined],
    ['5constructor', undefined],
  ]);
  table('size', parseSizeBytes, [
    ['512B', 512],
    ['2KB', 2048],
    ['2kb', 2048],
    ['1 MB', 1_048_576],
    ['1.5KB', 1536],
    ['2', undefined],
    ['2K', undefined],
    ['2GB', undefined],
    ['-2KB', undefined],
  ]);
  table('share', parseShare, [
    ['1%', 0.01],
    ['99.5 %', 0.995],
    ['100%', 1],
    ['250%', 2.5],
    ['1', undefined],
    ['-1%', undefined],
    ['%', undefined],
  ]);
});

describe('writing units', () => {
  table('count', formatCount, [
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [1234567, '1,234,567'],
    [-1234, '-1,234'],
  ]);
  table('latency', formatLatencyUs, [
    [850, '850µs'],
    [1100, '1.1ms'],
    [41_000, '41ms'],
    [230_000, '230ms'],
    [1_900_000, '1.9s'],
    [Infinity, '∞'],
  ]);
  table('duration', formatDurationMs, [
    [250, '250 ms'],
    [5000, '5 s'],
    [90_000, '90 s'],
    [240_000, '4 min'],
    [7_200_000, '2 h'],
  ]);
  table('size', formatBytes, [
    [512, '512 B'],
    [2048, '2 KB'],
    [1_572_864, '1.5 MB'],
  ]);
  table('share', formatShare, [
    [0.95, '95 %'],
    [0.004, '0.4 %'],
    [0.01, '1 %'],
    [0, '0 %'],
    [1, '100 %'],
  ]);

  it('a count keeps its decimals beside the groups', () => {
    assert.equal(formatCount(1234.5678, 2), '1,234.57');
  });

  it('a written duration can be read again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000_000 }), (ms) => {
        const read = parseDurationMs(formatDurationMs(ms));
        assert.ok(read !== undefined && Math.abs(read - ms) <= Math.max(50, ms * 0.03), String(ms));
      }),
      { numRuns: 200 },
    );
  });
});
