import assert from 'node:assert/strict';
import { generatorProblems } from '../../../../src/measure/judge/verdict';
import { finalScreen, interruptedScreen } from '../../../../src/cli/views/finalScreen';
import { paintAll, textWidth } from '../../../../src/cli/views/line';
import {
  failedResult,
  mixedStep,
  sampleResult,
  sampleSnapshot,
  sampleStep,
  unusualResult,
} from '../../results/sampleResult';

function screen(change: Parameters<typeof sampleResult>[0] = {}, width = 80): string {
  return paintAll(finalScreen(sampleResult(change), width, '.signalr-bench/x'), false);
}

describe('final screen', () => {
  it('says when messages had reached all their receivers, in a column where there is room', () => {
    const timeToAllUs = { ...sampleStep(1).latencyUs, count: 398 };
    const steps = [{ ...sampleStep(1), timeToAllUs, timeToAllMissed: 2 }];
    const words =
      / step 1, until all receivers had a message: p50 2\.7ms, p99 41ms, max 164ms; 2 of\n {2}400 messages did not reach all\n/;
    const narrow = screen({ steps });
    assert.match(narrow, words);
    assert.doesNotMatch(narrow, /to all\b.*generator/);
    for (const line of narrow.split('\n')) assert.ok(textWidth(line) <= 80, line);
    assert.match(screen({ steps }, 100), /max +to all +lost/);
    assert.doesNotMatch(screen({}, 100), /to all/);
  });

  it('says how far the clocks of agents are to be believed', () => {
    const { latencyUs } = sampleStep(1);
    const inside = { ...latencyUs, count: 1000, p50: 2500, p99: 40_000 };
    const clocks = { latencySameAgentUs: inside, clockErrorUs: 800, agentsComplete: 3 };
    const steps = [{ ...sampleStep(1), ...clocks, ambiguous: 1, negative: 12, clockJumps: 2 }];
    const narrow = screen({ steps });
    assert.match(
      narrow,
      / step 1, between agents: clocks may differ by 800µs; inside single agents p50\n {2}2\.5ms, p99 40ms; 1 delivery ambiguous; 12 came before they were sent; clocks\n {2}were moved \(2×\)\n/,
    );
    for (const line of narrow.split('\n')) assert.ok(textWidth(line) <= 80, line);
    assert.match(screen({ steps }, 100), /max +inside +lost/);
    const same = [{ ...sampleStep(1), ...clocks, clockErrorUs: 0 }];
    assert.doesNotMatch(screen({ steps: same }, 100), /inside|between agents/);
  });

  it('shows steps, spectrum, verdict and recommendation', () => {
    assert.deepEqual(screen().split('\n'), [
      '2026-11-21T14-02-11-chat-room → http://localhost:5050/signalrbench',
      'sendToGroup, groups of 10, 2 KB each second, 1,900 connections in 3 steps',
      'connected 1,900 of 1,900   p50 9ms   p99 84ms',
      '',
      ' step senders  sent/s  recv/s   p50   p99 p99.9   max  lost  err generator',
      '    1     700   700.0   7,000 367µs 5.5ms  14ms  22ms     0    0 ok 21 %',
      '    2   1,300 1,300.0  13,000 733µs  11ms  28ms  44ms     0    0 ok 21 %',
      '    3   1,900 1,900.0  19,000 2.7ms  41ms 103ms 164ms     0    0 ok 21 %',
      '',
      ' step  in: payload    on wire   MB/s  out: payload    on wire   MB/s',
      '    1      68.4 MB    73.4 MB   1.47      683.6 MB   734.3 MB  14.69',
      '    2       127 MB   136.4 MB   2.73        1.2 GB     1.3 GB  27.28',
      '    3     185.5 MB   199.3 MB   3.99        1.8 GB     1.9 GB  39.86',
      '',
      'latency of step 3',
      '   within   from due   from send',
      '     50 %      2.7ms       2.6ms  █',
      '     90 %       22ms        20ms  ████░',
      '     99 %       41ms        37ms  ████████░ ≤ 1s',
      '   99.9 %      103ms        90ms  ████████████████████░░░',
      '  99.99 %      133ms       117ms  ██████████████████████████░░░░',
      '    100 %      164ms       144ms  ████████████████████████████████░░░░░',
      '           █ since it was sent, ░ since it was due',
      '',
      '✓ passed; step 3: 99 % of 950,000 deliveries within 41 ms (limit 1 s), none lost',
      '',
      'Unit 10: outbound 19,000 of 20,000 msg/s (95 %, small group, guide of 2023-03)',
      '          Measured in step 3 with 1,900 connections: small group 1,900 msg/s in',
      '          and 19,000 msg/s out of 2 KB.',
      '          3 app servers with 15 server connections each.',
      '          Above the 70 % mark (traffic 95 %): Unit 20 leaves room.',
      'result    .signalr-bench/x',
      '',
    ]);
  });

  it('says first what a failed run did not carry, then how the planned size compares', () => {
    const lines = paintAll(finalScreen(failedResult(), 80), false).split('\n');
    const at = lines.findIndex((line) => line.startsWith('Step 2 failed'));
    assert.deepEqual(lines.slice(at, at + 5), [
      'Step 2 failed; step 1 passed (Unit 4). For the traffic of step 2 the published',
      '          tables ask for Unit 7: outbound 13,001 of 14,000 msg/s (93 %, small',
      '          group, guide of 2023-03)',
      '          Too much for Unit 5: it takes Unit 7: outbound 13,001 of 14,000 msg/s',
      '          (93 %, small group, guide of 2023-03) at Unit 7.',
    ]);
  });

  it('says how the load was driven where that is unusual', () => {
    const lines = paintAll(finalScreen(unusualResult, 80), false).split('\n');
    assert.deepEqual(lines.slice(1, 4), [
      'sendToGroup, groups of 10, 2 KB each second, 1,900 connections in 3 steps',
      'over LongPolling, messagepack, official client, dialect measure',
      'connected 1,900 of 1,900   p50 9ms   p99 84ms',
    ]);
  });

  it('has a table of the use cases of a mix', () => {
    const lines = screen({ steps: [mixedStep(1), mixedStep(3)] }).split('\n');
    const at = lines.findIndex((line) => line.endsWith('use case'));
    assert.deepEqual(lines.slice(at, at + 6), [
      ' step senders  sent/s  recv/s   p50   p99 p99.9   max  lost use case',
      '    1     525   525.0   5,250   1ms  12ms  19ms  27ms     0 sendToGroup',
      '    1     175   175.0   1,750   1ms  36ms  58ms  80ms     5 echo',
      '    3   1,425 1,425.0  14,250   1ms  12ms  19ms  27ms     0 sendToGroup',
      '    3     475   475.0   4,750   1ms  36ms  58ms  80ms     5 echo',
      '',
    ]);
    assert.ok(lines.every((line) => textWidth(line) <= 80));
  });

  it('says why a run failed, and what its errors mean', () => {
    const text = screen({
      steps: [
        sampleStep(1),
        sampleStep(2, { p99: 2_000_000, lost: 20_000, errors: { timeout: 3 } }),
      ],
      ending: 'threshold',
      errors: { timeout: 3, refused: 12 },
      errorExamples: [
        { errorClass: 'timeout', text: 'negotiate\x1b[31m did not answer' },
        { errorClass: 'timeout', text: 'negotiate\x1b[31m did not answer' },
      ],
    });
    assert.match(text, /✗ failed; step 2: 20,000 of 650,000 deliveries lost, and only 1 %/);
    assert.match(
      text,
      / {2}- step 2: 96\.9 % of 650,000 deliveries arrived, below the limit of 99 %/,
    );
    assert.match(text, /12 refused: connection refused: nothing listens on that port/);
    assert.match(
      text,
      /3 timeout: no answer in time\n +See whether the server is alive[^]* +e\.g\. negotiate\[31m did not answer\n\n/,
    );
    assert.match(text, /Measured in step 2/);
  });

  it('gives no Units when the generator was the bottleneck, and says so', () => {
    const text = screen({ steps: [sampleStep(1), sampleStep(2, { cpuShare: 0.99 })] });
    assert.match(text, /⚠ invalid, the generator was the bottleneck; step 2: a worker/);
    assert.match(text, /Units {5}no number: the load generator was the bottleneck/);
    assert.doesNotMatch(text, /Unit \d/);
  });

  it('shows the percentiles of the verdict where something was lost, and says so', () => {
    const judgedUs = {
      p50: 2800,
      p90: 1,
      p95: 1,
      p99: 414_000,
      p999: null,
      p9999: null,
      max: null,
    };
    const steps = [sampleStep(1), { ...sampleStep(2, { lost: 6500 }), judgedUs }];
    const lines = screen({ steps }).split('\n');
    assert.match(lines[6]!, /2\.8ms +414ms +lost +lost +6,500/);
    assert.equal(lines[7], ' percentiles count lost deliveries as slower than all that arrived');
    assert.ok(lines.includes('latency of step 2, of what arrived'));
    assert.doesNotMatch(screen(), /percentiles count/);
  });

  it('says what else took the processor, what helps, and which steps were not run', () => {
    const step = sampleStep(1);
    const lateness = { slipMaxUs: 310_000, readGapMaxUs: 900 };
    const generator = { ...step.generator, ...lateness, cpuShare: 0.03, valid: false };
    const late = [{ code: 'slip', message: 'this machine may have added up to 311 ms' }];
    const reasons = generatorProblems({ ...step, generator, lateness }, late);
    const starved = { ...step, generator, verdict: { status: 'invalid' as const, reasons } };
    const text = screen({ steps: [starved], plannedSteps: 3, ending: 'threshold' });
    const sentence = text.replace(/\s+/g, ' ');
    assert.match(
      sentence,
      /⚠ invalid; step 1: something else took the processor, .* used only 3 % of a core, .*; close other programs on this machine, .* \(and 1 more\); steps 2 and 3 were not run - step 1: this machine may have added up to 311 ms/,
    );
    assert.doesNotMatch(text, /no number/);
  });

  it('shows a run that never connected', () => {
    const text = screen({
      steps: [],
      ending: 'targetLost',
      endingMessage: 'Could not connect: nothing listens on 127.0.0.1:5999. Start it.',
      connections: {
        requested: 1900,
        connected: 0,
        failed: 20,
        dropped: 0,
        reconnected: 0,
        connectUs: { p50: 0, p99: 0, max: 0 },
      },
    });
    assert.doesNotMatch(text, /connected 0|20 failed/);
    assert.match(text, /✗ Could not connect: nothing listens on 127\.0\.0\.1:5999\. Start it\./);
    assert.match(text, /Units {5}no number: no step was measured/);
  });

  it('fits into 80 columns and adapts to narrower ones', () => {
    for (const line of screen().split('\n')) assert.ok(textWidth(line) <= 80, line);
    assert.match(screen({}, 60), / {10}group 1,900 msg\/s in and/);
  });

  it('shows what is left of an interrupted run', () => {
    const last = sampleSnapshot(80, 2, { errors: { closed: 1 } });
    const text = paintAll(
      interruptedScreen(
        {
          kind: 'interrupted',
          path: 'x',
          steps: [sampleSnapshot(20, 1).step!, last.step!],
          lastSample: last,
        },
        80,
      ),
      false,
    );
    assert.match(text, /■ interrupted; .* 80\.0 s\s+after the start/s);
    assert.match(text, / {4}2 {3}1,300/);
    assert.match(text, /1 closed: closed by the server/);
    const empty = paintAll(
      interruptedScreen({ kind: 'interrupted', path: 'x', steps: [] }, 80),
      false,
    );
    assert.match(empty, /no sample was written, 0 steps\s+begun/);
  });
});
