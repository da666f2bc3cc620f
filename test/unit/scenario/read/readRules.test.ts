import assert from 'node:assert/strict';
import { defaultSlo } from '../../../../src/base/slo';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { brief, fixed, problemOf, scenarioOf, withConfig } from '../parsed';

const withSlo = (...lines: string[]): string =>
  `${withConfig()}slo:\n${lines.map((line) => `  ${line}\n`).join('')}`;
const sloOf = (...lines: string[]): unknown => scenarioOf(withSlo(...lines)).slo;

describe('an objective of a file', () => {
  it('is any percentile, a rate, errors, those of one class, and the time to connect', () => {
    const lines = ['p75: 20ms', 'p99.5: 1s', 'rate: 500/s', 'errors: 5', 'errors.timeout: 0'];
    assert.deepEqual(sloOf(...lines, 'connect.p95: 2s'), {
      ...defaultSlo,
      latencyUs: { p75: 20_000, p99: 1_000_000, 'p99.5': 1_000_000 },
      ...{ rate: 500, errors: 5, 'errors.timeout': 0, 'connect.p95': 2_000_000 },
    });
    assert.deepEqual(brief(withSlo('errors: 5', 'connect.p95: 2s', 'p75: 1s')), []);
  });

  it('reads rates as people write them', () => {
    const rate = (text: string): unknown => scenarioOf(withSlo(`rate: ${text}`)).slo.rate;
    assert.deepEqual([rate('30/min'), rate('1.5 / s'), rate('200')], [0.5, 1.5, 200]);
    assert.match(problemOf(withSlo('rate: fast'), 'wrong-type').message, /text such as 500\/s/);
  });

  it('may be a map with its limit, the steps it judges, and whether it ends them', () => {
    const text = withSlo(
      'p99: { limit: 300ms, step: last }',
      'errors: { limit: 3, abort: true, after: 5s }',
    );
    assert.deepEqual(scenarioOf(text).slo, {
      ...defaultSlo,
      ...{ latencyUs: { p99: 300_000 }, errors: 3 },
      rules: [
        { metric: 'p99', limit: 300_000, step: 'last' },
        { metric: 'errors', limit: 3, abort: true, afterMs: 5000 },
      ],
    });
    assert.deepEqual(brief(text), []);
  });

  it('as a map without anything to say is a plain limit', () => {
    assert.deepEqual(sloOf('p99: { limit: 300ms, step: each, abort: false }'), {
      ...defaultSlo,
      latencyUs: { p99: 300_000 },
    });
  });

  it('may stand in a list, with a name and as often as it takes', () => {
    const text = withSlo(
      '- { name: usual, metric: p99, limit: 1s }',
      '- { name: at full load, metric: p99, limit: 3s, step: last }',
      '- { metric: rate, limit: 10/s }',
    );
    const { slo } = scenarioOf(text);
    assert.deepEqual(slo, {
      ...{ latencyUs: { p99: 1_000_000 }, rate: 10 },
      ...{ dropped: 0.01, skipped: 0.01, delivered: 0.99, duplicated: 0 },
      rules: [
        { metric: 'p99', limit: 1_000_000, name: 'usual' },
        { metric: 'p99', limit: 3_000_000, name: 'at full load', step: 'last' },
      ],
    });
    assert.deepEqual(brief(text), []);
  });

  const wrong: [string, string[], string, RegExp][] = [
    ['a misspelt one', ['errors.time: 1'], 'unknown-key', /errors\.time/],
    ['no limit', ['p99: { abort: true }'], 'missing-key', /^p99 has no limit/],
    ['an unknown option', ['p99: { limit: 1s, until: 3 }'], 'unknown-key', /"until" in slo\.p99/],
    ['a step that is none', ['p99: { limit: 1s, step: first }'], 'unknown-value', /each or last/],
    ['after without abort', ['p99: { limit: 1s, after: 5s }'], 'no-effect', /abort: true/],
    [
      'after the step is over',
      ['p99: { limit: 1s, abort: true, after: 1h }'],
      'no-effect',
      /never/,
    ],
    ['a bare text in a list', ['- p99'], 'wrong-type', /\{ metric: p99, limit: 1s \}/],
    ['a list entry without metric', ['- { limit: 1s }'], 'missing-key', /has no metric/],
    ['a list entry without limit', ['- { metric: p99 }'], 'missing-key', /has no limit/],
    ['a limit of another unit', ['- { metric: p99, limit: 5% }'], 'wrong-type', /a duration/],
    ['a negative count', ['errors: -1'], 'negative', /must not be negative/],
    ['half an error', ['errors: 0.5'], 'not-whole', /whole number/],
    ['a list with nothing', ['p99: [1s]'], 'wrong-type', /not a list/],
  ];
  for (const [what, lines, code, message] of wrong) {
    it(`is refused or warned of: ${what}`, () => {
      assert.match(problemOf(withSlo(...lines), code).message, message);
    });
  }

  it('is corrected where it is nearly right', () => {
    const text = withSlo('- { metric: p999, limit: 1s }');
    assert.match(fixed(text, problemOf(text, 'unknown-value')), /metric: p99(\.9)?,/);
  });

  it('that no step can reach is said before the run', () => {
    const steps = ['connections: 100', 'baseSending: 50', 'step: 50'];
    const echo = (limit: string): string =>
      `${withConfig(...steps)}slo:\n  rate: ${limit}\nscenario:\n  name: echo\n`;
    const code = 'rate-out-of-reach';
    assert.match(
      problemOf(echo('101'), code).message,
      /101\/s cannot be reached in step 2.*100\/s/,
    );
    assert.match(problemOf(echo('51'), code).message, /in step 1, which expects 50\/s.*step: last/);
    for (const fine of ['50', '{ limit: 100, step: last }'])
      assert.deepEqual(brief(echo(fine)), [], fine);
  });

  it('is bounded in number, and never throws', () => {
    const many = withSlo(...Array.from({ length: 101 }, () => '- { metric: p99, limit: 1s }'));
    assert.match(problemOf(many, 'above-bounds').message, /at most 100/);
    for (const text of [
      'slo: [',
      'slo: 5',
      'slo: [null]',
      'slo: [[]]',
      'slo:\n  ? [a]\n  : 1',
      'slo:\n  p99: {',
    ])
      assert.doesNotThrow(() => parseScenario(text));
  });
});
