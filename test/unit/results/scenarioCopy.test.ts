import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { scenarioCopy } from '../../../src/results/scenarioCopy';

describe('scenarioCopy', () => {
  it('leaves a file without secrets untouched', () => {
    const text = '# mine\nmode:   simple\nconfig: {connections: 10, target: http://h/x}  # ten\n';
    assert.equal(scenarioCopy(text), text);
  });

  it('writes what the command line set, and drops the target it replaced', () => {
    const text = 'config:\n  webAppTarget: http://h/x # old\n  connections: 10\n';
    const copy = scenarioCopy(text, [
      { path: 'config.target', value: 'local' },
      { path: 'config.connections', value: '500' },
      { path: 'scenario.parameters.messageSize', value: '4KB' },
    ]);
    assert.equal(
      copy,
      'config:\n  connections: 500\n  target: local\nscenario:\n  parameters:\n    messageSize: 4KB\n',
    );
  });

  it('sets keys below a key without a value and in an empty file', () => {
    const set = [{ path: 'config.connections', value: '5' }];
    assert.equal(scenarioCopy('config:\n', set), 'config:\n  connections: 5\n');
    assert.equal(scenarioCopy('', set), 'config:\n  connections: 5\n');
  });

  it('sets keys with dots in their names and entries of a mix', () => {
    const copy = scenarioCopy('scenarios:\n  - name: echo\n', [
      { path: 'slo.p99.9', value: '1s' },
      { path: 'config.headers.X-A.B', value: 'x: y' },
      { path: 'scenarios.0.senders', value: '5' },
    ]);
    assert.deepEqual(parse(copy), {
      scenarios: [{ name: 'echo', senders: 5 }],
      slo: { 'p99.9': '1s' },
      config: { headers: { 'X-A.B': 'x: y' } },
    });
  });

  it('keeps no literal secret, wherever it stands', () => {
    const copy = scenarioCopy(
      [
        '# connectionString: Endpoint=https://x;AccessKey=s3cret1;',
        'config:',
        '  connectionString: "Endpoint=https://x;AccessKey=s3cret2;Version=1.0"',
        '  accessToken: s3cret3',
        '  headers: { Authorization: Bearer s3cret4, X-Tenant: blue }',
        '  query: { code: s3cret5 }',
        '  upstream: { publicUrl: "https://me:s3cret6@host/up?code=s3cret7" }',
        '  target: [ "https://host/hub?access_token=s3cret8" ]',
        '  password: s3cret9 # and Bearer s3cret10',
      ].join('\n'),
    );
    assert.doesNotMatch(copy, /s3cret/);
    assert.match(copy, /X-Tenant: blue/);
    assert.match(copy, /Endpoint=https:\/\/x;AccessKey=\(redacted\);Version=1.0/);
  });

  it('keeps references', () => {
    const text =
      'config:\n  connectionString: ${secret:conn}\n  headers: { Authorization: "Bearer ${env:T}" }\n';
    assert.equal(scenarioCopy(text), text);
  });

  it('cleans what the command line set as well', () => {
    const copy = scenarioCopy('mode: simple\n', [
      { path: 'config.target', value: 'Endpoint=https://x;AccessKey=s3cret' },
    ]);
    assert.doesNotMatch(copy, /s3cret/);
  });
});
