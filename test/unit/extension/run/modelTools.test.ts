import '../../../fakes/plainVscode';
import assert from 'node:assert/strict';
import {
  truncated,
  estimateAnswer,
  loadSummary,
  overridesIn,
  validateAnswer,
} from '../../../../src/extension/run/modelTools';

const scenario = `config:
  target: https://user:secret@hub.example.com/chat
  connections: 100
  baseSending: 100
  singleStepDuration: 15s
scenario:
  name: echo
`;

describe('answers to coding agents', () => {
  it('have each problem with its place, and say when there is none', () => {
    const answer = validateAnswer('config:\n  conections: 5\nscenario:\n  name: echo\n');
    assert.match(answer, /^2:3 error [\w-]+: .*conections/m);
    assert.equal(
      validateAnswer('config:\n  target: local\nscenario:\n  name: echo\n'),
      'No problems.',
    );
  });

  it('have the load and the estimate, or why there is none', () => {
    const answer = estimateAnswer(scenario.replace('user:secret@', ''));
    assert.match(answer, /^echo, .*100 connections\n\{/);
    const unit = (text: string): unknown =>
      (JSON.parse(text.slice(text.indexOf('\n') + 1)) as { unit: unknown }).unit;
    assert.equal(typeof unit(answer), 'number');
    const more = estimateAnswer(scenario.replace('user:secret@', ''), [
      { path: 'config.connections', value: '20000' },
    ]);
    assert.ok(Number(unit(more)) > Number(unit(answer)));
    assert.match(estimateAnswer('scenario: 5'), /^There is no estimate, since .*errors:\n1:\d+ /);
  });

  it('ask for a load in numbers, without secrets, and for none with errors', () => {
    const asked = loadSummary(scenario, [{ path: 'config.connections', value: '200' }]);
    assert.match(
      asked ?? '',
      /^200 connections, up to .* → https:\/\/.*hub\.example\.com\/chat\nIt contacts hub\.example\.com \(load\)\.$/,
    );
    assert.ok(!asked!.includes('secret'));
    assert.equal(loadSummary('scenario: 5', []), undefined);
  });

  it('ask for all that a run executes and contacts', () => {
    const asked = loadSummary(
      'config:\n  target: local\n  identities: { command: [sh, -c, "touch x"] }\n  observe: [{ prometheus: "http://m.example/", authorization: "${env:AWS}" }]\nscenario: { name: echo }\n',
      [],
    );
    assert.match(asked ?? '', /\nIt runs the command sh -c "touch x", 1,000 times\.\n/);
    assert.match(
      asked ?? '',
      /It contacts m\.example .* with header authorization, variable AWS\./,
    );
  });

  it('take keys that are texts and numbers, and not too many', () => {
    assert.deepEqual(overridesIn({ 'config.step': 5, 'slo.p99': '1s', bad: {}, worse: null }), [
      { path: 'config.step', value: '5' },
      { path: 'slo.p99', value: '1s' },
    ]);
    for (const none of [undefined, null, 'config.step=5', 5]) {
      assert.deepEqual(overridesIn(none), []);
    }
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, at]));
    assert.equal(overridesIn(many).length, 20);
  });

  it('are bounded', () => {
    assert.equal(truncated('short'), 'short');
    assert.ok(truncated('x'.repeat(100_000)).length < 21_000);
  });
});
