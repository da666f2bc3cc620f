import * as assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { conversationWith } from '../fakes/classicConversation';
import type { AspNetServer } from './aspnetServer';
import { startClassicServer } from './officialClassicServer';

const fixture = join('test', 'fixtures', 'classic', 'officialServer.json');

describe('the official server of ASP.NET SignalR', function () {
  let server: AspNetServer | undefined;
  before(async function () {
    server = await startClassicServer(this);
  });
  after(() => server?.dispose());

  // Written anew with WRITE_FIXTURE=1.
  it('still answers as recorded', async () => {
    const said = await conversationWith(server!.url);
    if (process.env['WRITE_FIXTURE'] === '1') {
      mkdirSync(dirname(fixture), { recursive: true });
      writeFileSync(fixture, `${JSON.stringify(said, null, 2)}\n`);
    }
    assert.deepEqual(said, JSON.parse(readFileSync(fixture, 'utf8')));
  });
});
