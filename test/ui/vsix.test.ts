import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { packedExtension } from './workbench';

/** Names of the files in a ZIP archive, by its central directory (APPNOTE.TXT 4.3.12 and 4.3.16). */
function filesInZip(file: string): string[] {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  assert.ok(end >= 0, 'no ZIP archive');
  const count = bytes.readUInt16LE(end + 10);
  const names: string[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    const nameLength = bytes.readUInt16LE(at + 28);
    names.push(bytes.toString('utf8', at + 46, at + 46 + nameLength));
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return names;
}

/** All of them, by name: one that strays in or gets lost fails the test. */
const files = `
  LICENSE.txt
  changelog.md
  dist/cli.js
  dist/commands.js
  dist/extension.js
  dist/features.js
  dist/jsonPath.js
  dist/licenses.txt
  dist/optional.js
  dist/optionalLead.js
  dist/panel.js
  dist/run.js
  dist/sdk.js
  dist/serve.js
  dist/sharedLater.js
  dist/sharedRun.js
  dist/sharedStart.js
  dist/worker.js
  examples/aspnet-signalr.signalr.yaml
  examples/azure-signalr-upstream.signalr.yaml
  examples/azure-signalr.signalr.yaml
  examples/broadcast.yaml
  examples/chat-room.signalr.yaml
  examples/chat-session.signalr.yaml
  examples/churn.signalr.yaml
  examples/connect-only.signalr.yaml
  examples/echo-internalAppServer.yaml
  examples/echo-minimal.yaml
  examples/echo.yaml
  examples/join-leave.signalr.yaml
  examples/long-polling.signalr.yaml
  examples/messagepack.signalr.yaml
  examples/mix.signalr.yaml
  examples/observed-server.signalr.yaml
  examples/own-hub-method.signalr.yaml
  examples/own-hub-stream.signalr.yaml
  examples/quick-start.signalr.yaml
  examples/reconnect-storm.signalr.yaml
  examples/restBroadcast.yaml
  examples/restPersistBroadcast.yaml
  examples/restPersistSendToGroup.yaml
  examples/restPersistSendToUser.yaml
  examples/restSendToGroup.yaml
  examples/restSendToUser.yaml
  examples/sendToClient.yaml
  examples/sendToGroup.yaml
  examples/server-connection.signalr.yaml
  examples/server-sent-events.signalr.yaml
  examples/signed-in-users.signalr.yaml
  examples/streaming-echo.signalr.yaml
  examples/streamingEcho.yaml
  examples/web-pubsub-echo.signalr.yaml
  examples/web-pubsub-reliable.signalr.yaml
  examples/web-pubsub-restBroadcast.signalr.yaml
  examples/web-pubsub-restSendToGroup.signalr.yaml
  examples/web-pubsub-restSendToUser.signalr.yaml
  examples/web-pubsub-sendToGroup.signalr.yaml
  l10n/bundle.l10n.zh-cn.json
  media/activity.svg
  media/hub/classic.measure.cs
  media/hub/classic.recordLatency.cs
  media/hub/measure.cs
  media/hub/recordLatency.cs
  media/icon.png
  media/panel-dark.svg
  media/panel-light.svg
  media/panel.css
  media/screenshots/hover.png
  media/screenshots/panel.png
  media/screenshots/results.png
  media/uPlot.css
  media/walkthrough/hub.md
  media/walkthrough/hub.png
  media/walkthrough/read.md
  media/walkthrough/read.png
  media/walkthrough/run.md
  media/walkthrough/run.png
  media/walkthrough/scenario.md
  media/walkthrough/units.md
  media/walkthrough/units.png
  package.json
  package.nls.json
  package.nls.zh-cn.json
  readme.md
  schemas/scenario.schema.json`;

describe('the packed extension', () => {
  it('holds what it needs and nothing else', () => {
    const expected = files
      .trim()
      .split(/\s+/)
      .map((name) => `extension/${name}`);
    const own = ['[Content_Types].xml', 'extension.vsixmanifest'];
    assert.deepEqual(filesInZip(packedExtension).sort(), [...expected, ...own].sort());
  });

  it('stays below 1.55 MB', () => {
    assert.ok(statSync(packedExtension).size < 1.55 * 1024 * 1024);
  });
});
