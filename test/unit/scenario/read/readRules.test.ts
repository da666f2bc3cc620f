import assert from 'node:assert/strict';
import { defaultSlo } from '../../../../src/base/slo';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import {
  testProblems,
  brief,
  fixed,
  messageOf,
  problemOf,
  scenarioOf,
  withConfig,
  errorsOf,
} from '../parsed';

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
    assert.match(messageOf(withSlo('rate: fast'), 'wrong-type'), /text such as 500\/s/);
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

  testProblems(`
    a misspelt one | | slo: { errors.time: 1 } | error unknown-key "errors.time" | errors\\.time
    no limit | | slo: { p99: { abort: true } } | error missing-key "p99" | ^p99 has no limit
    an unknown option | | slo: { p99: { limit: 1s, until: 3 } } | error unknown-key "until" | "until" in slo\\.p99
    a step that is none | | slo: { p99: { limit: 1s, step: first } } | error unknown-value "first" | each or last
    after without abort | | slo: { p99: { limit: 1s, after: 5s } } | warning no-effect "after" | abort: true
    after the step is over | | slo: { p99: { limit: 1s, abort: true, after: 1h } } | warning no-effect "{ limit: 1s, abort: true, after: 1h }" | never
    a bare text in a list | | slo: [p99] | error wrong-type "p99" | \\{ metric: p99, limit: 1s \\}
    a list entry without metric | | slo: [{ limit: 1s }] | error missing-key "{ limit: 1s }" | has no metric
    a list entry without limit | | slo: [{ metric: p99 }] | error missing-key "{ metric: p99 }" | has no limit
    a limit of another unit | | slo: [{ metric: p99, limit: 5% }] | error wrong-type "5%" | a duration
    a negative count | | slo: { errors: -1 } | error negative "-1" | must not be negative
    half an error | | slo: { errors: 0.5 } | error not-whole "0.5" | whole number
    a list with nothing | | slo: { p99: [1s] } | error wrong-type "[1s]" | not a list
    a rate that no step reaches | connections: 100 // baseSending: 50 // step: 50 | slo: { rate: 101 } | warning rate-out-of-reach "101" | 101/s cannot be reached in step 2.*100/s
    a rate of the last step | connections: 100 // baseSending: 50 // step: 50 | slo: { rate: 51 } | warning rate-out-of-reach "51" | in step 1, which expects 50/s.*step: last
    a rate of all steps | connections: 100 // baseSending: 50 // step: 50 | slo: { rate: 50 } | none
    a rate for the last step | connections: 100 // baseSending: 50 // step: 50 | slo: { rate: { limit: 100, step: last } } | none
    a share of 5 | | slo: { duplicated: 5 } | error above-bounds "5"
    a share of 99 | | slo: { delivered: 99 } | error above-bounds "99"
    a latencyPercentage of 100 | latencyPercentage: 100 | | error above-bounds "100" | ^latencyPercentage must be at most 1, which is 100 %\\.$
    a latencyPercentage of 1.5 | latencyPercentage: 1.5 | | error above-bounds "1.5" | which is 100 %\\. Did you mean 1\\.5%\\?$
    a percentile that is not judged | latencyPercentage: 0.33333333 | | warning latency-percentage "0.33333333" | 67 % of the messages.*slo\\.p90: 1s
  `);

  it('is corrected where it is nearly right', () => {
    const text = withSlo('- { metric: p999, limit: 1s }');
    assert.match(fixed(text, problemOf(text, 'unknown-value')), /metric: p99(\.9)?,/);
  });

  it('is bounded in number, and never throws', () => {
    const many = withSlo(...Array.from({ length: 101 }, () => '- { metric: p99, limit: 1s }'));
    assert.match(messageOf(many, 'above-bounds'), /at most 100/);
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

const sloIn = (text: string): unknown => scenarioOf(text).slo;

describe('objectives', () => {
  it('that are written are added to the defaults', () => {
    assert.deepEqual(sloIn(`${withConfig()}slo:\n  p50: 20ms\n`), {
      ...defaultSlo,
      latencyUs: { p50: 20_000, p99: 1_000_000 },
    });
  });

  it('that are written replace the defaults of the same name', () => {
    const text = `${withConfig()}slo:\n  p99: 300ms\n  dropped: 5%\n  delivered: 1\n  duplicated: 0.1%\n`;
    assert.deepEqual(sloIn(text), {
      latencyUs: { p99: 300_000 },
      ...{ dropped: 0.05, skipped: 0.05 },
      delivered: 1,
      duplicated: 0.001,
    });
    assert.deepEqual(brief(`${withConfig()}slo:\n  delivered: 1\n`), []);
  });

  it('allow no duplicates unless they say so', () => {
    assert.equal(scenarioOf(withConfig()).slo.duplicated, 0);
    assert.equal(scenarioOf(`${withConfig()}slo:\n  duplicated: 1\n`).slo.duplicated, 1);
  });

  it("of the seed's latencyPercentage are the percentile of that share under 1 s", () => {
    const table =
      '0.5 p50, 0.1 p90, 0.05 p95, 0.02 p98, 0.005 p99.5, 0.01 p99, 0.001 p99.9, 0.0001 p99.99, 0 max, 1% p99';
    for (const row of table.split(', ')) {
      const [written, metric] = row.split(' ');
      const text = withConfig(`latencyPercentage: ${written}`);
      assert.deepEqual(sloIn(text), { ...defaultSlo, latencyUs: { [metric!]: 1_000_000 } }, row);
      assert.deepEqual(errorsOf(text), []);
    }
  });

  it('of a latencyPercentage of 1 are none of latency: every message may be slower', () => {
    assert.deepEqual(sloIn(withConfig('latencyPercentage: 1')), { ...defaultSlo, latencyUs: {} });
  });

  it('of a latencyPercentage that is none of our percentiles are the next stricter one, explained', () => {
    const text = withConfig('latencyPercentage: 0.33333333');
    assert.deepEqual(sloIn(text), { ...defaultSlo, latencyUs: { p90: 1_000_000 } });
    assert.deepEqual(sloIn(withConfig('latencyPercentage: 0.0000005')), {
      ...defaultSlo,
      latencyUs: { max: 1_000_000 },
    });
  });

  it('of connectionFailPercentage are slo.dropped', () => {
    const text = withConfig('connectionFailPercentage: 0.2');
    assert.deepEqual(sloIn(text), { ...defaultSlo, dropped: 0.2, skipped: 0.2 });
  });

  it('of messages that are skipped follow slo.dropped where they are not written', () => {
    const slo = (...lines: string[]): unknown =>
      sloIn(`${withConfig()}slo:\n${lines.map((line) => `  ${line}\n`).join('')}`);
    assert.deepEqual(slo('dropped: 4%'), { ...defaultSlo, dropped: 0.04, skipped: 0.04 });
    assert.deepEqual(slo('skipped: 2%'), { ...defaultSlo, skipped: 0.02 });
    assert.deepEqual(slo('dropped: 0', 'skipped: 100%'), { ...defaultSlo, dropped: 0, skipped: 1 });
  });

  it('given twice: slo wins, with a warning', () => {
    const text = `${withConfig('connectionFailPercentage: 0.2', 'latencyPercentage: 0.1')}slo:\n  p95: 2s\n  dropped: 3%\n`;
    assert.deepEqual(sloIn(text), {
      ...defaultSlo,
      latencyUs: { p95: 2_000_000, p99: 1_000_000 },
      ...{ dropped: 0.03, skipped: 0.03 },
    });
    assert.deepEqual(brief(text), [
      'warning two-slos "connectionFailPercentage"',
      'warning two-slos "latencyPercentage"',
    ]);
  });
});
