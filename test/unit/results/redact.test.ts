import assert from 'node:assert/strict';
import {
  redactConnectionString,
  redactHeader,
  redactSecret,
  redactTarget,
  redactText,
  redactUrl,
} from '../../../src/results/redact';

describe('redact', () => {
  const table: [string, (value: string) => string, [string, string][]][] = [
    [
      'secret values',
      redactSecret,
      [
        ['abc', '(redacted)'],
        ['${secret:token}', '${secret:token}'],
        ['Bearer ${env:TOKEN}', 'Bearer ${env:TOKEN}'],
        ['Bearer abc', '(redacted)'],
        ['abc${env:TOKEN}', '(redacted)'],
        ['${secret:not a name}', '(redacted)'],
        ['<your token>', '<your token>'],
        ['Bearer <token>', 'Bearer <token>'],
        ['xxx', 'xxx'],
        ['Bearer', '(redacted)'],
        ['', ''],
      ],
    ],
    [
      'URLs',
      redactUrl,
      [
        ['http://localhost:5050/signalrbench', 'http://localhost:5050/signalrbench'],
        ['https://me:pass@host/hub', 'https://(redacted)@host/hub'],
        [
          'https://host/hub?access_token=abc&x=1',
          'https://host/hub?access_token=(redacted)&x=(redacted)',
        ],
        ['https://host/hub?t=${secret:t}', 'https://host/hub?t=${secret:t}'],
        ['https://host/hub?abc', 'https://host/hub?(redacted)'],
        ['https://host/hub#token', 'https://host/hub'],
        ['${env:HUB}', '${env:HUB}'],
        ['local', 'local'],
      ],
    ],
    [
      'connection strings',
      redactConnectionString,
      [
        [
          'Endpoint=https://x.service.signalr.net;AccessKey=abc=;Version=1.0;',
          'Endpoint=https://x.service.signalr.net;AccessKey=(redacted);Version=1.0;',
        ],
        ['Endpoint=https://x;AccessKey=${secret:k};', 'Endpoint=https://x;AccessKey=${secret:k};'],
        ['${secret:conn}', '${secret:conn}'],
        ['Endpoint=https://x;Whatever=abc', 'Endpoint=https://x;Whatever=(redacted)'],
        ['no connection string', '(redacted)'],
      ],
    ],
    [
      'targets',
      redactTarget,
      [
        ['http://a/h?k=1,http://b/h', 'http://a/h?k=(redacted),http://b/h'],
        ['Endpoint=https://x;AccessKey=abc', 'Endpoint=https://x;AccessKey=(redacted)'],
      ],
    ],
    [
      'free text',
      redactText,
      [
        [
          'connect to https://u:p@h/x?t=1 failed',
          'connect to https://(redacted)@h/x?t=(redacted) failed',
        ],
        [
          'see postgres://me:pass@db/x, not redis://host/1',
          'see postgres://(redacted)@db/x, not redis://host/1',
        ],
        ['AccessKey=abc; next', 'AccessKey=(redacted); next'],
        ['sent Bearer abcdefghij', 'sent Bearer (redacted)'],
        ['token eyJhbGciOi.eyJzdWIiOi.c2ln here', 'token (redacted) here'],
        ['nothing secret here', 'nothing secret here'],
      ],
    ],
  ];
  for (const [name, redact, rows] of table) {
    for (const [value, expected] of rows) {
      it(`${name}: ${value || '(empty)'}`, () => assert.equal(redact(value), expected));
      it(`${name}: ${value || '(empty)'} twice is the same`, () =>
        assert.equal(redact(redact(value)), expected));
    }
  }

  it('takes out what a terminal would obey, and secrets that hid behind it', () => {
    assert.equal(redactText('a\u202egnp\u2069.exe\u200f\u009b2J\u001b[2J'), 'agnp.exe2J[2J');
    assert.equal(redactText('Bea\u2066rer abcdefghij'), 'Bearer (redacted)');
    assert.equal(redactText('at one\n\tat two'), 'at one\n\tat two');
  });

  it('redacts every header but those that only say how to talk', () => {
    for (const name of [
      'Authorization',
      'cookie',
      'X-Api-Key',
      'X-Tenant',
      'X-Ms-Client',
      'Referer',
    ])
      assert.equal(redactHeader(name, 'abc'), '(redacted)', name);
    for (const name of ['Accept', 'accept-language', 'User-Agent', 'X-Requested-With'])
      assert.equal(redactHeader(name, 'abc'), 'abc', name);
    assert.equal(redactHeader('X-Tenant', '${env:TENANT}'), '${env:TENANT}');
    assert.equal(redactHeader('User-Agent', 'Bearer abcdefghij'), 'Bearer (redacted)');
  });
});
