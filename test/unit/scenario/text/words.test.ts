import assert from 'node:assert/strict';
import { didYouMean, safeExcerpt } from '../../../../src/scenario/text/words';
import { parseScenario } from '../../../../src/scenario/parseScenario';

describe('did you mean', () => {
  const keys = ['connections', 'connectTimeout', 'step', 'messagepack', 'json'];
  for (const [word, meant] of [
    ['conections', 'connections'],
    ['CONNECTIONS', 'connections'],
    ['conenctions', 'connections'],
    ['stpe', 'step'],
    ['msgpack', 'messagepack'],
    ['zzz', undefined],
    ['cnn', undefined],
    ['', undefined],
    ['c', undefined],
    ['x'.repeat(100_000), undefined],
  ] as const) {
    it(`${word.slice(0, 20)}: ${meant ?? 'nothing'}`, () => {
      assert.equal(didYouMean(word, keys), meant);
    });
  }
});

describe('text shown in messages', () => {
  for (const [name, value] of [
    ['the key of a connection string', 'Endpoint=https://a.b;AccessKey=HUSH;Version=1.0'],
    ['a token in a query', 'https://a.b/hub?access_token=HUSH&x=1'],
    ['a password in a URL', 'ftp://user:HUSH@a.b/hub'],
    ['a bearer token', 'Bearer HUSH'],
    ['a password', 'password: HUSH'],
  ] as const) {
    it(`leaves out ${name}`, () => {
      assert.ok(!safeExcerpt(value).includes('HUSH'));
    });
  }

  it('keeps references, which are no secrets', () => {
    assert.equal(safeExcerpt('AccessKey=${secret:key}'), 'AccessKey=${secret:key}');
  });

  it('is short and on one line', () => {
    assert.equal(safeExcerpt(`a\nb${'c'.repeat(1000)}`).length, 61);
    assert.ok(!safeExcerpt('a\r\nb').includes('\n'));
  });

  it('holds no secret in any problem of a file full of wrongly placed ones', () => {
    const text = `config:
  target: [ "Endpoint=https://a.b;AccessKey=HUSH1", "ftp://u:HUSH2@h" ]
  webAppTarget: Endpoint=https://a.b;AccessKey=HUSH3
  connectionString: https://u:HUSH4@h/?access_token=HUSH5
  connections: AccessKey=HUSH6
  transport: AccessKey=HUSH7
  headers: { Authorization: Bearer HUSH8 }
  accessToken: HUSH9
scenario:
  name: AccessKey=HUSH10
`;
    const { problems } = parseScenario(text);
    assert.ok(problems.length > 6);
    for (const problem of problems) {
      assert.ok(!`${problem.message}${problem.fix?.title}`.includes('HUSH'), problem.message);
    }
  });
});
