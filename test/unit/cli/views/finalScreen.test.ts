import assert from 'node:assert/strict';
import { callLines } from '../../../../src/cli/views/runTables';
import { textWidth, paintAll, wrap } from '../../../../src/cli/views/line';
import {
  createPlainView,
  liveLines,
  noProgress,
  withSnapshot,
} from '../../../../src/cli/views/runView';
import {
  sampleScenario,
  sampleSnapshot,
  sampleStep,
  sessionMix,
  sessionProgress,
  sessionStep,
  sampleResult,
} from '../../results/sampleResult';
import { fakeIo } from '../fakeIo';
import { finalScreen } from '../../../../src/cli/views/finalScreen';

const table = [
  '  call                    sent  expected  received  lost   p50   p99   max  err',
  '  JoinRoom               2,005     2,005     2,005     0 1.2ms  14ms  31ms    0',
  '  SendMessage (×10)     20,020   200,200   200,200     0 1.9ms  22ms  71ms    0',
  '  GetHistory             2,002     2,002     2,000     2 3.4ms 120ms 410ms    2',
  '  LeaveRoom              2,000         0         0     0     -     -     -    0',
];
const title = { file: 'chat.yaml', url: 'http://localhost/hub', scenario: sampleScenario };

function during(step: number) {
  const snapshot = sampleSnapshot(80, step);
  return { ...snapshot, step: { ...snapshot.step!, ...sessionProgress(step) } };
}

describe('calls of sessions in the terminal', () => {
  it('of a mix have each their part of the room', () => {
    const few = callLines([sessionMix(1)], 80, { most: 2, errors: false });
    assert.deepEqual(
      few.flatMap(({ text }) => /^ {2}(JoinRoom|GetHistory|… \d more)/.exec(text)?.[1] ?? []),
      ['JoinRoom', '… 3 more', 'GetHistory', '… 1 more'],
    );
  });

  it('have the text of one of their errors', () => {
    const step = sessionStep(1);
    const calls = step.calls!.map((call) =>
      call.name === 'GetHistory' ? { ...call, errorText: 'history is busy.' } : call,
    );
    const last = callLines([{ ...step, calls }], 80).at(-1);
    assert.equal(last?.text, '  errors of GetHistory: 2 invocation: "history is busy"');
  });

  it('are those of the last step that made some', () => {
    const idle = sessionStep(3);
    const calls = idle.calls!.map((call) => ({ ...call, sent: 0, expected: 0, received: 0 }));
    const [heading] = callLines([sampleStep(1), sessionStep(2), { ...idle, calls }], 80);
    assert.equal(heading?.text, 'calls of step 2');
    assert.deepEqual(callLines([sampleStep(1)], 80), []);
  });

  it('are cut where there are very many, or their names are long', () => {
    const step = sessionStep(1);
    const calls = Array.from({ length: 100 }, (_, at) => ({
      ...step.calls![0]!,
      name: `AMethodWithAVeryLongName${at}`,
    }));
    const lines = callLines([{ ...step, calls }], 80).map(({ text }) => text);
    assert.ok(lines.includes('  … 60 more'));
    for (const text of lines) assert.ok(textWidth(text) <= 80, text);
  });

  it('stand in the live view where there is room, and leave it to the steps where there is not', () => {
    const progress = withSnapshot(noProgress, during(1));
    const drawn = (rows: number): string[] =>
      liveLines(title, progress, rows).map(({ text }) => text);
    const live = table.map((text) => text.replace(/(\d) {5}[02] /, '$1     - '));
    assert.ok(
      live.slice(0, 4).every((text) => drawn(24).includes(text)),
      drawn(24).join('\n'),
    );
    for (const rows of [24, 40]) assert.ok(drawn(rows).length < rows, `${rows} rows`);
    assert.ok(!drawn(16).some((text) => text.includes('JoinRoom')));
  });

  it('of a mix stand in the live view by use case, where there is room for both', () => {
    const step = { ...during(1).step, ...sessionProgress(1, sessionMix) };
    const progress = withSnapshot(noProgress, { ...during(1), step });
    for (const rows of [20, 24, 30, 40]) {
      const drawn = liveLines(title, progress, rows).map(({ text }) => text);
      assert.ok(drawn.length <= rows, `${rows} rows: ${drawn.length}`);
      assert.deepEqual(
        drawn.filter((text) => /^ session \d$/.test(text)),
        rows < 40 ? [] : [' session 1', ' session 2'],
      );
      // Where there is no room for calls, what became of the sessions is in sight.
      assert.ok(drawn.some((text) => text.includes('28 broken off at GetHistory')) === rows > 20);
    }
  });

  it('are a line each in a log when their step is over', () => {
    const io = fakeIo();
    const view = createPlainView(io.stdout, title);
    view.update(during(1));
    view.update({ ...during(1), phase: 'done', atMs: 90_000 });
    const text = io.out();
    assert.match(
      text,
      /step 1, SendMessage \(×10\): 20,020 sent, 200,200 expected, 200,200 received, 0 lost, p50 1\.9 ms, p99 22 ms, max 71 ms, 0 errors/,
    );
    assert.match(text, /step 1, GetHistory: .*2 lost.* 2 broken off/);
    assert.match(text, /Step 1, sessions: 2,005 started, .*, 3 still going on at the end/);
    const mix = fakeIo();
    const other = createPlainView(mix.stdout, title);
    const step = { ...during(1).step, ...sessionProgress(1, sessionMix) };
    other.update({ ...during(1), step });
    other.update({ ...during(1), step, phase: 'done', atMs: 90_000 });
    assert.match(mix.out(), /step 1, session 2, GetHistory: 28 sent, .* 28 broken off/);
    assert.match(mix.out(), /Step 1, session 2: 30 started, 0 completed, 28 broken off at Get/);
  });
});

function screen(change: Parameters<typeof sampleResult>[0] = {}, width = 80): string {
  return paintAll(finalScreen(sampleResult(change), width, '.signalr-bench/x'), false);
}

describe('final screen', () => {
  it('has columns of the time to all and of the clocks of agents where there is room', () => {
    const { latencyUs } = sampleStep(1);
    const toAll = { ...sampleStep(1), timeToAllUs: { ...latencyUs, count: 398 } };
    const inside = { ...latencyUs, count: 1000 };
    const clocks = { ...sampleStep(1), latencySameAgentUs: inside, clockErrorUs: 800 };
    for (const [step, head] of [
      [toAll, / max +to all +lost/],
      [clocks, / max +inside +lost/],
    ] as const) {
      assert.match(screen({ steps: [step] }, 100), head);
      assert.doesNotMatch(screen({ steps: [step] }, 80), head);
      assert.doesNotMatch(screen({}, 100), head);
    }
    assert.doesNotMatch(screen({ steps: [{ ...clocks, clockErrorUs: 0 }] }, 100), /inside/);
  });

  it('fits into 80 columns and adapts to narrower ones', () => {
    for (const line of screen().split('\n')) assert.ok(textWidth(line) <= 80, line);
    assert.match(screen({}, 60), / {10}group 1,900 msg\/s in and/);
  });
});

describe('a text in lines', () => {
  it('breaks at blanks, and never between a number and its per cent', () => {
    const text = 'above the limit of 1 %';
    assert.deepEqual(wrap(text, 20), ['above the limit of', '1 %']);
    assert.deepEqual(wrap(text, 22), [text]);
    assert.deepEqual(wrap('  a b c', 4, ' '), ['  a', ' b c']);
  });
});
