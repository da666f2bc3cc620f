import assert from 'node:assert/strict';
import type { Scenario } from '../../../../src/scenario/scenario';
import { brief, errorsOf, fixed, messageOf, problemOf, scenarioOf, withConfig } from '../parsed';

describe('values', () => {
  const good: [line: string, key: keyof Scenario, value: unknown][] = [
    ['singleStepDuration: 2500', 'singleStepDurationMs', 2500],
    ['singleStepDuration: 250ms', 'singleStepDurationMs', 250],
    ['singleStepDuration: 1.5m', 'singleStepDurationMs', 90_000],
    ['singleStepDuration: 1h', 'singleStepDurationMs', 3_600_000],
    ['connections: 0x10', 'connections', 16],
    ['connections: 1e3', 'connections', 1000],
    ['debug: True', 'debug', true],
    ['hub: "5"', 'hub', '5'],
  ];
  for (const [line, key, value] of good) {
    it(`reads ${line}`, () => {
      const text = withConfig(line);
      assert.deepEqual(scenarioOf(text)[key], value);
      assert.deepEqual(errorsOf(text), []);
    });
  }

  const bad: [line: string, code: string, points: string, key: keyof Scenario, value: unknown][] = [
    ['connections: -5', 'negative', '-5', 'connections', 1000],
    ['connections: "-5"', 'negative', '"-5"', 'connections', 1000],
    ['drain: -5s', 'negative', '-5s', 'drainMs', 5000],
    ['connections: 0', 'below-bounds', '0', 'connections', 1],
    ['connections: 1000000000', 'above-bounds', '1000000000', 'connections', 1_000_000],
    ['connections: .inf', 'above-bounds', '.inf', 'connections', 1_000_000],
    ['connections: .nan', 'wrong-type', '.nan', 'connections', 1000],
    ['connections: 10.5', 'not-whole', '10.5', 'connections', 11],
    ['connections: many', 'wrong-type', 'many', 'connections', 1000],
    ['connections: [1]', 'wrong-type', '[1]', 'connections', 1000],
    ['connections: true', 'wrong-type', 'true', 'connections', 1000],
    ['connections: ${env:N}', 'wrong-type', '${env:N}', 'connections', 1000],
    ['connections:', 'empty-value', 'connections', 'connections', 1000],
    ['connections: ~', 'empty-value', '~', 'connections', 1000],
    ['drain: soon', 'wrong-type', 'soon', 'drainMs', 5000],
    ['debug: 7', 'wrong-type', '7', 'debug', false],
    ['debug: "true"', 'wrong-type', '"true"', 'debug', true],
    ['hub: 5', 'wrong-type', '5', 'hub', '5'],
    ['hub: ""', 'empty-value', '""', 'hub', 'signalrbench'],
    ['pacing: opened', 'unknown-value', 'opened', 'pacing', 'open'],
    ['pacing: 5', 'unknown-value', '5', 'pacing', 'open'],
    ['sku: gold', 'unknown-value', 'gold', 'sku', undefined],
    ['upstream: 5', 'wrong-type', '5', 'upstream', undefined],
    ['headers: x', 'wrong-type', 'x', 'headers', {}],
    ['headers: { "a b": x }', 'bad-name', '"a b"', 'headers', {}],
    ['headers: { a: "x\\r\\nb: c" }', 'wrong-type', '"x\\r\\nb: c"', 'headers', {}],
    ['headers: { a: [x] }', 'wrong-type', '[x]', 'headers', {}],
    ['headers: { a: }', 'wrong-type', 'a', 'headers', {}],
  ];
  for (const [line, code, points, key, value] of bad) {
    it(`reports ${line} as ${code} and goes on with ${JSON.stringify(value)}`, () => {
      const text = withConfig(line);
      assert.deepEqual(
        brief(text).filter((problem) => problem.startsWith('error')),
        [`error ${code} "${points}"`],
      );
      assert.deepEqual(scenarioOf(text)[key], value);
    });
  }

  const fixes: [line: string, code: string, after: string][] = [
    ['connections: 1,000', 'wrong-type', 'connections: 1000'],
    ['connections: 1_000', 'wrong-type', 'connections: 1000'],
    ['connections: 10k', 'wrong-type', 'connections: 10000'],
    ['connections: "10"', 'quoted-number', 'connections: 10'],
    ['connections: 2000000', 'above-bounds', 'connections: 1000000'],
    ['connections: 10.5', 'not-whole', 'connections: 11'],
    ['singleStepDuration: 240', 'unit', 'singleStepDuration: 240s'],
    ['singleStepDuration: 4 minutes', 'wrong-type', 'singleStepDuration: 4m'],
    ['singleStepDuration: 30S', 'wrong-type', 'singleStepDuration: 30s'],
    ['singleStepDuration: 1h30m', 'wrong-type', 'singleStepDuration: 90m'],
    ['singleStepDuration: 1 day', 'wrong-type', 'singleStepDuration: 24h'],
    ['singleStepDuration: 1,5s', 'wrong-type', 'singleStepDuration: 1.5s'],
    ['connectTimeout: 10', 'unit', 'connectTimeout: 10s'],
    ['warmup: 5', 'unit', 'warmup: 5s'],
    ['connectTimeout: 1h', 'above-bounds', 'connectTimeout: 10m'],
    ['debug: yes', 'wrong-type', 'debug: true'],
    ['debug: off', 'wrong-type', 'debug: false'],
    ['hub: 5', 'wrong-type', 'hub: "5"'],
    ['transport: websockets', 'letter-case', 'transport: Websockets'],
    ['transport: WebSocket', 'unknown-value', 'transport: Websockets'],
    ['protocol: msgpack', 'unknown-value', 'protocol: messagepack'],
    ['connectionFailPercentage: 1', 'unit', 'connectionFailPercentage: 1%'],
    ['connectionFailPercentage: 5', 'above-bounds', 'connectionFailPercentage: 5%'],
  ];
  for (const [line, code, after] of fixes) {
    it(`mends ${line} to ${after}`, () => {
      const text = withConfig(line);
      const mended = fixed(text, problemOf(text, code));
      assert.equal(mended, withConfig(after));
      assert.deepEqual(errorsOf(mended), []);
    });
  }

  it('in another notation are said in the words of the problem too', () => {
    const { message } = problemOf(withConfig('singleStepDuration: 4 minutes'), 'wrong-type');
    assert.match(message, /"4 minutes" is not one\. Did you mean 4m\?$/);
  });

  it('in another letter case are understood with a warning', () => {
    const text = withConfig('transport: longpolling', 'protocol: JSON');
    assert.equal(scenarioOf(text).transport, 'LongPolling');
    assert.deepEqual(brief(text), [
      'warning letter-case "longpolling"',
      'warning letter-case "JSON"',
    ]);
  });

  it('of the message size have mistakes with units too', () => {
    const text = 'config:\n  target: local\nscenario:\n  parameters:\n    messageSize: 2\n';
    assert.match(messageOf(text, 'unit'), /read as 2 B.*2KB/);
    const asked = text.replace('messageSize: 2', 'messageSize: 2k');
    assert.ok(fixed(asked, problemOf(asked, 'wrong-type')).includes('messageSize: 2KB'));
    const odd = text.replace('messageSize: 2', 'messageSize: 5constructor');
    assert.equal(problemOf(odd, 'wrong-type').fix, undefined);
  });

  it('with a unit written out are never doubted', () => {
    assert.deepEqual(brief(withConfig('warmup: 5ms', 'connectTimeout: 10ms')), []);
  });
});
