import assert from 'node:assert/strict';
import { BusKeys } from '../../../../src/extension/run/busKeys';

/** As the editor's secret storage. */
function storage(first?: string) {
  let kept = first;
  return {
    get: () => Promise.resolve(kept),
    store: (_name: string, value: string) => {
      kept = value;
      return Promise.resolve();
    },
    kept: () => kept,
  };
}

describe('keys of runs in a cluster', () => {
  it('are kept until a run is over, and found by another window', async () => {
    const place = storage();
    const keys = new BusKeys(place);
    await keys.keep('a1', 'first');
    await keys.keep('b2', 'second');
    await keys.keep('a1', 'other');
    const later = new BusKeys(place);
    assert.deepEqual([await later.of('a1'), await later.of('b2')], ['other', 'second']);
    await later.forget('a1');
    await later.forget('unknown');
    assert.deepEqual([await keys.of('a1'), await keys.of('b2')], [undefined, 'second']);
    assert.ok(!place.kept()!.includes('other'));
  });

  it('are few, and none where the storage cannot be read', async () => {
    const place = storage('not json');
    const keys = new BusKeys(place);
    assert.equal(await keys.of('a1'), undefined);
    for (let run = 0; run < 30; run++) await keys.keep(`r${run}`, 'key');
    assert.deepEqual([await keys.of('r9'), await keys.of('r10')], [undefined, 'key']);
  });
});
