import assert from 'node:assert/strict';
import type { Snapshot } from '../../../src/measure/snapshot';
import {
  columnsToSnapshots,
  SnapshotHistory,
  latestAgents,
  mostSnapshots,
  thinSnapshots,
  snapshotsToColumns,
  type SnapshotColumns,
  remainingRunS,
} from '../../../src/measure/snapshotHistory';
import { deflated } from '../../../src/run/runSession';
import { sampleAgents, sampleSnapshot } from '../results/sampleResult';
import { measured } from '../webview/shownRun';
import { buildPlan } from '../../../src/plan/buildPlan';
import { parseScenario } from '../../../src/scenario/parseScenario';

describe('thinning of snapshots', () => {
  const snapshots = [
    ...Array.from({ length: 10 }, (_, at) => sampleSnapshot(at)),
    ...Array.from({ length: 500 }, (_, at) => measured(10 + at, 1, at === 333 ? 9e6 : 20_000)),
    ...Array.from({ length: 500 }, (_, at) => measured(510 + at, 2)),
  ];

  it('leaves a short run as it is', () => {
    assert.equal(thinSnapshots(snapshots, 2000), snapshots);
  });

  it('keeps order, spikes and the ends of each step', () => {
    const kept = thinSnapshots(snapshots, 100);
    assert.ok(kept.length <= 110, String(kept.length));
    const ticks = kept.map(({ tick }) => tick);
    assert.deepEqual(
      ticks,
      [...ticks].sort((a, b) => a - b),
    );
    for (const tick of [0, 9, 10, 343, 509, 510, 1009]) assert.ok(ticks.includes(tick), `${tick}`);
  });
});

describe('the snapshots that are held of a run', () => {
  it('keep the worst seconds and the ends of each step, however long it lasts', () => {
    const held = new SnapshotHistory();
    const stepTicks = 3000;
    const worst = [1_111, 8_000, 14_998];
    for (let tick = 0; tick < 5 * stepTicks; tick++) {
      const step = 1 + Math.floor(tick / stepTicks);
      held.add(measured(tick, step, worst.includes(tick) ? 9e6 : 20_000));
      if (tick % 500 === 0) assert.ok(held.all.length <= 2 * mostSnapshots + 20);
    }
    const ticks = new Set(held.all.map(({ tick }) => tick));
    for (let step = 0; step < 5; step++)
      assert.ok(ticks.has(step * stepTicks) && ticks.has((step + 1) * stepTicks - 1), `${step}`);
    for (const tick of worst) assert.ok(ticks.has(tick), `${tick}`);
    assert.ok(ticks.size > mostSnapshots);
  });

  it('have room for more where a run has very many steps', () => {
    const held = new SnapshotHistory();
    for (let step = 1; step <= 4000; step++)
      for (let second = 0; second < 3; second++) held.add(measured(3 * step + second, step));
    assert.equal(held.all.length, 12_000 - lostBetween(held));
    const steps = new Set(held.all.map(({ step }) => step!.index));
    assert.equal(steps.size, 4000);
  });

  it('are the same where they are packed', () => {
    const [held, packed] = [new SnapshotHistory(), new SnapshotHistory(deflated)];
    for (let tick = 0; tick < 2 * mostSnapshots + 5; tick++) {
      const agents = tick % 4000 === 9 ? { agents: sampleAgents } : {};
      const snapshot = { ...measured(tick, 1, tick % 777 === 0 ? 9e6 : 20_000), ...agents };
      held.add(snapshot);
      packed.add(snapshot);
    }
    assert.ok(held.all.length < 2 * mostSnapshots);
    assert.deepEqual(packed.all, held.all);
  });

  it('say of the newest alone how agents stood', () => {
    const held = new SnapshotHistory();
    const at = (tick: number, agents?: Snapshot['agents']): void =>
      held.add({ ...measured(tick, 1), ...(agents && { agents }) });
    at(0, sampleAgents);
    at(1);
    assert.equal(latestAgents(held.all), sampleAgents);
    at(2, sampleAgents.slice(1));
    at(3);
    assert.deepEqual(
      held.all.map(({ agents }) => agents?.length),
      [undefined, undefined, 2, undefined],
    );
    assert.equal(latestAgents(held.all).length, 2);
    assert.deepEqual(latestAgents([]), []);
  });
});

describe('snapshots by columns', () => {
  const seconds = (count: number): Snapshot[] =>
    Array.from({ length: count }, (_, at) => {
      const snapshot = measured(at, 1 + Math.floor(at / 10));
      const calls = Array.from({ length: 100 }, (_, call) => ({
        ...{ name: `call-${call}`, sent: at, expected: at, received: at, outstanding: 0 },
        ...{ latencyUs: snapshot.interval!.latencyUs, errors: {} },
      }));
      return { ...snapshot, step: { ...snapshot.step!, calls, outstanding: at % 7 } };
    });

  it('are what is held: of each step the last one whole, of each second what is its own', () => {
    const all = seconds(35);
    const held = new SnapshotHistory();
    for (const each of all) held.add(each);
    const back = columnsToSnapshots(
      JSON.parse(JSON.stringify(snapshotsToColumns(all))) as SnapshotColumns,
    );
    assert.deepEqual(back, held.all);
    assert.deepEqual(back[9], all[9]);
    assert.deepEqual(back.at(-1), all.at(-1));
    const own = ({ step, ...rest }: Snapshot) => [rest, step?.index, step?.outstanding];
    assert.deepEqual(back.map(own), all.map(own));
  });

  it('keep apart what is absent and what is null', () => {
    const search = { of: 'senders', low: null, high: 8, value: 4 } as const;
    const all = [sampleSnapshot(1), { ...measured(2, 1), search }, measured(3, 1)];
    assert.deepEqual(
      columnsToSnapshots(snapshotsToColumns(all)),
      all.map((each) => ({ ...each })),
    );
  });

  it('name each call of a step once, however many seconds it lasts', () => {
    const words = JSON.stringify(snapshotsToColumns(seconds(240)));
    assert.equal(words.match(/"call-7"/g)?.length, 24);
    const one = JSON.stringify(
      snapshotsToColumns(
        seconds(240).map((each) => ({ ...each, step: { ...each.step!, index: 1 } })),
      ),
    );
    assert.equal(one.match(/"call-7"/g)?.length, 1);
  });
});

/** Seconds that are neither first nor last of their step and no longer held. */
function lostBetween({ all }: SnapshotHistory): number {
  const ticks = new Set(all.map(({ tick }) => tick));
  let lost = 0;
  for (let step = 1; step <= 4000; step++) {
    assert.ok(ticks.has(3 * step) && ticks.has(3 * step + 2));
    if (!ticks.has(3 * step + 1)) lost += 1;
  }
  return lost;
}

/** What is left at the begin of the measured time of each step, and what its plan says. */
function leftAndPlanned(config: string): (number | undefined)[][] {
  const name = config.includes('rounds') ? 'connectOnly' : 'echo';
  const parameters = config.includes('rounds') ? '\n  parameters: { rounds: 3 }' : '';
  const text = `scenario:
  name: ${name}${parameters}
config: { connections: 40, ${config.replace('rounds, ', '')} }
`;
  const { scenario, problems } = parseScenario(text);
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error'),
    [],
    text,
  );
  const { steps } = buildPlan(scenario!, { runId: 1, seed: 1, workers: 1 });
  return steps.map(({ index, senders, measureMs }, at) => {
    const { step } = sampleSnapshot(1, 1);
    const now = { ...step!, index, senders, elapsedS: 0, totalS: measureMs / 1000 };
    const left = remainingRunS({ step: now, stepCount: steps.length }, scenario!);
    const later = steps.slice(at + 1).map((each) => each.warmupMs + each.measureMs);
    return [left, later.reduce((sum, ms) => sum + ms, measureMs) / 1000];
  });
}

describe('runLeftS', () => {
  it('is what the plan has still to do, whatever its steps are', () => {
    for (const [config, count] of [
      ['baseSending: 10, step: 10, singleStepDuration: 20s, warmup: 3s', 4],
      ['baseSending: 40, repeat: 5, singleStepDuration: 20s, warmup: 3s', 5],
      ['baseSending: 20, step: 20, repeat: 3, singleStepDuration: 20s, warmup: 3s', 6],
      ['stages: [{ to: 10, over: 30s, hold: 1m }, { to: 40, over: 5s }]', 1],
      ['stages: [{ to: 10, over: 30s }], repeat: 3, warmup: 4s', 3],
      ['rounds, singleStepDuration: 20s, warmup: 3s', 3],
    ] as const) {
      const all = leftAndPlanned(config);
      assert.equal(all.length, count, config);
      for (const [left, planned] of all) assert.equal(left, planned, config);
    }
  });

  it('is not known before the first step, nor in a search', () => {
    const { step, ...before } = sampleSnapshot(1, 1);
    const times = { warmupMs: 5000, singleStepDurationMs: 50_000 };
    assert.equal(remainingRunS(before, times), undefined);
    const search = { of: 'senders', value: 10, low: null, high: null } as const;
    assert.equal(remainingRunS({ ...before, step: step!, search }, times), undefined);
  });
});
