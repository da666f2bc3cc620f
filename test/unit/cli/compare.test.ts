import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { seededRandom } from '../../../src/base/random';
import type { Comparison } from '../../../src/measure/compare/comparison';
import { measuredStep, wanderingSeconds } from '../../fakes/measuredStep';
import { sampleResult } from '../results/sampleResult';
import { commandLine, type CommandLine } from './commandLine';

const step = (seed: number, factor = 1) =>
  measuredStep(
    wanderingSeconds(
      { perSecond: 200, correlation: 0.3, wandering: 0.05, factor },
      60,
      seededRandom(seed),
    ),
  );

describe('compare', () => {
  let at: CommandLine;
  const ids = {
    before: '2026-11-21T14-02-11-chat-room',
    same: '2026-11-22T09-15-00-chat-room',
    slow: '2026-11-23T09-15-00-chat-room',
  };
  before(async () => {
    at = await commandLine();
    const steps = { before: step(1), same: step(3), slow: step(2, 1.3) };
    for (const [name, id] of Object.entries(ids)) {
      await mkdir(path.join(at.folder, id));
      const result = { ...sampleResult({ steps: [steps[name as keyof typeof ids]] }), id };
      await at.file(`${id}/result.json`, JSON.stringify(result));
    }
  });
  after(() => at.dispose());

  const run = (...args: readonly string[]) =>
    at.run(['compare', ...args.map((arg) => path.resolve(at.folder, arg))]);

  it('shows the sentence, a table for each step and what differs, in 80 columns', async () => {
    const { code, out, err } = await run(ids.before, ids.slow);
    assert.equal(code, 1);
    assert.equal(err, '');
    const lines = out.trimEnd().split('\n');
    assert.ok(
      lines.every((line) => line.length <= 80),
      out,
    );
    assert.match(out, /✗ worse; step 1: p99 rose from/);
    assert.match(out, /step 1, 700 senders +a +b +change {2}95 % interval/);
    assert.match(out, / {2}p99 +[\d.]+ ms +[\d.]+ ms +▲ \+\d+ % {2}\+\d+ … \+\d+ %/);
    assert.match(out, / {2}lost +0 +0 +0\n/);
    assert.match(out, /scenario, target, tool and machine are the same/);
  });

  it('is done where nothing is worse', async () => {
    const { code, out } = await run(ids.before, ids.same);
    assert.equal(code, 0);
    assert.match(out, /✓ the same; step 1: p99/);
  });

  it('prints the comparison as JSON; of several the one that decides, with all of them', async () => {
    const two = await at.run(['compare', ids.before, ids.slow, '--json'], { cwd: at.folder });
    const one = JSON.parse(two.out) as Comparison;
    assert.equal(one.verdict, 'worse');
    const { a, b, ratio, interval } = one.steps[0]!.latency.p99!;
    assert.ok(Math.abs(b! / a! - ratio!) < 1e-3 && interval![0] > 1);
    assert.deepEqual(one.differences, []);
    const several = await at.run(['compare', ids.before, ids.slow, ids.same, '--format', 'json'], {
      cwd: at.folder,
    });
    assert.equal(several.code, 1);
    const all = JSON.parse(several.out) as Comparison & { comparisons: Comparison[] };
    assert.equal(all.verdict, 'worse');
    assert.equal(all.b.id, ids.slow);
    assert.deepEqual(
      all.comparisons.map(({ verdict }) => verdict),
      ['worse', 'same'],
    );
  });

  it('writes the comment for a pull request: one sentence and a table', async () => {
    const { out } = await at.run(['compare', ids.before, ids.slow, '--format', 'md'], {
      cwd: at.folder,
    });
    const lines = out.split('\n');
    assert.match(
      lines[0]!,
      /^### ❌ chat-room is slower: p99 [\d.]+ ms, was [\d.]+ ms \(\+\d+ %\)$/,
    );
    assert.match(
      lines[2]!,
      /^Step 1, 700 senders: p99 \+\d+ … \+\d+ % with 95 % confidence; tolerance 10 %\. Nothing lost in either run\.$/,
    );
    assert.match(out, /\| step 1 \| baseline \| now \| change \| 95 % interval \|\n\| --- \|/);
    assert.match(out, /\| p99 \| [\d.]+ ms \| [\d.]+ ms \| \*\*\+\d+ %\*\* \|/);
    assert.match(
      out,
      /baseline 2026-11-21T14-02-11-chat-room of 2026-11-21 14:02 UTC, tool 0\.1\.0\n$/,
    );
  });

  it('says of its step alone that nothing was lost where another has lost something', async () => {
    const lossy = { ...step(5), index: 1, expected: step(5).expected + 1, lost: 1 };
    for (const [id, steps] of Object.entries({
      '2026-11-21T14-02-11-lossy': [lossy, { ...step(1), index: 2 }],
      '2026-11-22T14-02-11-lossy': [lossy, { ...step(2, 1.3), index: 2 }],
    })) {
      await mkdir(path.join(at.folder, id));
      await at.file(`${id}/result.json`, JSON.stringify({ ...sampleResult({ steps }), id }));
    }
    const [before, now] = ['2026-11-21T14-02-11-lossy', '2026-11-22T14-02-11-lossy'];
    const { out } = await at.run(['compare', before, now, '--format', 'md'], { cwd: at.folder });
    assert.match(out, /^Step 2, 700 senders: .* tolerance 10 %\. Nothing lost in this step\.$/m);
    assert.match(out, /^\| lost \| 1 \| 1 \|/m);
  });

  it('takes a tolerance, and refuses what is none', async () => {
    const wide = await at.run(['compare', ids.before, ids.slow, '--tolerance', '60%'], {
      cwd: at.folder,
    });
    assert.equal(wide.code, 0);
    for (const wrong of ['-1', 'x', '1e9', '10%%', '']) {
      const { code } = await at.run(['compare', ids.before, ids.slow, '--tolerance', wrong], {
        cwd: at.folder,
      });
      assert.equal(code, 2, wrong);
    }
  });

  it('exits with 2 where the results cannot be compared, read, or are not finished', async () => {
    const { scenario, ...rest } = sampleResult({ steps: [step(4)] });
    const other = { ...rest, scenario: { ...scenario, connections: 10 } };
    await at.file('other.json', JSON.stringify(other));
    const unlike = await run(ids.before, 'other.json');
    assert.equal(unlike.code, 2);
    assert.match(
      unlike.out,
      /■ cannot be compared; another load: config\.connections is 1900 in one/,
    );
    await at.file('cut.json', JSON.stringify(other).slice(0, 1000));
    await at.file('newer.json', JSON.stringify({ ...other, schema: 'signalr-bench-result/3' }));
    await mkdir(path.join(at.folder, 'broken-off'), { recursive: true });
    await at.file('broken-off/samples.jsonl', '');
    const cases = [
      ['cut.json', /not valid JSON/],
      ['newer.json', /newer than/],
      ['missing', /no result at/],
      ['broken-off', /was interrupted/],
    ] as const;
    for (const [name, why] of cases) {
      const { code, out, err } = await run(ids.before, name);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, why);
    }
  });

  it('puts nothing of a hostile result into the comment or the terminal', async () => {
    const { tool, ...rest } = sampleResult({ steps: [step(5)] });
    const hostile = {
      ...{ ...rest, id: '<img src=x>`a|b`\x1b[2J' },
      tool: { ...tool, version: '[x](http://evil)|' },
    };
    await at.file('hostile.json', JSON.stringify(hostile));
    const md = await at.run(['compare', ids.before, 'hostile.json', '--format', 'md'], {
      cwd: at.folder,
    });
    assert.doesNotMatch(md.out, /[^\\]<img|␛|[^\\]\[x/);
    const text = await run(ids.before, 'hostile.json');
    assert.doesNotMatch(text.out, /␛/);
  });
});
