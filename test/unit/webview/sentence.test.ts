import { say } from '../../../src/base/sentence';
import { couldNotConnectWords } from '../../../src/measure/judge/hubComplaint';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { MissedSoFar, StepProgress } from '../../../src/measure/snapshot';
import { panelStrings, type PanelStrings } from '../../../src/measure/show/panelStrings';
import type { AgentProgress } from '../../../src/measure/summary';
import { sentenceOf } from '../../../src/webview/sentence';
import { tilesOf } from '../../../src/webview/tables/tiles';
import { unitsViewOf } from '../../../src/webview/tables/unitsCard';
import { toPanelResult } from '../../../src/extension/panel/panelSession';
import {
  failedResult,
  latency,
  sampleSnapshot,
  sampleStep,
  sampleSummary,
} from '../results/sampleResult';
import { finishedRun, measured, shownRun } from './shownRun';

const textOf = (state: Parameters<typeof sentenceOf>[0]): string => {
  const { lead, rest } = sentenceOf(state);
  return `${lead} ${rest}`.trim();
};
const liveAgents = (last: AgentProgress['status']) =>
  (['running', 'running', last] as const).map((status, at) => ({
    ...{ index: at + 1, node: `node-${'abc'[at]}`, share: 1 / 3, status, lastTick: 40 },
    clockErrorUs: 0,
  }));
const slow = (tick: number) => {
  const snapshot = measured(tick, 2);
  return {
    ...snapshot,
    step: { ...snapshot.step!, generator: { ...snapshot.step!.generator, valid: false } },
  };
};

describe('sentence, tiles and Units of the panel', () => {
  it('say in red why nothing was reached, and count no failures there', () => {
    const { connections } = sampleSummary();
    const errors = [{ errorClass: 'refused', text: 'connect ECONNREFUSED 127.0.0.1:5999' }];
    const words = couldNotConnectWords(errors, 'x');
    const state = finishedRun({
      ...{ steps: [], ending: 'targetLost', endingWords: words, errors: { refused: 136 } },
      connections: { ...connections, connected: 0, failed: 21 },
    });
    assert.deepEqual(sentenceOf(state), {
      ...{ tone: 'bad', sign: '✗' },
      lead: 'Could not connect: nothing listens on 127.0.0.1:5999.',
      rest: 'Start the server, or correct the port in the target.',
    });
    assert.deepEqual(
      state.result!.verdict.reasons.map(({ message }) => message),
      [say(words)],
    );
    const tile = tilesOf(state).find(({ id }) => id === 'connections');
    assert.deepEqual([tile?.value, tile?.tone], ['0', 'bad']);
    assert.doesNotMatch(`${tile?.of} ${tile?.details}`, /21/);
  });

  it('say what goes on', () => {
    assert.equal(textOf(shownRun()), 'Waiting for the first numbers …');
    assert.equal(textOf(shownRun([sampleSnapshot(7)])), 'Opening connections: 700 of 1,900.');
    assert.equal(
      textOf(shownRun([measured(40, 1), measured(95, 2)])),
      'Step 2 of 3, 12 s left, 1:07 of the whole run. 99 % within 41 ms; nothing lost so far; the generator keeps its schedule.',
    );
    const last = { ...measured(95, 2), stepCount: 2 };
    assert.match(textOf(shownRun([last])), /^Step 2 of 2, 12 s left\. 99 %/);
    const draining = shownRun([sampleSnapshot(99, 2, { phase: 'draining' })]);
    assert.match(textOf(draining), /^Step 2 of 3, waits for outstanding deliveries\. 99 % within/);
  });

  it('name agents that are not heard, while they are not', () => {
    const snapshot = { ...measured(40, 1), agents: liveAgents('silent') };
    const { tone } = sentenceOf(shownRun([snapshot]));
    assert.equal(tone, 'warn');
    assert.match(textOf(shownRun([snapshot])), /whole run\. Silent: agent 3 \(node-c\)\. 99 %/);
    const back = { ...measured(41, 1), agents: liveAgents('running') };
    assert.equal(sentenceOf(shownRun([snapshot, back])).tone, 'good');
  });

  it('say which objective is not met by now, and which cannot be met any more', () => {
    const snapshot = measured(95, 1);
    const message = '13 of 260 deliveries are overdue or lost, and only 1 % may be slower than 1 s';
    const saying = (missed: MissedSoFar | undefined) =>
      shownRun([{ ...snapshot, step: { ...snapshot.step!, ...(missed && { missed }) } }]);
    const now = sentenceOf(saying({ message }));
    assert.deepEqual([now.tone, now.sign, now.lead], ['warn', '⚠', 'Step 1 of 3,']);
    assert.match(now.rest, new RegExp(`whole run\\. Not met by now: ${message}\\. 99 % within`));
    const final = sentenceOf(saying({ message, isFinal: true }));
    assert.deepEqual([final.tone, final.sign], ['bad', '✗']);
    assert.match(final.rest, /Cannot be met any more; at best: 13 of 260/);
    assert.equal(sentenceOf(saying(undefined)).tone, 'good');
  });

  it('say how many connections are open while the step goes on', () => {
    const snapshot = measured(95, 1);
    const connections = { ...snapshot.connections, dropped: 950, takingPart: 950 };
    const tile = tilesOf(shownRun([{ ...snapshot, connections }])).find(
      ({ id }) => id === 'connections',
    );
    assert.deepEqual([tile?.value, tile?.of], ['950', 'of 1,900']);
  });

  it('say that nothing came in Chinese too', () => {
    const file = path.resolve('l10n', 'bundle.l10n.zh-cn.json');
    const bundle = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
    const translated = Object.entries(panelStrings).map(([key, text]) => [key, bundle[text]]);
    const strings = Object.fromEntries(translated) as PanelStrings;
    const snapshot = measured(95, 1);
    const silent = { ...snapshot, step: { ...snapshot.step!, latencyUs: latency(0, 0, 0, 0) } };
    assert.match(
      textOf(shownRun([silent], { strings })),
      /剩余 12 s，整个运行剩余 2:02。 尚未收到任何消息；/,
    );
  });

  it('call nothing good before anything was received', () => {
    const snapshot = measured(95, 1);
    const silent = { ...snapshot, step: { ...snapshot.step!, latencyUs: latency(0, 0, 0, 0) } };
    const state = shownRun([silent]);
    assert.deepEqual(sentenceOf(state), {
      tone: 'neutral',
      sign: '●',
      lead: 'Step 1 of 3,',
      rest: '12 s left, 2:02 of the whole run. Nothing received yet; the generator keeps its schedule.',
    });
    const lossy = measured(40, 1);
    const before = { ...lossy, step: { ...lossy.step!, outstanding: 12 } };
    const after = { ...silent, step: { ...silent.step, index: 2 } };
    const losing = sentenceOf(shownRun([before, after]));
    assert.equal(losing.tone, 'warn');
    assert.match(
      losing.rest,
      /^12 s left, 1:07 of the whole run\. Nothing received yet; 12 lost so far; the generator/,
    );
  });

  it('say how long nothing has arrived, and call nothing good meanwhile', () => {
    const stalled = (oldestS: number, silentS: number, change: Partial<StepProgress> = {}) => {
      const snapshot = measured(95, 1);
      const step = {
        ...snapshot.step!,
        outstanding: 400,
        waiting: { oldestS, silentS },
        ...change,
      };
      return sentenceOf(shownRun([{ ...snapshot, step }]));
    };
    assert.deepEqual(stalled(2.1, 2.1), {
      tone: 'warn',
      sign: '⚠',
      lead: 'Step 1 of 3,',
      rest: '12 s left, 2:02 of the whole run. No delivery for 2.1 s, 400 waiting; 99 % of deliveries within 41 ms; the generator keeps its schedule.',
    });
    assert.match(
      stalled(6.5, 0).rest,
      / 400 waiting, the oldest for at least 6\.5 s; 99 % of deliveries/,
    );
    const nothing = stalled(3, 3, { latencyUs: latency(0, 0, 0, 0) });
    assert.equal(nothing.tone, 'warn');
    assert.match(
      nothing.rest,
      /whole run\. No delivery for 3\.0 s, 400 waiting; the generator keeps/,
    );
    assert.equal(stalled(3, 3, { over: true }).tone, 'good');
  });

  it('count losses of steps that are over only', () => {
    const lossy = measured(40, 1);
    const before = { ...lossy, step: { ...lossy.step!, outstanding: 12 } };
    const now = measured(95, 2);
    const onItsWay = { ...now, step: { ...now.step!, outstanding: 30 } };
    const state = shownRun([before, onItsWay]);
    assert.match(textOf(state), /12 lost so far/);
    const tile = tilesOf(state).find(({ id }) => id === 'lost');
    assert.deepEqual([tile?.value, tile?.details], ['12', '30 on their way · 0 duplicated']);
  });

  it('report no rate of the first moments of a step', () => {
    const sentAfter = (elapsedS: number): string | undefined => {
      const snapshot = measured(60, 1);
      const state = shownRun([{ ...snapshot, step: { ...snapshot.step!, elapsedS } }]);
      return tilesOf(state).find(({ id }) => id === 'sent')?.value;
    };
    assert.deepEqual([sentAfter(0), sentAfter(0.02), sentAfter(0.6)], ['–', '–', '700']);
  });

  it('end in the words of the command line', () => {
    const state = finishedRun();
    assert.deepEqual(sentenceOf(state), {
      tone: 'good',
      sign: '✓',
      lead: 'Passed.',
      rest: 'Step 3: 99 % of 950,000 deliveries within 41 ms (limit 1 s), none lost.',
    });
    assert.deepEqual(
      tilesOf(state).map(({ value, of }) => `${value} ${of}`.trim()),
      ['41 ms', '1,900 of 1,900 /s', '1,900 of 1,900', '0 of 1,950,000', 'healthy'],
    );
    assert.equal(unitsViewOf(state).unit, '10');
    assert.equal(unitsViewOf(state).basis, 'measured in step 3');
    assert.ok(unitsViewOf(state).notes.includes('Estimate before the run: 10.'));
  });

  it('does not show a size alone after a failed step, and says how the planned one compares', () => {
    const result = toPanelResult(failedResult());
    const { unit, headline, notes } = unitsViewOf(shownRun([], { result }));
    assert.equal(unit, undefined);
    assert.match(headline, /^Step 2 failed; step 1 passed \(Unit 4\)\. /);
    assert.match(notes[0]!, /^Too much for Unit 5: it takes Unit 7: /);
    assert.ok(notes.some((note) => note.includes('13,000 expected and 1 extra')));
  });

  it('say that the generator is the bottleneck, without any size', () => {
    const live = shownRun([slow(95)]);
    const over = finishedRun({ steps: [sampleStep(1, { cpuShare: 0.99 })] });
    for (const state of [live, over]) {
      assert.match(textOf(state), /bottleneck/);
      assert.equal(sentenceOf(state).tone, 'warn');
      assert.equal(tilesOf(state).find(({ id }) => id === 'generator')?.value, 'bottleneck');
      const { unit, headline, rows, notes } = unitsViewOf(state);
      assert.deepEqual([unit, rows, notes], [undefined, [], []]);
      assert.match(headline, /^No Units: The load generator (is|was) the bottleneck/);
    }
  });

  it('say that something else takes the processor', () => {
    const snapshot = measured(95, 1);
    const generator = {
      ...{ ...snapshot.step!.generator, valid: false, cause: 'starved' },
      ...{ cpuShare: 0.03, slipP99Us: 310_000 },
    };
    const live = shownRun([{ ...snapshot, step: { ...snapshot.step!, generator } }]);
    assert.equal(
      textOf(live),
      'Something else takes the processor: a worker uses only 3 % of a core, and messages leave 310 ms late; these numbers say nothing about the target. Step 1 of 3, 12 s left, 2:02 of the whole run.',
    );
    assert.equal(tilesOf(live).at(-1)?.value, 'delayed');
  });

  it('say that the generator did not run', () => {
    const snapshot = measured(95, 1);
    const generator = {
      ...{ ...snapshot.step!.generator, valid: false, cause: 'suspended' },
      ...{ suspendedUs: 61_000_000 },
    };
    const live = shownRun([{ ...snapshot, step: { ...snapshot.step!, generator } }]);
    assert.equal(
      textOf(live),
      'The load generator did not run for 61 s: its process was suspended, or the machine slept; these numbers say nothing about the target. Step 1 of 3, 12 s left, 2:02 of the whole run.',
    );
    assert.equal(tilesOf(live).at(-1)?.value, 'delayed');
  });

  it('show the published estimate while nothing is decided', () => {
    const { unit, basis, rows } = unitsViewOf(shownRun([measured(40, 1)]));
    assert.deepEqual([unit, rows.length], ['10', 3]);
    assert.match(basis ?? '', /Published estimate/);
    assert.deepEqual(
      rows[0]?.uses.map(({ text, share, high }) => [text, share, high]),
      [
        ['38 %', 0.38, false],
        ['190 %', 1, true],
        ['190 %', 1, true],
      ],
    );
  });

  it('name a run without a result as interrupted', () => {
    const state = shownRun([measured(40, 1)], { interrupted: true });
    assert.match(textOf(state), /^Interrupted: the run ended without a result/);
  });
});
