import assert from 'node:assert/strict';
import { defaultSlo } from '../../../../src/base/slo';
import { brief, errorsOf, problemOf, scenarioOf, withConfig } from '../parsed';

const sloOf = (text: string): unknown => scenarioOf(text).slo;

describe('objectives', () => {
  it('that are written are added to the defaults', () => {
    assert.deepEqual(sloOf(`${withConfig()}slo:\n  p50: 20ms\n`), {
      ...defaultSlo,
      latencyUs: { p50: 20_000, p99: 1_000_000 },
    });
  });

  it('that are written replace the defaults of the same name', () => {
    const text = `${withConfig()}slo:\n  p99: 300ms\n  dropped: 5%\n  delivered: 1\n  duplicated: 0.1%\n`;
    assert.deepEqual(sloOf(text), {
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
    const text = `${withConfig()}slo:\n  duplicated: 5\n`;
    assert.equal(problemOf(text, 'above-bounds').fix?.text, '5%');
  });

  it('of 99 are a share in percent, with a fix', () => {
    const text = `${withConfig()}slo:\n  delivered: 99\n`;
    assert.equal(problemOf(text, 'above-bounds').fix?.text, '99%');
  });

  it("of the seed's latencyPercentage are the percentile of that share under 1 s", () => {
    const table =
      '0.5 p50, 0.1 p90, 0.05 p95, 0.02 p98, 0.005 p99.5, 0.01 p99, 0.001 p99.9, 0.0001 p99.99, 0 max, 1% p99';
    for (const row of table.split(', ')) {
      const [written, metric] = row.split(' ');
      const text = withConfig(`latencyPercentage: ${written}`);
      assert.deepEqual(sloOf(text), { ...defaultSlo, latencyUs: { [metric!]: 1_000_000 } }, row);
      assert.deepEqual(errorsOf(text), []);
    }
  });

  it('of a latencyPercentage of 1 are none of latency: every message may be slower', () => {
    assert.deepEqual(sloOf(withConfig('latencyPercentage: 1')), { ...defaultSlo, latencyUs: {} });
  });

  it('of a latencyPercentage above 1 say that it is a share', () => {
    for (const [written, asked] of [
      ['100', ''],
      ['1.5', ' Did you mean 1.5%?'],
    ]) {
      const { message } = problemOf(withConfig(`latencyPercentage: ${written}`), 'above-bounds');
      assert.equal(message, `latencyPercentage must be at most 1, which is 100 %.${asked}`);
    }
  });

  it('of a latencyPercentage that is none of our percentiles are the next stricter one, explained', () => {
    const text = withConfig('latencyPercentage: 0.33333333');
    assert.match(
      problemOf(text, 'latency-percentage').message,
      /67 % of the messages.*slo\.p90: 1s/,
    );
    assert.deepEqual(sloOf(text), { ...defaultSlo, latencyUs: { p90: 1_000_000 } });
    assert.deepEqual(sloOf(withConfig('latencyPercentage: 0.0000005')), {
      ...defaultSlo,
      latencyUs: { max: 1_000_000 },
    });
  });

  it('of connectionFailPercentage are slo.dropped', () => {
    const text = withConfig('connectionFailPercentage: 0.2');
    assert.deepEqual(sloOf(text), { ...defaultSlo, dropped: 0.2, skipped: 0.2 });
  });

  it('of messages that are skipped follow slo.dropped where they are not written', () => {
    const slo = (...lines: string[]): unknown =>
      sloOf(`${withConfig()}slo:\n${lines.map((line) => `  ${line}\n`).join('')}`);
    assert.deepEqual(slo('dropped: 4%'), { ...defaultSlo, dropped: 0.04, skipped: 0.04 });
    assert.deepEqual(slo('skipped: 2%'), { ...defaultSlo, skipped: 0.02 });
    assert.deepEqual(slo('dropped: 0', 'skipped: 100%'), { ...defaultSlo, dropped: 0, skipped: 1 });
  });

  it('given twice: slo wins, with a warning', () => {
    const text = `${withConfig('connectionFailPercentage: 0.2', 'latencyPercentage: 0.1')}slo:\n  p95: 2s\n  dropped: 3%\n`;
    assert.deepEqual(sloOf(text), {
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
