import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';

/** The bench uses parts of the engine that no type checker follows; its figures are its own affair. */
describe('the clients of the bench', function () {
  this.timeout(60_000);
  let hub: LoadHub;

  before(async () => (hub = await startHub()));
  after(() => hub.dispose());
  const test = sideBySide();

  for (const client of ['engine', 'streamEngine', 'signalr', 'streamSignalr', 'ws']) {
    for (const protocol of client === 'ws' ? ['json'] : ['json', 'messagepack']) {
      test(`make round trips: ${client}, ${protocol}`, async () => {
        const what = [`${client}/${protocol}`, 'WebSockets', hub.url, '2', '0.1'];
        const args = ['--expose-gc', path.join('bench', 'measure.mjs'), ...what];
        const { stdout } = await promisify(execFile)(process.execPath, args);
        assert.ok((JSON.parse(stdout) as { roundTrips: number }).roundTrips > 0);
      });
    }
  }

  it('find what they import', async () => {
    const folder = path.resolve('bench', 'clients');
    for (const name of readdirSync(folder)) {
      const client = (await import(pathToFileURL(path.join(folder, name)).href)) as object;
      assert.ok(Object.keys(client).length > 0, name);
    }
  });
});
