import assert from 'node:assert/strict';
import { answerProblem, runQuestions } from '../../../../src/extension/run/runTexts';
import { scenarioOf } from '../../scenario/parsed';
import { english } from '../../../../src/base/text';

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
    answerProblem(text, before, { path: `config.${path}`, value }, english);
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
