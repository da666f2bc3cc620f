import * as assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { conversationWith } from '../fakes/classicConversation';
import { startDotnetServer, type AspNetServer } from './aspnetServer';

const assembly = join('out', 'interop', 'classicServer', 'classicServer.dll');
const fixture = join('test', 'fixtures', 'classic', 'officialServer.json');

describe('the official server of ASP.NET SignalR', function () {
  let server: AspNetServer | undefined;
  before(async function () {
    if (!existsSync(assembly)) {
      const reason = 'the server of ASP.NET SignalR is not built: node scripts/buildInterop.mjs';
      if (process.env['CI'] === 'true') throw new Error(reason);
      process.stdout.write(`      skipped: ${reason}\n`);
      this.skip();
    }
    server = await startDotnetServer([assembly]);
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
