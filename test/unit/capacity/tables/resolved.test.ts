import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { offeredUnits, offers, sr2023, wps } from '../../../../src/capacity/tables/publishedLimits';

describe('resolved limits', () => {
  it('are what the script makes of the published data', function () {
    execFileSync(process.execPath, ['scripts/writeCapacity.mjs', '--check'], { stdio: 'pipe' });
  });

  it('have the sizes that can be bought and the limits of the Free tier', () => {
    assert.deepEqual(offeredUnits(sr2023).slice(8), [9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    assert.equal(offeredUnits(wps).at(-1), 1000);
    assert.equal(offers.signalr.freeConnections, 20);
    assert.equal(offers.webpubsub.freeMessagesPerDay, 20_000);
  });

  it('name the misprints that are not computed with', () => {
    assert.deepEqual(
      sr2023.errata.map((erratum) => `${erratum.item} ${erratum.unit}`),
      ['I-08 10', 'I-02 1', 'I-04 50'],
    );
  });
});
