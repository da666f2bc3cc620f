import assert from 'node:assert/strict';
import { english } from '../../../src/base/text';
import { openScenarioObserver, describeRowReuse } from '../../../src/run/prepareRun';
import { sampleScenario } from '../results/sampleResult';

describe('what is said of identities before a run', () => {
  it('says when rows come again', () => {
    const rows = [{ a: 1 }, { a: 2 }];
    const personal = {
      ...{ headers: {}, query: {}, data: { rows: rows.slice(1), shared: false } },
      identities: { kind: 'rows' as const, rows: rows.map((values) => ({ values })) },
    };
    assert.deepEqual(describeRowReuse({ personal }, undefined, 1000, english), [
      '1,000 connections share 2 identities: after the last comes the first.',
      '1,000 connections share 1 row of data.',
    ]);
    assert.deepEqual(describeRowReuse({ personal }, 1000, 1000, english).length, 1);
    const shared = { ...personal, data: { rows, shared: true } };
    assert.deepEqual(describeRowReuse({ personal: shared }, undefined, 2, english), []);
    assert.deepEqual(describeRowReuse({}, undefined, 5, english), []);
  });
});

it('a run whose scenario observes nothing opens no observer', async () => {
  const context = {
    reference: () => undefined,
    readFile: () => Promise.reject(new Error('nothing is read')),
  };
  const shell = { context, t: english, say: () => undefined };
  assert.equal(await openScenarioObserver(sampleScenario, shell), undefined);
});
