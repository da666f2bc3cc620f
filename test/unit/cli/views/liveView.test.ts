import assert from 'node:assert/strict';
import { paintAll, textWidth } from '../../../../src/cli/views/line';
import { createLiveView, liveLines } from '../../../../src/cli/views/runView';
import { noProgress, withSnapshot, type RunProgress } from '../../../../src/cli/views/runView';
import type { Snapshot } from '../../../../src/measure/snapshot';
import type { AgentProgress } from '../../../../src/measure/summary';
import {
  mixedProgress,
  sampleScenario,
  sampleSnapshot,
  unusualScenario,
} from '../../results/sampleResult';
import { fakeIo } from '../fakeIo';

const title = {
  file: 'chat-room.yaml',
  url: 'http://localhost:5050/signalrbench',
  scenario: sampleScenario,
};

function after(...snapshots: Snapshot[]): RunProgress {
  return snapshots.reduce(withSnapshot, noProgress);
}

function drawn(progress: RunProgress, rows = 24): string[] {
  return paintAll(liveLines(title, progress, rows), false)
    .split('\n')
    .slice(0, -1);
}

describe('live view', () => {
  it('begins with the title and the ramp', () => {
    assert.deepEqual(drawn(after(sampleSnapshot(7))), [
      'chat-room.yaml → http://localhost:5050/signalrbench',
      'sendToGroup, groups of 10, 2 KB each second, 1,900 connections in 3 steps',
      '',
      'connecting   700 of 1,900   p99 84ms',
      '',
      '',
      'opening connections',
    ]);
  });

  it('says how the load is driven, and leaves a row less for the steps', () => {
    const unusual = { ...title, scenario: unusualScenario, dialect: 'measure' as const };
    const steps = Array.from({ length: 5 }, (_each, at) => sampleSnapshot(at, at + 1));
    const lines = (of: typeof title): string[] =>
      liveLines(of, after(...steps), 15).map(({ text }) => text);
    const how = 'over LongPolling, messagepack, official client, dialect measure';
    assert.deepEqual(lines(unusual).slice(2, 4), [how, '']);
    assert.ok(lines(unusual).includes('      … 1 earlier'));
    assert.ok(lines(title).every((text) => !/messagepack|earlier/.test(text)));
    assert.equal(lines(unusual).length, lines(title).length + 1);
  });

  it('warns of a stall', () => {
    const snapshot = sampleSnapshot(80, 1);
    const waiting = { oldestS: 2.14, silentS: 2.14 };
    const stalled = after({ ...snapshot, step: { ...snapshot.step!, outstanding: 400, waiting } });
    const line = liveLines(title, stalled, 24).at(-1);
    assert.deepEqual(line, {
      text: '⚠ step 1 of 3: no delivery for 2.1 s, 400 waiting; measuring, 0:12 left',
      tone: 'warn',
    });
  });

  it('warns of agents that are not heard', () => {
    const agentsOf = (...statuses: AgentProgress['status'][]) =>
      statuses.map((status, at) => ({
        ...{ index: at + 1, node: `node-${at}`, share: 0.5, status, lastTick: 8 },
        clockErrorUs: 0,
      }));
    const lineOf = (agents: AgentProgress[]) =>
      liveLines(title, after({ ...sampleSnapshot(80, 1), agents }), 24).at(-1);
    const said = lineOf(agentsOf('running', 'silent'));
    assert.equal(said?.tone, 'warn');
    assert.match(said.text, /^step 1 of 3: measuring, 0:12 left; ⚠ agent 2 is silent/);
    assert.match(lineOf(agentsOf('silent', 'silent'))!.text, /; ⚠ 2 agents are silent/);
    assert.equal(lineOf(agentsOf('running', 'running'))?.tone, 'dim');
  });

  it('says of what cannot be met any more that its counts are those at the best end', () => {
    const snapshot = sampleSnapshot(80, 1);
    const missed = { message: '99 % of 242 deliveries within 3.7 s', isFinal: true } as const;
    const lines = drawn(after({ ...snapshot, step: { ...snapshot.step!, missed } }));
    const words = '✗ cannot be met any more; at best: 99 % of 242 deliveries';
    assert.ok(
      lines.some((line) => line.startsWith(words)),
      lines.join('\n'),
    );
  });

  it('has the use cases of a mix in the step that goes on', () => {
    const snapshot = sampleSnapshot(80, 1);
    const entries = mixedProgress(1);
    const lines = drawn(after({ ...snapshot, step: { ...snapshot.step!, entries } }));
    assert.deepEqual(lines.slice(6, 10), [
      '▸   1     700   700.0   7,000 2.7ms  41ms 103ms 164ms     -    0 ok 21 %   0:12',
      '',
      ' step senders  sent/s  recv/s   p50   p99 p99.9   max  lost use case',
      '    1     525   525.0   5,250   1ms  12ms  19ms  27ms     - sendToGroup',
    ]);
  });

  it('has one row a step, the current one marked with its time left', () => {
    const progress = after(sampleSnapshot(20, 1), sampleSnapshot(80, 2), sampleSnapshot(140, 3));
    assert.deepEqual(drawn(progress).slice(3), [
      'connected    1,900 of 1,900   p99 84ms',
      '',
      ' step senders  sent/s  recv/s   p50   p99 p99.9   max  lost  err generator',
      '    1     700   700.0   7,000 2.7ms  41ms 103ms 164ms     0    0 ok 21 %',
      '    2   1,300 1,300.0  13,000 2.7ms  41ms 103ms 164ms     0    0 ok 21 %',
      '▸   3   1,900 1,900.0  19,000 2.7ms  41ms 103ms 164ms     -    0 ok 21 %   0:12',
      '',
      'step 3 of 3: measuring, 0:12 left',
    ]);
  });

  it('counts errors of the measured time, those of warm-ups apart, and says what they are', () => {
    const seen = (index: number, errors: number, warmupErrors?: number): Partial<Snapshot> => ({
      errors: { refused: 2, timeout: 3, closed: 1 },
      step: {
        ...sampleSnapshot(20, index).step!,
        errors,
        ...(warmupErrors !== undefined && { warmupErrors }),
      },
    });
    const progress = after(
      sampleSnapshot(10, undefined, { errors: { refused: 2 } }),
      sampleSnapshot(21, 1, seen(1, 3, 1)),
      sampleSnapshot(80, 2, seen(2, 1)),
    );
    const lines = drawn(progress);
    assert.match(lines[6] ?? '', / 0 {4}3 ok 21 %$/);
    assert.match(lines[7] ?? '', / - {4}1 ok 21 %/);
    assert.equal(lines[8], ' 1 more error in the warm-up of step 1, which err leaves out');
    assert.match(lines.at(-1) ?? '', /errors: 3 timeout, 2 refused, 1 closed$/);
  });

  it('leaves out p99.9 of too few deliveries, and says why', () => {
    const { step } = sampleSnapshot(20, 1);
    const row = (count: number): string[] => {
      const latencyUs = { ...step!.latencyUs, count };
      const lines = drawn(after(sampleSnapshot(20, 1, { step: { ...step!, latencyUs } })));
      return [lines[6]!.slice(29, 53), lines[7]!];
    };
    assert.deepEqual(row(9999), [
      ' 2.7ms  41ms     – 164ms',
      ' –: p99.9 is shown from 10,000 deliveries on, p99.99 from 100,000 on, when at',
    ]);
    assert.deepEqual(row(10_000), [' 2.7ms  41ms 103ms 164ms', '']);
  });

  it('shows a generator that is the bottleneck', () => {
    const { step } = sampleSnapshot(20, 1);
    const slow = { ...step!, generator: { ...step!.generator, cpuShare: 0.996, valid: false } };
    assert.match(drawn(after(sampleSnapshot(20, 1, { step: slow })))[6] ?? '', /slow 100%/);
  });

  it('shows no numbers of a warm-up', () => {
    const lines = drawn(after(sampleSnapshot(20, 1, { phase: 'warmup' })));
    assert.equal(lines[6], '▸   1     700       -       -     -     -     -     -     -    - -');
  });

  it('never exceeds 80 columns, whatever the numbers', () => {
    const { step } = sampleSnapshot(1, 1);
    const huge = { count: 1e15, min: 0, mean: 1e12, p50: 1e9, p90: 1e10, p95: 1e11, p99: 1e11 };
    const progress = after(
      sampleSnapshot(1, 1, {
        stepCount: 10_000,
        errors: { timeout: 1e12 },
        step: {
          ...step!,
          index: 10_000,
          senders: 1e9,
          elapsedS: 0,
          totalS: 86_400,
          sentPerSecond: 123_456_789.4,
          receivedPerSecond: 9.87e12,
          latencyUs: { ...huge, p999: 9e11, p9999: 9e11, max: 9e11 },
          generator: { ...step!.generator, cpuShare: 1.234, valid: false },
        },
      }),
    );
    for (const line of drawn(progress)) assert.ok(textWidth(line) <= 80, line);
  });

  it('keeps the last rows when the terminal is too low for all', () => {
    const many = Array.from({ length: 30 }, (_, index) => {
      const sample = sampleSnapshot(index + 1, 1);
      return { ...sample, step: { ...sample.step!, index: index + 1 } };
    });
    const lines = drawn(after(...many), 20);
    assert.ok(lines.length < 20, `${lines.length} lines`);
    assert.ok(lines.some((line) => line.includes('… 20 earlier')));
    assert.ok(lines.some((line) => line.startsWith('▸  30')));
  });

  it('redraws in place, cut to the width of the terminal', () => {
    for (const columns of [80, 40, 20, 5]) {
      const terminal = fakeIo({ terminal: true, columns });
      const view = createLiveView(terminal.stderr, title, true);
      view.update(sampleSnapshot(1));
      const first = terminal.err().length;
      assert.doesNotMatch(terminal.err(), /␛\[\d+A/);
      view.update(sampleSnapshot(20, 1));
      assert.match(terminal.err().slice(first), /^␛\[7A\r␛\[J/);
      const plain = terminal.err().replace(/␛\[[\d;]*[A-Za-z]|\r/g, '');
      for (const line of plain.split('\n')) assert.ok(textWidth(line) <= columns, line);
      const before = terminal.err().length;
      view.close();
      assert.match(terminal.err().slice(before), /^␛\[\d+A\r␛\[J$/);
    }
  });

  it('puts messages above itself', () => {
    const terminal = fakeIo({ terminal: true });
    const view = createLiveView(terminal.stderr, title, false);
    view.update(sampleSnapshot(1));
    const before = terminal.err().length;
    view.message('disk full\x1b[2J');
    const text = terminal.err().slice(before);
    assert.match(text, /^␛\[7A\r␛\[Jdisk full\[2J\nchat-room\.yaml/);
  });
});
