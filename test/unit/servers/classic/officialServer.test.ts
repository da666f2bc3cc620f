import * as assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startClassicHub } from '../../../../src/servers/classic/classicHub';
import { conversationWith, type Conversation } from '../../../fakes/classicConversation';

/** Of Microsoft.AspNet.SignalR.Core 2.4.1, written by `test/interop/classicServer.test.ts`. */
const recorded = JSON.parse(
  readFileSync(join('test', 'fixtures', 'classic', 'officialServer.json'), 'utf8'),
) as Conversation;

describe('the hub of ASP.NET SignalR in a recorded conversation', () => {
  it('answers as the official server did', async () => {
    const hub = await startClassicHub();
    try {
      assert.deepEqual(await conversationWith(hub.url), recorded);
    } finally {
      await hub.dispose();
    }
  });
});
