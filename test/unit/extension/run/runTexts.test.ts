import assert from 'node:assert/strict';
import {
  overrideProblem,
  runQuestions,
  workersOverride,
  statusDetails,
  statusText,
} from '../../../../src/extension/run/runTexts';
import { scenarioOf } from '../../scenario/parsed';
import { english } from '../../../../src/base/text';
import { sampleScenario, sampleSnapshot } from '../../results/sampleResult';

const groups = `config:
  target: local
  connections: 100
  baseSending: 40
  step: 30
  singleStepDuration: 90s
scenario:
  name: sendToGroup
  parameters:
    groupCount: 20
`;

describe('what is asked before a run', () => {
  const questions = runQuestions(scenarioOf(groups), english);

  it('is steps, time and connections, beginning with what the scenario says', () => {
    assert.deepEqual(
      questions.map(({ path, value }) => [path, value]),
      [
        ['config.baseSending', '40'],
        ['config.step', '30'],
        ['config.singleStepDuration', '90s'],
        ['config.connections', '100'],
      ],
    );
    for (const { value, check } of questions) assert.equal(check(value), undefined);
  });

  it('takes only numbers and durations', () => {
    const [base, step, duration, connections] = questions;
    for (const { check } of [base!, step!, connections!]) {
      for (const wrong of ['', 'all', '-1', '1.5', '1e3']) {
        assert.equal(check(wrong), 'Write a whole number.', wrong);
      }
    }
    for (const wrong of ['', 'soon', '10']) assert.match(duration!.check(wrong)!, /with its unit/);
  });
});

describe('answerProblem', () => {
  const problem = (path: string, value: string, text = groups, before: typeof none = none) =>
    overrideProblem(text, before, { path: `config.${path}`, value }, english);
  const none: { path: string; value: string }[] = [];

  it('names the answer where a scenario cannot run with it', () => {
    assert.equal(
      problem('connections', '10'),
      'with connections 10: 20 groups are more than the 10 connections. Write at most 10.',
    );
    assert.match(problem('connections', '0')!, /^with connections 0: /);
    assert.match(problem('singleStepDuration', '9999h')!, /^with singleStepDuration 9999h: /);
  });

  it('counts the answers before', () => {
    assert.equal(problem('step', '1'), undefined);
    const before = [{ path: 'config.connections', value: '100000' }];
    assert.match(problem('step', '1', groups, before)!, /^with step 1: .*steps/);
  });

  it('says nothing where it can run, or where the file itself is wrong', () => {
    assert.equal(problem('connections', '40'), undefined);
    assert.equal(problem('baseSending', '500'), undefined);
    assert.equal(problem('connections', '40', groups.replace('step: 30', 'step: many')), undefined);
  });
});

describe('workersOverride', () => {
  const set = [{ path: 'config.workers', value: '3' }];

  it('is the setting where the scenario names no workers', () => {
    assert.deepEqual(workersOverride('config:\n  target: local\n', 3), set);
    assert.deepEqual(workersOverride('config: {target: local}\n# workers: 2\n', 3), set);
    assert.deepEqual(workersOverride('config:\n  target: local\n', 0), []);
  });

  it('gives way to a scenario that names its own, however it is written', () => {
    for (const config of [
      '\n  workers: 2\n',
      ' {target: local, workers: 2}\n',
      '\n  "workers": 2\n',
    ]) {
      assert.deepEqual(workersOverride(`config:${config}`, 3), [], config);
    }
  });

  it('hides no mistake of the file', () => {
    assert.deepEqual(workersOverride('config:\n  workers: many\n', 3), []);
  });
});

const textOf = (snapshot: Parameters<typeof statusText>[0]): string =>
  statusText(snapshot, sampleScenario, english);

describe('statusText', () => {
  it('says step, p99 and time left while measuring', () => {
    const text = textOf(sampleSnapshot(60, 2));
    assert.match(text, /^step 2\/3 · p99 [\d.,]+ (ms|s|us) · \d+:\d\d left, \d+:\d\d in all$/);
    const last = { ...sampleSnapshot(60, 2), stepCount: 2 };
    assert.match(textOf(last), /· \d+:\d\d left$/);
  });

  it('says what happens before and after', () => {
    const snapshot = sampleSnapshot(60, 2);
    assert.equal(textOf(undefined), 'starting');
    assert.match(textOf({ ...snapshot, phase: 'connecting' }), /^[\d,]+ of [\d,]+ connected$/);
    assert.match(textOf({ ...snapshot, phase: 'warmup' }), /warm-up$/);
    assert.equal(textOf({ ...snapshot, phase: 'done' }), 'closing');
  });

  it('has a sign where an objective is not met by now or for good, and says which in the tooltip', () => {
    const snapshot = sampleSnapshot(60, 2);
    const message = '46 of 100 connections dropped';
    for (const [missed, sign, words] of [
      [{ message }, /^⚠ step 2\/3 · /, /^Not met by now: 46 of 100/],
      [
        { message, isFinal: true },
        /^✗ step 2\/3 · /,
        /^Cannot be met any more; at best: 46 of 100/,
      ],
    ] as const) {
      const at = { ...snapshot, step: { ...snapshot.step!, missed } };
      assert.match(textOf(at), sign);
      assert.match(statusDetails(at, english)[0]!, words);
    }
  });

  it('says in a search which value is tried', () => {
    const search = { of: 'senders', value: 1300, low: null, high: null } as const;
    const text = textOf({ ...sampleSnapshot(60, 2), search });
    assert.match(text, /^step 2: 1,300 · p99 .* · \d+:\d\d left$/);
  });

  it('gives rates and errors in the tooltip', () => {
    assert.equal(statusDetails(undefined, english).length, 0);
    assert.match(statusDetails(sampleSnapshot(60, 2), english).join('\n'), /msg\/s sent/);
  });
});
