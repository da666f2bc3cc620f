import assert from 'node:assert/strict';
import fc from 'fast-check';
import { errorClasses } from '../../../src/base/errorClass';
import { isPercentile, percentileShare } from '../../../src/base/objectives/percentile';
import {
  defaultSlo,
  isMetric,
  findObjective,
  objectives,
  rulesFromSlo,
  sloFromRules,
  sloForStep,
  type Metric,
  type Rule,
} from '../../../src/base/slo';

describe('the name of a percentile', () => {
  it('has one spelling for each, and its share without crumbs of binary fractions', () => {
    for (const [name, share] of [
      ['p75', 0.75],
      ['p99.5', 0.995],
      ['p0.5', 0.005],
      ['p99.9999', 0.999999],
      ['p7', 0.07],
      ['max', 1],
    ] as const) {
      assert.ok(isPercentile(name), name);
      assert.equal(percentileShare(name), share);
    }
    for (const name of [
      'p0',
      'p100',
      'p075',
      'p99.50',
      'p99.',
      'p99.99999',
      'P99',
      'p-1',
      'p1e1',
      'p',
      '',
    ])
      assert.ok(!isPercentile(name), name);
  });

  it('is that of each percentile with up to four decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999 }), (tenThousandths) => {
        const name = `p${tenThousandths / 10_000}`;
        assert.ok(isPercentile(name), name);
        assert.equal(Math.round(percentileShare(name) * 1e6), tenThousandths);
      }),
    );
  });
});

describe('the registry of objectives', () => {
  it('knows any percentile of latency and of connecting, and every class of errors', () => {
    for (const name of ['p75', 'p99.5', 'connect.p95', 'connect.max', 'rate', 'errors'])
      assert.ok(isMetric(name), name);
    for (const errorClass of Object.keys(errorClasses)) assert.ok(isMetric(`errors.${errorClass}`));
    for (const name of [
      'errors.none',
      'errors.',
      'connect.',
      'connect.p0',
      'toString',
      'rules',
      'latencyUs',
    ])
      assert.ok(!isMetric(name), name);
  });

  it('offers no name twice, and judges under each that it offers', () => {
    const names = objectives().map(([metric]) => metric);
    assert.equal(new Set(names).size, names.length);
    for (const [metric, { summary, unitMistake, default: limit }] of objectives()) {
      assert.match(summary, /\.$/, metric);
      assert.ok(unitMistake === undefined || unitMistake.from < unitMistake.below);
      assert.ok(limit === undefined || limit >= 0);
    }
  });
});

describe('objectives as rules', () => {
  it('that have a limit only are numbers, as they always were', () => {
    assert.deepEqual(defaultSlo, {
      latencyUs: { p99: 1_000_000 },
      ...{ dropped: 0.01, skipped: 0.01, delivered: 0.99, duplicated: 0 },
    });
    assert.deepEqual(rulesFromSlo({ latencyUs: { p75: 5, p50: 4 }, rate: 100 }), [
      { metric: 'p50', limit: 4 },
      { metric: 'p75', limit: 5 },
      { metric: 'rate', limit: 100 },
    ]);
  });

  it('of which one kind comes twice are all kept, and the strictest limit is shown', () => {
    const rules: Rule[] = [
      { metric: 'p99', limit: 500, step: 'last' },
      { metric: 'p99', limit: 900, name: 'bearable', abort: true, afterMs: 5000 },
      { metric: 'rate', limit: 10, name: 'low' },
      { metric: 'rate', limit: 20, name: 'high' },
      { metric: 'errors', limit: 3 },
    ];
    const slo = sloFromRules(rules);
    assert.deepEqual([slo.latencyUs, slo.rate, slo.errors], [{ p99: 500 }, 20, 3]);
    assert.deepEqual(slo.rules, rules.slice(0, 4));
    assert.deepEqual(rulesFromSlo(slo), rules);
  });

  const metrics = [...objectives().map(([metric]) => metric), 'p12.5', 'errors.dns'] as Metric[];
  const anyRule = fc.record(
    {
      metric: fc.constantFrom(...metrics),
      limit: fc.integer({ min: 1, max: 1000 }),
      name: fc.constantFrom('a', 'b'),
      step: fc.constant('last' as const),
      abort: fc.constant(true as const),
    },
    { requiredKeys: ['metric', 'limit'] },
  );

  it('come back from what they were made into, each once', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 8 }), (rules) => {
        const texts = (all: readonly Rule[]): string[] =>
          all
            .map((rule) =>
              JSON.stringify([rule.metric, rule.limit, rule.name, rule.step, rule.abort]),
            )
            .sort();
        const back = rulesFromSlo(sloFromRules(rules));
        assert.deepEqual(texts(back), texts(rules));
        for (const { metric, limit } of back) {
          const slo = sloFromRules(rules);
          const shown = (isPercentile(metric) ? slo.latencyUs[metric] : slo[metric])!;
          const isStricter =
            findObjective(metric)!.limit === 'least' ? shown >= limit : shown <= limit;
          assert.ok(isStricter);
        }
      }),
    );
  });

  it('of the last step are no part of what other steps are judged by', () => {
    const slo = sloFromRules([
      { metric: 'p99', limit: 500, step: 'last' },
      { metric: 'p99', limit: 900 },
      { metric: 'rate', limit: 10, step: 'last' },
    ]);
    assert.deepEqual(sloForStep(slo, false), { latencyUs: { p99: 900 } });
    assert.equal(sloForStep(slo, true), slo);
    assert.equal(sloForStep(defaultSlo, false), defaultSlo);
  });
});
