import assert from 'node:assert/strict';
import { isScenarioText } from '../../../../src/extension/language/isScenarioText';
import { crlf, example, examples } from './atCursor';

describe('isScenarioText', () => {
  it('knows every example under another name', () => {
    for (const name of examples) {
      assert.ok(isScenarioText(example(name), '/somewhere/load.yml'), name);
      assert.ok(isScenarioText(`\uFEFF${crlf(example(name))}`, 'Untitled-1'), name);
      assert.ok(!isScenarioText(example(name), 'load.txt'), name);
    }
  });

  it('believes the file name whatever is in it', () => {
    assert.ok(isScenarioText('', 'a.signalr.yaml'));
    assert.ok(isScenarioText('x: 1', 'C:\\a.signalr.yml'));
  });

  it('leaves other YAML alone', () => {
    const others = [
      '',
      'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: x\ndata: {}\n',
      'kind: Deployment\nconfig:\n  name: x\n',
      'name: CI\non: push\njobs:\n  build:\n    steps: []\n',
      'config:\n  plugins: []\n',
      'mode: production\nconfig:\n  a: 1\n',
      '- config:\n    connections: 5\n',
      'config:\n  target: http://x\n  phases:\n    - duration: 60\nscenarios:\n  - name: a\n',
      'config:\n  target: http://x\nscenarios:\n  - name: a\n    flow:\n      - get: {url: /}\n',
      'config:\n  target: http://x\nscenarios:\n  - engine: ws\n    name: a\n',
      'openapi: 3.0.0\ninfo:\n  title: x\npaths: {}\n',
    ];
    for (const text of others) assert.equal(isScenarioText(text, 'a.yaml'), false, text);
  });

  it('answers for 5 MB', () => {
    const line = 'some_key_of_another_tool: value # connections\n';
    assert.equal(isScenarioText(line.repeat(120_000), 'a.yaml'), false);
    assert.equal(isScenarioText(' '.repeat(5_000_000), 'a.yaml'), false);
  });
});
