import assert from 'node:assert/strict';
import { analysisCache } from '../../../../src/extension/language/analyseScenario';

/** A document that counts how often its text is put together. */
function fakeDocument(text: string) {
  const document = {
    version: 1,
    reads: 0,
    size: text.length,
    getText: () => {
      document.reads += 1;
      return text;
    },
  };
  return document;
}

const cacheOf = (isScenario: boolean) =>
  analysisCache({
    isScenario: () => isScenario,
    sizeOf: ({ size }: ReturnType<typeof fakeDocument>) => size,
  });

describe('analysisCache', () => {
  it('reads each version once', () => {
    const cache = cacheOf(true);
    const document = fakeDocument('scenario:\n  name: echo\n');
    assert.ok(cache.analysisOf(document)?.scenario);
    assert.equal(cache.analysisOf(document), cache.analysisOf(document));
    assert.equal(document.reads, 1);
    document.version += 1;
    assert.ok(cache.analysisOf(document));
    assert.equal(document.reads, 2);
    assert.equal(cache.isTooLarge(document), false);
    assert.equal(cacheOf(false).analysisOf(document), undefined);
  });

  it('does not even fetch a text of megabytes', () => {
    const cache = cacheOf(true);
    const document = fakeDocument('# '.repeat(2_500_000));
    assert.equal(cache.analysisOf(document), undefined);
    assert.equal(cache.isTooLarge(document), true);
    assert.equal(document.reads, 0);
    assert.equal(cacheOf(false).isTooLarge(document), false);
  });
});
