import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { needsLinux } from '../fakes/skipAloud';

interface Trend {
  readonly slope: number;
  readonly low: number;
  readonly high: number;
}

describe('a long run', function () {
  it('of a minute is exact, and no process grows', async function () {
    needsLinux(this, 'memory of processes in /proc');
    const args = ['bench/soak.mjs', '--minutes', '1', '--connections', '400', '--rate', '200'];
    const run = promisify(execFile)(process.execPath, [...args, '--threads']);
    const { stdout } = await run.catch((error: unknown) =>
      assert.fail((error as { readonly stdout: string }).stdout),
    );
    for (const step of [1, 2, 3])
      assert.match(stdout, new RegExp(`^step ${step}: 3600 of 3600 received`, 'm'));
    for (const name of ['lead and worker', 'hub'])
      assert.match(
        stdout,
        new RegExp(`^${name}: [\\d.]+ MB, slope -?[\\d.]+ KB/min \\(95 %:`, 'm'),
      );
  });

  describe('is judged by a trend', () => {
    let trendOf: (values: readonly number[]) => Trend;
    let risesBeyond: (share: number, values: readonly number[]) => boolean;

    before(async () => {
      const file = pathToFileURL(path.resolve('bench', 'trend.mjs')).href;
      ({ trendOf, risesBeyond } = (await import(file)) as {
        trendOf: typeof trendOf;
        risesBeyond: typeof risesBeyond;
      });
    });

    /** The heap before and after it is swept, and an outlier. */
    const sawtooth = (at: number): number => 500 + 40 * (at % 9) + (at === 50 ? 9000 : 0);

    it('that finds growth below the noise', () => {
      const { slope, low, high } = trendOf(
        Array.from({ length: 60 }, (_, at) => sawtooth(at) + 3 * at),
      );
      assert.ok(low > 0 && high < 6 && slope > 2 && slope < 4, `${low} … ${slope} … ${high}`);
    });

    it('that lets the slip of 15 steps rise by half of itself, and one step be slow', () => {
      const slips = (rise: number): number[] =>
        Array.from({ length: 15 }, (_, at) => 1200 + 40 * (at % 3) + (rise * at) / 14);
      assert.ok(!risesBeyond(0.5, slips(0)));
      assert.ok(!risesBeyond(0.5, slips(400)));
      assert.ok(risesBeyond(0.5, slips(1800)));
      assert.ok(!risesBeyond(0.5, [...slips(0).slice(1), 90_000]));
    });

    it('that has none where there is only noise', () => {
      const { low, high } = trendOf(Array.from({ length: 60 }, (_, at) => sawtooth(at)));
      assert.ok(low <= 0 && high >= 0 && high - low < 4, `${low} … ${high}`);
    });
  });
});
