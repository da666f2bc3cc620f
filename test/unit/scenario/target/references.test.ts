import assert from 'node:assert/strict';
import {
  malformedReferences,
  referencesIn,
  resolveReferences,
} from '../../../../src/scenario/target/references';
import { brief, errorsOf, fixed, problemOf, scenarioOf, withConfig } from '../parsed';

describe('references', () => {
  it('are found with kind, name and place', () => {
    assert.deepEqual(referencesIn('a${env:A_1}b${secret:my-key}'), [
      { kind: 'env', name: 'A_1', offset: 1, length: 10 },
      { kind: 'secret', name: 'my-key', offset: 12, length: 16 },
    ]);
  });

  it('are not what only resembles them', () => {
    const others = '${A} ${env:} ${env:1A} ${env:A ${other:A} $${} ${'.split(' ');
    for (const text of [...others, '${secret:a b}']) {
      assert.deepEqual(referencesIn(text), []);
      assert.equal(malformedReferences(text).length, 1, text);
    }
  });

  it('are no dollar signs and braces alone', () => {
    assert.deepEqual(malformedReferences('a$b {c} $ {env:A} }${env:B}'), []);
  });

  it('are resolved once: values are not looked into', () => {
    const values: Record<string, string> = { A: 'x${env:B}', B: 'no', EMPTY: '' };
    const { text, missing } = resolveReferences(
      '<${env:A}|${env:A}${env:EMPTY}>',
      (_kind, name) => values[name],
    );
    assert.deepEqual([text, missing], ['<x${env:B}|x${env:B}>', []]);
  });

  it('that are missing stay and are reported once each', () => {
    const { text, missing } = resolveReferences('${env:A}${secret:A}${env:A}', () => undefined);
    assert.equal(text, '${env:A}${secret:A}${env:A}');
    assert.equal(missing.map(({ kind, name }) => `${kind}:${name}`).join(), 'env:A,secret:A');
  });

  it('stay references in the model', () => {
    const text = withConfig('accessToken: ${secret:a}', 'headers: { X: "${env:B}" }');
    assert.equal(scenarioOf(text).accessToken, '${secret:a}');
    assert.deepEqual(scenarioOf(text).headers, { X: '${env:B}' });
    assert.deepEqual(brief(text), []);
  });

  it('that are malformed are pointed at, with a fix for a plain variable', () => {
    const text = withConfig('accessToken: a-${TOKEN}');
    assert.deepEqual(
      brief(text).filter((line) => line.startsWith('error')),
      ['error bad-reference "${TOKEN}"'],
    );
    const mended = fixed(text, problemOf(text, 'bad-reference'));
    assert.ok(mended.includes('a-${env:TOKEN}'));
    assert.deepEqual(brief(mended), []);
  });

  it('are refused where nobody resolves them', () => {
    assert.deepEqual(brief(withConfig('caFile: ${env:CA}')), ['error bad-reference "${env:CA}"']);
  });

  it('in targets are pointed at inside the list', () => {
    const text = 'config:\n  target: http://a/b, http://${host}/x\n';
    assert.ok(errorsOf(text).includes('bad-reference'));
    assert.ok(brief(text).includes('error bad-reference "${host}"'));
  });
});
