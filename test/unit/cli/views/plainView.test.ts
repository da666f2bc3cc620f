import assert from 'node:assert/strict';
import { createPlainView } from '../../../../src/cli/views/runView';
import { mixedProgress, sampleScenario, sampleSnapshot } from '../../results/sampleResult';
import { fakeIo } from '../fakeIo';

describe('plain view', () => {
  it('says each change of phase, each finished step, and now and then how far it is', () => {
    const pipe = fakeIo();
    const view = createPlainView(pipe.stderr, {
      file: 'chat-room.yaml',
      url: 'http://localhost:5050/signalrbench',
      scenario: sampleScenario,
    });
    for (const snapshot of [
      sampleSnapshot(1),
      sampleSnapshot(2),
      sampleSnapshot(12),
      sampleSnapshot(20, 1, { phase: 'warmup' }),
      sampleSnapshot(25, 1),
      sampleSnapshot(26, 1),
      sampleSnapshot(37, 1),
      sampleSnapshot(75, 1, { phase: 'draining' }),
      sampleSnapshot(80, 2),
      sampleSnapshot(140, 2, { phase: 'closing' }),
      sampleSnapshot(141, 2, { phase: 'done' }),
    ]) {
      view.update(snapshot);
    }
    view.close();
    assert.deepEqual(pipe.err().split('\n'), [
      'chat-room.yaml → http://localhost:5050/signalrbench',
      'sendToGroup, groups of 10, 2 KB each second, 1,900 connections in 3 steps',
      '[0:01] connecting 100 of 1,900 p99 84ms',
      '[0:12] connecting 1,200 of 1,900 p99 84ms',
      '[0:20] step 1 of 3: warming up, not measured',
      '[0:25] step 1 of 3: measuring, 0:12 left',
      '[0:37] step 1 of 3: measuring, 0:12 left; 700.0 sent/s, 7,000 received/s, p50 2.7 ms, p99 41 ms, p99.9 103 ms, max 164 ms',
      '[1:15] step 1 of 3: waiting for what is outstanding',
      '[1:20] step 1 done: 700 senders, 700.0 sent/s, 7,000 received/s, p50 2.7 ms, p99 41 ms, p99.9 103 ms, max 164 ms, 0 lost, 0 errors, generator ok (21 % of a core)',
      '[1:20] step 2 of 3: measuring, 0:12 left',
      '[2:20] step 2 done: 1,300 senders, 1,300.0 sent/s, 13,000 received/s, p50 2.7 ms, p99 41 ms, p99.9 103 ms, max 164 ms, 0 lost, 0 errors, generator ok (21 % of a core)',
      '[2:20] closing connections',
      '',
    ]);
    assert.doesNotMatch(pipe.err(), /␛/);
  });

  it('says when nothing arrives any more, and fills no log with it', () => {
    const pipe = fakeIo();
    const title = { file: 'a.yaml', url: 'http://h/x', scenario: sampleScenario };
    const view = createPlainView(pipe.stderr, title);
    const at = (tick: number, silentS?: number) => {
      const snapshot = sampleSnapshot(tick, 1);
      const waiting = silentS !== undefined && { waiting: { oldestS: silentS, silentS } };
      const step = { ...snapshot.step!, outstanding: 400, ...waiting };
      view.update({ ...snapshot, step });
    };
    at(25);
    for (let silentS = 1; silentS <= 12; silentS++) at(25 + silentS, silentS);
    at(38);
    const reported = pipe.err().split('\n').slice(2, -1);
    assert.deepEqual(
      reported.map((line) => line.replace(/; 700\.0 sent.*/, '')),
      [
        '[0:25] step 1 of 3: measuring, 0:12 left; 400 outstanding',
        '[0:26] ⚠ step 1 of 3: no delivery for 1.0 s, 400 waiting; measuring, 0:12 left',
        '[0:36] ⚠ step 1 of 3: no delivery for 11.0 s, 400 waiting; measuring, 0:12 left',
      ],
    );
  });

  it('says what each use case of a mix did', () => {
    const pipe = fakeIo();
    const title = { file: 'a.yaml', url: 'http://h/x', scenario: sampleScenario };
    const view = createPlainView(pipe.stderr, title);
    const snapshot = sampleSnapshot(40, 1);
    const step = { ...snapshot.step!, entries: mixedProgress(1) };
    view.update({ ...snapshot, step });
    view.update(sampleSnapshot(80, 2));
    assert.match(
      pipe.err(),
      /\[1:20\] step 1 done: .*\n\[1:20\] step 1, sendToGroup: 525 senders, 525\.0 sent\/s, .*, 0 lost\n\[1:20\] step 1, echo: 175 senders, .*, 5 lost\n/,
    );
  });

  it('calls no step done that was stopped in its warm-up', () => {
    const pipe = fakeIo();
    const title = { file: 'a.yaml', url: 'http://h/x', scenario: sampleScenario };
    const view = createPlainView(pipe.stderr, title);
    const warmup = sampleSnapshot(20, 1, { phase: 'warmup' });
    const step = { ...warmup.step!, elapsedS: 0 };
    view.update({ ...warmup, step });
    view.update({ ...warmup, step, phase: 'closing' });
    assert.match(pipe.err(), /closing connections/);
    assert.doesNotMatch(pipe.err(), /done/);
  });
});
