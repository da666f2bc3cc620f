import assert from 'node:assert/strict';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { seededRandom } from '../../../src/base/random';
import type { StepSummary } from '../../../src/measure/summary';
import type { Scenario } from '../../../src/scenario/scenario';
import { readResult } from '../../../src/results/readResult';
import type { Result } from '../../../src/results/result';
import { summaryMarkdown } from '../../../src/run/export/summaryMarkdown';
import { measuredStep, wanderingSeconds } from '../../fakes/measuredStep';
import { sampleResult, sampleScenario, sampleSummary } from '../results/sampleResult';
import { commandLine, type CommandLine } from './commandLine';
import { fakeRun } from './fakeDeps';

const made = new Map<string, StepSummary>();

function step(seed: number, factor = 1, seconds = 60): StepSummary {
  const key = [seed, factor, seconds].join();
  const process = { perSecond: 100, correlation: 0.3, wandering: 0.05, factor };
  const found =
    made.get(key) ?? measuredStep(wanderingSeconds(process, seconds, seededRandom(seed)));
  made.set(key, found);
  return found;
}

const usual = '2026-11-19T09-00-00-chat';
const usualPlace = path.join('.signalr-bench', usual);

describe('run --baseline', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
    await at.file('chat.yaml', 'a scenario');
  });
  afterEach(() => at.dispose());

  async function stored(id: string, steps: readonly StepSummary[], change: Partial<Result> = {}) {
    const folder = path.join(at.folder, '.signalr-bench', id);
    await mkdir(folder, { recursive: true });
    const result = { ...sampleResult({ steps }), id, ...change };
    await at.file(`.signalr-bench/${id}/result.json`, JSON.stringify(result));
    return path.join('.signalr-bench', id);
  }

  const run = (measured: StepSummary, ...args: readonly string[]) =>
    at.run(['run', path.join(at.folder, 'chat.yaml'), ...args], {
      deps: { startRun: () => fakeRun({ summary: sampleSummary({ steps: [measured] }) }) },
    });

  const newest = async (): Promise<Result> => {
    const folders = await readdir(path.join(at.folder, '.signalr-bench'));
    const ids = folders.filter((name) => name.startsWith('2026-11-21'));
    const found = await readResult(path.join(at.folder, '.signalr-bench', ids.sort().at(-1)!));
    assert.equal(found.kind, 'result');
    return (found as { result: Result }).result;
  };

  it('fails a run whose p99 rose by 30 %, keeps why, and says it in the comment', async () => {
    await stored(usual, [step(1)]);
    const reports = ['--md', 'comment.md', '--html', 'out/chat.html'];
    const { code, out, err } = await run(step(2, 1.3), '--baseline', 'last', ...reports);
    assert.equal(code, 1);
    assert.match(out, /✓ passed/);
    const comment = await readFile(path.join(at.folder, 'comment.md'), 'utf8');
    assert.match(
      comment,
      /^### ❌ chat is slower: p99 .*\n\nStep 1, 700 senders: p99 \+\d+ … \+\d+ %/,
    );
    assert.match(
      comment,
      /^Report: `chat\.html` · baseline 2026-11-19T09-00-00-chat of 2026-11-21 \d\d:\d\d UTC/m,
    );
    assert.match(out, /baseline {2}✗ worse; step 1: p99 rose from [\d.]+ ms to [\d.]+ ms/);
    const page = await readFile(path.join(at.folder, 'out/chat.html'), 'utf8');
    assert.match(page, /<strong>compared with the baseline: worse; step 1: p99 rose from /);
    assert.match(page, /<th scope="row">p99<\/th>(?:<td>[^<]+<\/td>){2}<td>▲ \+\d+ %<\/td>/);
    assert.match(page, /<th scope="row">received\/s<\/th>(?:<td>[^<]+<\/td>){2}<td>[^▲▼<]+<\/td>/);
    assert.ok(out.includes(`compared with ${usual}`));
    assert.match(
      err,
      /^note: baseline: 2026-11-19T09-00-00-chat, started 2026-11-21 [\d:]+ UTC\.$/m,
    );
    assert.match(out, /✓ passed[^\n]*\n(?: +[^\n]*\n)*baseline/);
    assert.ok(out.split('\n').every((line) => line.length <= 80));
    const result = await newest();
    assert.deepEqual([result.verdict.status, result.baseline?.verdict], ['pass', 'worse']);
    const [first] = summaryMarkdown(result).split('\n');
    assert.match(first!, /^### ❌ chat is slower: p99 [\d.]+ ms, was [\d.]+ ms \(\+\d+ %\)$/);
  });

  it('says first that the run has failed, whatever the comparison says', async () => {
    await stored(usual, [step(1)]);
    const verdict = {
      ...{ status: 'fail' as const },
      reasons: [{ code: 'slo-rate', message: 'step 1: rate 1/s, at least 5/s' }],
    };
    const { code } = await run({ ...step(3), verdict }, '--baseline', 'last', '--md', 'comment.md');
    assert.equal(code, 1);
    const comment = await readFile(path.join(at.folder, 'comment.md'), 'utf8');
    assert.match(comment, /^### ✗ failed; step 1: .*\n\n### ✅ chat is as fast as before: p99 /);
    assert.equal(comment.split('✗ failed').length, 2, comment);
  });

  it('says once in the comment that the run is invalid', async () => {
    await stored(usual, [step(1)]);
    const message = 'the generator was late';
    const verdict = { status: 'invalid' as const, reasons: [{ code: 'late', message }] };
    const { code } = await run({ ...step(3), verdict }, '--baseline', 'last', '--md', 'comment.md');
    assert.equal(code, 4);
    const comment = await readFile(path.join(at.folder, 'comment.md'), 'utf8');
    assert.match(comment, /^### ⚠ invalid, .*the generator was late/);
    assert.equal(comment.split(message).length, 2, comment);
  });

  it('says it beside the JSON, which has all of it', async () => {
    await stored(usual, [step(1)]);
    const { code, out, err } = await run(step(2, 1.3), '--baseline', 'last', '--json');
    assert.equal(code, 1);
    assert.equal((JSON.parse(out) as Result).baseline?.verdict, 'worse');
    assert.match(err, /^baseline {2}✗ worse; step 1: p99 rose from/m);
  });

  it('is done where nothing is worse, or less than the tolerance', async () => {
    await stored(usual, [step(1)]);
    assert.equal((await run(step(3), '--baseline', 'last')).code, 0);
    const tolerant = await run(step(2, 1.3), '--baseline', usual, '--tolerance', '80%');
    assert.equal(tolerant.code, 2, 'a name alone is a path');
    const named = await run(
      step(2, 1.3),
      ...['--baseline', `.signalr-bench/${usual}`, '--tolerance', '80%'],
    );
    assert.equal(named.code, 0);
  });

  it('takes the newest that can be compared for last, and the fastest that passed for best', async () => {
    await stored('2026-11-10T09-00-00-chat', [step(5, 0.5)]);
    await stored('2026-11-11T09-00-00-chat', [step(6, 0.4)], {
      verdict: { status: 'fail', reasons: [] },
    });
    await stored('2026-11-12T09-00-00-chat', [step(7)]);
    await stored('2026-11-13T09-00-00-chat', [step(8)], {
      verdict: { status: 'invalid', reasons: [] },
    });
    await stored('2026-11-14T09-00-00-chat', [step(8)], {
      scenario: { ...sampleScenario, connections: 10 },
    });
    await stored('2026-11-15T09-00-00-chat-other', [step(8, 0.1)]);
    await at.file('.signalr-bench/2026-11-14T09-00-00-chat/scenario.yaml', 'x');
    await mkdir(path.join(at.folder, '.signalr-bench', '2026-11-16T09-00-00-chat'));
    await run(step(1), '--baseline', 'last');
    assert.equal((await newest()).baseline?.a.id, '2026-11-12T09-00-00-chat');
    await run(step(1), '--baseline', 'best');
    assert.equal((await newest()).baseline?.a.id, '2026-11-10T09-00-00-chat');
  });

  it('passes over failed, invalid and worse results for last, so that none becomes the baseline by a rerun', async () => {
    await stored(usual, [step(1)]);
    const worse = await run(step(2, 1.3), '--baseline', 'last');
    assert.equal(worse.code, 1);
    const { id: red } = await newest();
    const again = await run(step(3, 1.3), '--baseline', 'last');
    assert.equal(again.code, 1);
    assert.equal((await newest()).baseline?.a.id, usual);
    const note = `^note: baseline: ${usual}, started [^;]+; passed over: ${red} \\(worse than ${usual}\\)\\.$`;
    assert.match(again.err, new RegExp(note, 'm'));
    // Only whoever keeps it says that it is as it shall be.
    await at.run(['baseline', path.join('.signalr-bench', red)]);
    const accepted = await run(step(6, 1.3), '--baseline', 'last');
    assert.equal(accepted.code, 0);
    assert.equal((await newest()).baseline?.a.id, red);
    await stored('2026-11-22T09-00-00-chat', [step(4)], {
      verdict: { status: 'fail', reasons: [] },
    });
    const after = await run(step(5), '--baseline', 'last');
    assert.match(after.err, /passed over: 2026-11-22T09-00-00-chat \(failed\)/);
  });

  it('passes over however many red results for last', async () => {
    await stored(usual, [step(1)]);
    const verdict = { status: 'fail' as const, reasons: [] };
    for (let count = 10; count < 40; count++)
      await stored(`2026-11-20T09-00-${count}-chat`, [step(2, 2)], { verdict });
    const { code, err } = await run(step(2, 1.3), '--baseline', 'last');
    assert.match(err, /note: baseline: 2026-11-19T09-00-00-chat, .* and 27 older/);
    assert.equal(code, 1);
  });

  it('says what it passed over where nothing is left', async () => {
    for (const day of [15, 16, 17, 18, 19])
      await stored(`2026-11-${day}T09-00-00-chat`, [step(day)], {
        verdict: { status: 'fail', reasons: [] },
      });
    const { code, err } = await run(step(1), '--baseline', 'last');
    assert.equal(code, 0);
    assert.match(
      err,
      /^note: there is no earlier result of chat\.yaml with this load and target to compare with; passed over: 2026-11-19T09-00-00-chat \(failed\), 2026-11-18T\S+ \(failed\), 2026-11-17T\S+ \(failed\) and 2 older \(results in /m,
    );
  });

  it('takes no result of another file or target for last and best', async () => {
    const target = { kind: 'hubUrl', url: 'http://localhost:5051/signalrbench' } as const;
    const spec = { kind: 'hubUrl', urls: [target.url] } as const;
    await stored('2026-11-10T09-00-00-chat', [step(1)]);
    await stored('2026-11-11T09-00-00-chat', [step(2)], {
      ...{ target, scenario: { ...sampleScenario, target: spec } },
    });
    await stored('2026-11-12T09-00-00-chat-2', [step(3)], { scenarioName: 'chat-2.yaml' });
    // Of an older version, which did not write the name: nothing of that second has the name without the number.
    await stored('2026-11-13T09-00-00-chat-2', [step(4)]);
    await stored('2026-11-10T09-00-00-chat-2', [step(5)], { scenarioName: 'chat.yaml' });
    for (const which of ['last', 'best'] as const) {
      const { code } = await run(step(1), '--baseline', which);
      assert.equal(code, 0);
      assert.match((await newest()).baseline!.a.id, /^2026-11-10T09-00-00-chat(-2)?$/);
    }
    await at.file('chat-2.yaml', 'a scenario');
    const other = await at.run(['run', path.join(at.folder, 'chat-2.yaml'), '--baseline', 'last'], {
      deps: { startRun: () => fakeRun({ summary: sampleSummary({ steps: [step(1)] }) }) },
    });
    assert.match(other.err, /^note: baseline: 2026-11-13T09-00-00-chat-2, /m);
  });

  it('looks up what a reference to the target stands for now', async () => {
    const scenario: Scenario = {
      ...sampleScenario,
      target: { kind: 'hubUrl', urls: ['${env:HUB}'] },
    };
    await stored(usual, [step(1)], { scenario });
    const deps = {
      parseScenario: () => ({ scenario, problems: [] }),
      startRun: () => fakeRun({ summary: sampleSummary({ steps: [step(2)] }) }),
    };
    for (const [url, said] of [
      ['http://localhost:5050/signalrbench?access=1', `baseline: ${usual}`],
      ['http://localhost:5052/signalrbench', 'there is no earlier result of chat\\.yaml'],
    ] as const) {
      const file = path.join(at.folder, 'chat.yaml');
      const to = ['--out', `.signalr-bench`, '--baseline', 'last'];
      const { err } = await at.run(['run', file, ...to], { deps, env: { HUB: url } });
      assert.match(err, new RegExp(`^note: ${said}`, 'm'));
    }
  });

  it('compares nothing where there is no earlier result, and says so', async () => {
    const reports = ['--md', 'comment.md', '--junit', 'out.xml', '--html', 'out.html'];
    for (const [which, why] of [
      ['last', /^note: there is no earlier result of chat\.yaml with this load/m],
      ['best', /^note: there is no earlier result/m],
      ['kept', /^note: no result was made the baseline of chat\.yaml/m],
    ] as const) {
      const to = ['--out', `new-${which}`, ...reports];
      const { code, err } = await run(step(1), '--baseline', which, ...to);
      assert.equal(code, 0);
      assert.match(err, why);
      const said = why.source.replace('^note: ', '');
      const [md, xml, html] = await Promise.all(
        ['comment.md', 'out.xml', 'out.html'].map((name) =>
          readFile(path.join(at.folder, name), 'utf8'),
        ),
      );
      assert.match(md!, new RegExp(`^⚪ Not compared with a baseline: ${said}`, 'm'));
      assert.match(
        xml!,
        new RegExp(`name="not worse than the baseline"[^>]*>\\s*<skipped>${said}`),
      );
      assert.match(html!, new RegExp(`Not compared with a baseline: ${said}`));
    }
  });

  it('knows before the load what can be compared with nothing', async () => {
    const short = { singleStepDurationMs: 5000 };
    const search = { of: 'senders', from: 1, to: 9, precision: 0.05, budgetMs: 60_000 } as const;
    const place = await stored(usual, [step(1)]);
    await at.run(['baseline', place]);
    const others = await stored('2026-11-20T09-00-00-chat', [{ ...step(1), senders: 50 }]);
    const brief = await stored('2026-11-20T10-00-00-chat', [step(1, 1, 5)]);
    const { code } = await run(step(3), '--baseline', 'last');
    assert.equal(code, 0);
    assert.equal((await newest()).baseline?.a.id, usual);
    const cases: readonly (readonly [Partial<Scenario>, string, RegExp])[] = [
      [
        short,
        place,
        /the steps of this run last 5 s, and at least 10 s .* set singleStepDuration to 10s or more/,
      ],
      [{ search }, place, /a capacity search has no fixed steps to compare/],
      [
        {},
        others,
        /no step with the same place and number of senders: baseline 50, now 700, 1,300 and 1,900/,
      ],
      [{}, brief, /it measured each step for 5 s at most, and at least 10 s/],
    ];
    for (const [change, which, why] of cases) {
      const scenario = { ...sampleScenario, ...change };
      const deps = {
        parseScenario: () => ({ scenario, problems: [] }),
        startRun: () => fakeRun({ summary: sampleSummary({ steps: [step(1)] }) }),
      };
      const file = path.join(at.folder, 'chat.yaml');
      const refused = await at.run(['run', file, '--baseline', which], { deps });
      assert.equal(refused.code, 2);
      assert.match(refused.err, why);
      assert.match(refused.err, /leave out --baseline[.;] [nN]othing was started\.$/m);
      assert.equal(refused.calls.runs.length + refused.calls.targetsOpen, 0);
      if (Object.keys(change).length === 0) continue;
      for (const word of ['last', 'best', 'kept']) {
        const went = await at.run(['run', file, '--baseline', word], { deps });
        assert.match(went.err, why);
        assert.match(went.err, /; nothing is compared\.$/m);
        assert.doesNotMatch(went.err, /results in/);
        assert.equal(went.code, 0);
      }
    }
    await at.run(['baseline', others]);
    const kept = await run(step(3), '--baseline', 'kept');
    assert.equal(kept.code, 0);
    assert.match(kept.err, /^note: the baseline 2026-11-20T09-00-00-chat: the runs have no step/m);
  });

  it('asks for a percentage where the tolerance is a bare number above 1', async () => {
    await stored(usual, [step(1)]);
    const bare = await run(step(2, 1.3), '--baseline', 'last', '--tolerance', '10');
    assert.equal(bare.code, 2);
    assert.match(bare.err, /Expected a percentage, such as 10%\./);
    for (const [text, code] of [
      ['1', 0],
      ['0.1', 1],
      ['200%', 0],
    ] as const)
      assert.equal(
        (await run(step(2, 1.3), '--baseline', usualPlace, '--tolerance', text)).code,
        code,
      );
    const alone = await run(step(1), '--tolerance', '10%');
    assert.equal(alone.code, 2);
    assert.match(alone.err, /^--tolerance belongs to a comparison: name the earlier run with --b/);
    assert.equal(alone.calls.runs.length, 0);
    const wrong = await run(step(1), '--baseline', 'last', '--tolerance', '2000%');
    assert.match(wrong.err, /Expected a percentage, such as 10%\.$/m);
  });

  it('remembers the baseline of a scenario', async () => {
    const folder = await stored(usual, [step(1)]);
    await stored('2026-11-20T09-00-00-chat', [step(3, 2)]);
    const kept = await at.run(['baseline', folder]);
    assert.deepEqual([kept.code, kept.out], [0, '']);
    assert.match(kept.err, /is the baseline of chat now/);
    const file = path.join(at.folder, '.signalr-bench', 'baselines.json');
    assert.deepEqual(
      (JSON.parse(await readFile(file, 'utf8')) as { baselines: unknown }).baselines,
      {
        chat: usual,
      },
    );
    const { code } = await run(step(2, 1.3), '--baseline', 'kept');
    assert.equal(code, 1);
    // Somebody gave the folder another name; the first one of its second keeps the name without a number.
    const renamed = await stored('my best run', [step(1)], { id: '2026-11-01T09-00-00-chat' });
    assert.match((await at.run(['baseline', renamed])).err, /is the baseline of chat now/);
    assert.equal((await run(step(2, 1.3), '--baseline', 'kept')).code, 1);
    assert.equal((await newest()).baseline?.a.id, '2026-11-01T09-00-00-chat');
    const second = await stored(`${usual}-2`, [step(1)]);
    assert.match((await at.run(['baseline', second])).err, /is the baseline of chat now/);
    for (const damaged of [
      '{',
      '{"schema":"x"}',
      '{"schema":"signalr-bench-baselines/1","baselines":{"chat":"../x"}}',
    ]) {
      await at.file('.signalr-bench/baselines.json', damaged);
      assert.equal((await run(step(3), '--baseline', 'kept')).code, 0);
    }
  });

  it('starts nothing where the baseline is invalid, of another load, or cannot be read', async () => {
    const invalid = {
      status: 'invalid',
      reasons: [{ code: 'slip', message: 'sent late' }],
    } as const;
    const cases = [
      [await stored(usual, [step(1)], { verdict: invalid }), /is invalid: sent late/],
      [
        await stored('2026-11-18T09-00-00-chat', [step(1)], {
          scenario: { ...sampleScenario, connections: 10 },
        }),
        /another load: config\.connections is 10 in one and 1900 in the other/,
      ],
      ['nowhere', /no result at/],
    ] as const;
    for (const [which, why] of cases) {
      const { code, err, calls } = await run(step(1), '--baseline', which);
      assert.equal(code, 2);
      assert.match(err, why);
      assert.equal(calls.runs.length + calls.targetsOpen, 0);
    }
    const { code, err } = await at.run(['baseline', cases[0][0]]);
    assert.equal(code, 2);
    assert.match(
      err,
      /cannot be made a baseline: .* is invalid: sent late\. The baseline stays as/,
    );
    assert.doesNotMatch(err, /this run|started/);
  });

  it('exits with 2 where a run that passed cannot be compared after all', async () => {
    await stored(usual, [step(1)]);
    const { code, out } = await run(step(2, 3, 5), '--baseline', 'last');
    assert.equal(code, 2);
    assert.match(out, /baseline {2}■ cannot be compared; step 1: it was measured for 60 s and 5 s/);
  });
});
