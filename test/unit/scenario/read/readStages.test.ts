import assert from 'node:assert/strict';
import { loadOf } from '../../../../src/capacity/load/loadOf';
import { buildPlan } from '../../../../src/plan/buildPlan';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { peakSenders, meanShareOfPeak, stagesDurationMs } from '../../../../src/scenario/steps';
import { loadWords } from '../../../../src/run/runWords';
import { brief, problemOf, scenarioOf, withConfig } from '../parsed';

const staged = (stages: string, ...lines: string[]): string =>
  `${withConfig('connections: 1000', `stages: ${stages}`, ...lines)}scenario:\n  name: echo\n`;
const usual = '[{ to: 500, over: 30s, hold: 1m }, { to: 0, over: 10s }]';

describe('stages of a file', () => {
  it('are the only step, with as many senders as the highest of them', () => {
    const text = staged(usual);
    const scenario = scenarioOf(text);
    assert.deepEqual(brief(text), []);
    assert.deepEqual(scenario.stages, {
      from: 0,
      stages: [
        { to: 500, overMs: 30_000, holdMs: 60_000 },
        { to: 0, overMs: 10_000, holdMs: 0 },
      ],
    });
    const { baseSending, step, singleStepDurationMs, warmupMs } = scenario;
    assert.deepEqual([baseSending, step, singleStepDurationMs, warmupMs], [500, 0, 100_000, 0]);
    const plan = buildPlan(scenario, { workers: 2, seed: 1, runId: 1 });
    assert.equal(plan.steps.length, 1);
    assert.deepEqual(
      [plan.steps[0]!.senders, plan.steps[0]!.stages, plan.steps[0]!.measureMs],
      [500, scenario.stages, 100_000],
    );
    assert.match(loadWords(scenario), /1,000 connections in 2 stages of up to 500 senders$/);
  });

  it('begin with baseSending where that is written, and are warmed up then', () => {
    const { stages, warmupMs, baseSending } = scenarioOf(staged(usual, 'baseSending: 700'));
    assert.deepEqual([stages?.from, warmupMs, baseSending], [700, 5000, 700]);
  });

  it('may name rates, which are as many senders as it takes', () => {
    const rate = (text: string): unknown =>
      scenarioOf(`${staged('[{ rate: 100/s, hold: 10s }]')}${text}`).stages?.stages[0]?.to;
    assert.equal(rate(''), 100);
    assert.equal(rate('  parameters: { sendingInterval: 500ms }\n'), 50);
    const mix = `${withConfig('connections: 100', 'stages: [{ rate: 60/s, hold: 10s }]')}scenarios:
  - { name: echo, senders: 50% }
  - { name: broadcast, senders: 50%, parameters: { sendingInterval: 500ms } }
`;
    // Half of them send once a second, half of them twice.
    assert.equal(scenarioOf(mix).stages?.stages[0]?.to, 40);
  });

  it('are counted by their peak in the estimate, which says so', () => {
    const found = loadOf(scenarioOf(staged(usual, 'arrivals: poisson')));
    assert.ok('input' in found);
    assert.ok(found.input.assumptions?.some((text) => /its peak counts, 500 senders/.test(text)));
    assert.ok(found.input.assumptions?.some((text) => /mean rate counts/.test(text)));
  });

  it('have a peak, a mean and a length', () => {
    const spec = {
      from: 10,
      stages: [
        { to: 30, overMs: 1000, holdMs: 0 },
        { to: 0, overMs: 0, holdMs: 1000 },
      ],
    };
    assert.deepEqual(
      [peakSenders(spec), meanShareOfPeak(spec), stagesDurationMs(spec.stages)],
      [30, 1 / 3, 2000],
    );
    assert.equal(meanShareOfPeak(undefined), 1);
  });

  const wrong: [string, string, string, RegExp][] = [
    ['no list', staged('5'), 'wrong-type', /must be a list/],
    ['an entry that is no map', staged('[500]'), 'wrong-type', /Each entry of stages is a map/],
    ['no goal', staged('[{ over: 3s }]'), 'kind', /needs one of to or rate/],
    ['two goals', staged('[{ to: 5, rate: 5/s, over: 3s }]'), 'kind', /both/],
    ['no time', staged('[{ to: 5 }]'), 'empty-value', /take no time/],
    ['more than there are', staged('[{ to: 1001, hold: 1s }]'), 'stages', /up to 1,001 senders/],
    ['nobody', staged('[{ to: 0, hold: 1s }]'), 'nothing-sent', /No stage has a sender/],
    ['a misspelt key', staged('[{ to: 5, hodl: 1s }]'), 'unknown-key', /hold/],
    ['steps beside them', staged(usual, 'step: 5'), 'no-effect', /step has no effect/],
    ['a search', `${staged(usual)}search: { of: senders }\n`, 'stages', /cannot have stages/],
    [
      'Poisson',
      staged(usual, 'pacing: closed', 'arrivals: poisson'),
      'no-effect',
      /arrivals has no/,
    ],
  ];
  for (const [what, text, code, message] of wrong) {
    it(`are refused or warned of: ${what}`, () => {
      assert.match(problemOf(text, code).message, message);
    });
  }

  it('are bounded in number, and never throw', () => {
    const many = `[${Array.from({ length: 1001 }, () => '{ to: 1, hold: 1s }').join(', ')}]`;
    assert.match(problemOf(staged(many), 'above-bounds').message, /at most 1,000/);
    for (const stages of ['[', '[null]', '[[]]', '{}', '[{ to: -1, hold: 1s }]', '[{ rate: x }]'])
      assert.doesNotThrow(() => parseScenario(staged(stages)));
  });
});

describe('intervals of a file', () => {
  const entryOf = (...parameters: string[]): unknown => {
    const text = `scenario:\n  name: echo\n  parameters: { ${parameters.join(', ')} }\n`;
    assert.deepEqual(
      parseScenario(text).problems.filter(({ severity }) => severity !== 'info'),
      [],
    );
    const plan = buildPlan(scenarioOf(text), { workers: 1, seed: 1, runId: 1 });
    return plan.entries[0]!.intervals;
  };

  it('are drawn where a distribution or a spread is written', () => {
    assert.equal(entryOf(), undefined);
    assert.deepEqual(entryOf('intervalSpread: 30%'), { distribution: 'uniform', spread: 0.3 });
    for (const distribution of ['lognormal', 'exponential'])
      assert.deepEqual(entryOf(`intervalDistribution: ${distribution}`), {
        distribution,
        spread: 0.5,
      });
  });
});
