import assert from 'node:assert/strict';
import { BusKeys } from '../../../../src/extension/run/busKeys';

/** As the editor's secret storage. */
function storage(first?: string) {
  let stored = first;
  return {
    get: () => Promise.resolve(stored),
    store: (_name: string, value: string) => {
      stored = value;
      return Promise.resolve();
    },
    stored: () => stored,
  };
}

describe('keys of runs in a cluster', () => {
  it('are kept until a run is over, and found by another window', async () => {
    const place = storage();
    const keys = new BusKeys(place);
    await keys.set('a1', 'first');
    await keys.set('b2', 'second');
    await keys.set('a1', 'other');
    const later = new BusKeys(place);
    assert.deepEqual([await later.get('a1'), await later.get('b2')], ['other', 'second']);
    await later.delete('a1');
    await later.delete('unknown');
    assert.deepEqual([await keys.get('a1'), await keys.get('b2')], [undefined, 'second']);
    assert.ok(!place.stored()!.includes('other'));
  });

  it('are few, and none where the storage cannot be read', async () => {
    const place = storage('not json');
    const keys = new BusKeys(place);
    assert.equal(await keys.get('a1'), undefined);
    for (let run = 0; run < 30; run++) await keys.set(`r${run}`, 'key');
    assert.deepEqual([await keys.get('r9'), await keys.get('r10')], [undefined, 'key']);
  });
});
