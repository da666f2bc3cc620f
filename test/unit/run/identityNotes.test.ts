import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import { english } from '../../../src/base/text';
import { refuseCalls, rowNotes } from '../../../src/run/identityNotes';
import type { IdentitiesSpec } from '../../../src/scenario/scenario';

const how = { rate: 20, inFlight: 4, timeoutMs: 10_000 };
const command: IdentitiesSpec = { kind: 'command', command: ['node', 'a.mjs'], env: {}, ...how };
const url: IdentitiesSpec = {
  ...{ kind: 'url', url: 'https://a.test/t?key=S3cret', method: 'POST', headers: {} },
  ...how,
};

describe('what is said of identities before a run', () => {
  it('refuses on agents what asks somebody', () => {
    for (const identities of [command, url])
      assert.throws(
        () => refuseCalls({ identities }),
        (error) =>
          error instanceof ExpectedError && /name it as identities\.file/.test(error.message),
      );
    refuseCalls({ identities: { kind: 'file', file: 'u.csv' } });
    refuseCalls({});
  });

  it('says when rows come again', () => {
    const rows = [{ a: 1 }, { a: 2 }];
    const personal = {
      ...{ headers: {}, query: {}, data: { rows: rows.slice(1), shared: false } },
      identities: { kind: 'rows' as const, rows: rows.map((values) => ({ values })) },
    };
    assert.deepEqual(rowNotes({ personal }, undefined, 1000, english), [
      '1,000 connections share 2 identities: after the last comes the first.',
      '1,000 connections share 1 row of data.',
    ]);
    assert.deepEqual(rowNotes({ personal }, 1000, 1000, english).length, 1);
    const shared = { ...personal, data: { rows, shared: true } };
    assert.deepEqual(rowNotes({ personal: shared }, undefined, 2, english), []);
    assert.deepEqual(rowNotes({}, undefined, 5, english), []);
  });
});
