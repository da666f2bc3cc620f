import assert from 'node:assert/strict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { scenarioOf, withConfig } from '../parsed';

const set = (path: string, value: string): { overrides: { path: string; value: string }[] } => ({
  overrides: [{ path, value }],
});

describe('an override', () => {
  it('replaces a key of the file', () => {
    const { connections } = scenarioOf(
      withConfig('connections: 5'),
      set('config.connections', '100'),
    );
    assert.equal(connections, 100);
  });

  it('adds keys and sections that the file does not have', () => {
    const text = 'mode: simple\n';
    assert.equal(scenarioOf(text, set('config.connections', '100')).connections, 100);
    const sized = scenarioOf(text, set('scenario.parameters.messageSize', '4KB'));
    assert.equal(sized.entries[0]!.parameters['messageSize'], 4096);
    assert.equal(scenarioOf('config:\n', set('config.debug', 'true')).debug, true);
  });

  it('reaches names with dots, any objective, what is said beside its limit, and those of a list', () => {
    const sloOf = (path: string, value: string, text = withConfig()) =>
      scenarioOf(text, set(path, value)).slo;
    assert.equal(sloOf('slo.p99.9', '2s').latencyUs['p99.9'], 2_000_000);
    assert.equal(sloOf('slo.p99.5', '2s').latencyUs['p99.5'], 2_000_000);
    assert.equal(sloOf('slo.errors.dns', '3')['errors.dns'], 3);
    const { headers } = scenarioOf(withConfig(), set('config.headers.X-A.b', '1'));
    assert.deepEqual(headers, { 'X-A.b': '1' });
    const map = `${withConfig()}slo:\n  p99.9: { limit: 1s }\n`;
    const rule = { metric: 'p99.9', limit: 1_000_000, step: 'last' };
    assert.deepEqual(sloOf('slo.p99.9.step', 'last', map).rules, [rule]);
    const list = `${withConfig()}slo:\n  - { metric: p99, limit: 1s }\n`;
    assert.equal(sloOf('slo.0.limit', '3s', list).latencyUs.p99, 3_000_000);
  });

  it('reaches the entries of a mix', () => {
    const text = `${withConfig()}scenarios:\n  - name: echo\n  - name: broadcast\n`;
    const options = set('scenarios.1.parameters.messageSize', '7KB');
    assert.equal(scenarioOf(text, options).entries[1]!.parameters['messageSize'], 7168);
  });

  it('takes what is no YAML scalar as the text it is', () => {
    const token = scenarioOf(withConfig(), set('config.accessToken', 'a: [b'));
    assert.equal(token.accessToken, 'a: [b');
    const target = scenarioOf(withConfig(), set('config.target', 'http://a/b,http://c/d'));
    assert.deepEqual(target.target, { kind: 'hubUrl', urls: ['http://a/b', 'http://c/d'] });
  });

  it('is applied in order, the last one wins', () => {
    const overrides = ['1', '2', '3'].map((value) => ({ path: 'config.step', value }));
    assert.equal(scenarioOf(withConfig(), { overrides }).step, 3);
  });

  for (const [path, value, message] of [
    ['config.foo', '1', /^--set config\.foo: there is no key "foo" in config\.$/],
    ['config.conections', '1', /^--set config\.conections: .* Did you mean config\.connections\?$/],
    ['connections', '1', /^--set connections: .* It belongs in config\.$/],
    ['', '1', /^--set : there is no key/],
    ['config.connections.x', '1', /has no keys below it/],
    ['scenarios.first.name', 'echo', /scenarios\.0\.name/],
    ['scenarios.7.name', 'echo', /has no list scenarios/],
    ['scenario.parameters.size', '1', /there is no key "size" in scenario\.parameters/],
    ['config.connections', '-5', /^--set config\.connections: connections must be at least 1\.$/],
    [
      'config.connections',
      'many',
      /^--set config\.connections: connections must be a whole number/,
    ],
    ['config.connections', '', /^--set config\.connections: connections has no value/],
    ['scenario.name', 'foo', /^--set scenario\.name: There is no use case "foo"/],
    ['config', '5', /^--set config: config must be a map/],
  ] as const) {
    it(`--set ${path}=${value} is reported without a position: ${String(message)}`, () => {
      const { problems } = parseScenario(withConfig(), set(path, value));
      const problem = problems.find((one) => message.test(one.message));
      assert.ok(problem, JSON.stringify(problems));
      assert.deepEqual([problem.offset, problem.length, problem.fix], [0, 0, undefined]);
      assert.equal(problem.severity, 'error');
    });
  }

  it('cannot be set inside something that is no map', () => {
    const { problems } = parseScenario('config: 5\n', set('config.step', '5'));
    assert.ok(problems.some(({ message }) => message.includes('is not a map in the file')));
  });
});
