import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';

/** The bench uses parts of the engine that no type checker follows; its figures are its own affair. */
describe('the clients of the bench', function () {
  let hub: HubHere;

  // It is slow, so that clients which send as fast as they get answers leave something of the machine.
  before(async () => (hub = await startHubHere('--delay 20ms')));
  after(() => hub.dispose());
  const test = sideBySide();

  // The others are built of the same parts; all of them are imported below.
  for (const client of ['engine', 'streamEngine/messagepack', 'streamSignalr/messagepack'])
    test(`make round trips: ${client}`, async () => {
      const what = [client, 'WebSockets', hub.url, '2', '0.5'];
      const args = ['--expose-gc', path.join('bench', 'measure.mjs'), ...what];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      assert.ok((JSON.parse(stdout) as { roundTrips: number }).roundTrips > 0);
    });

  test('run against the hub in C, where there is a compiler', async () => {
    const words = ['--connections', '30', '--rates', '30', '--seconds', '1'];
    const args = [path.join('bench', 'unit100.mjs'), ...words];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    if (stdout.startsWith('This needs the hub in C')) return;
    assert.match(stdout, /30 of 30 connections .* 0 failed, 0 dropped/);
    assert.match(stdout, /30 of 30 sent, 30 of 30 received/);
  });

  test('follow a schedule: ws', async () => {
    const args = [path.join('bench', 'paced.mjs'), 'ws', hub.url, '2', '10', '0.5', '2'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { offered, sent, received } = JSON.parse(stdout) as Record<string, number>;
    assert.deepEqual([offered, sent, received], [10, 10, 10]);
  });

  it('find what they import', async () => {
    const folder = path.resolve('bench', 'clients');
    for (const name of readdirSync(folder)) {
      const client = (await import(pathToFileURL(path.join(folder, name)).href)) as object;
      assert.ok(Object.keys(client).length > 0, name);
    }
  });
});
