import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { HubConnectionBuilder, HttpTransportType, LogLevel } from '@microsoft/signalr';
import * as vscode from 'vscode';
import { startBenchHub, type BenchHub } from '../../src/servers/hub/benchHub';
import { extension, workspaceFolder } from './editor';
import { recordMessages, type MessageRecorder } from './messages';

describe('Record Scenario', () => {
  let hub: BenchHub;
  let messages: MessageRecorder;
  const record = (node?: object): Thenable<unknown> =>
    vscode.commands.executeCommand('signalrBenchmark.recordScenario', node);
  before(async () => {
    await extension().activate();
    hub = await startBenchHub();
  });
  after(async () => {
    await hub.dispose();
    // They stand beside the results of the workspace.
    const folder = path.join(workspaceFolder().fsPath, '.signalr-bench');
    for (const name of readdirSync(folder))
      if (name.startsWith('recorded-')) rmSync(path.join(folder, name));
  });
  beforeEach(() => (messages = recordMessages()));
  afterEach(async () => {
    messages.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('says where clients go, and opens what they did when it is stopped', async () => {
    await record({ kind: 'hub', url: hub.url });
    const said = messages.find(/^Point clients at http:/);
    assert.deepEqual(said?.actions, ['Copy', 'Stop and Open Scenario']);
    const [, url = ''] = /at (\S+) in place/.exec(said.text)!;
    const connection = new HubConnectionBuilder()
      .withUrl(url, { transport: HttpTransportType.WebSockets, skipNegotiation: true })
      .configureLogging(LogLevel.None)
      .build();
    connection.on('RecordLatency', () => undefined);
    await connection.start();
    for (let number = 0; number < 5; number++)
      await connection.invoke('Echo', { 'payload.MessageBlob': `text ${number}` });
    await connection.stop();
    messages.press = 'Stop and Open Scenario';
    await record();
    const document = vscode.window.activeTextEditor!.document;
    assert.ok(document.isUntitled);
    assert.match(document.getText(), /call: Echo$/m);
    assert.ok(messages.find(/^Recognised in recorded-.*: clients 1, methods 1/));
  });

  it('says that nobody came, and that nobody is there', async () => {
    messages.press = 'Stop and Open Scenario';
    await record({ kind: 'hub', url: hub.url });
    assert.ok(messages.find(/^No client came to http:.*: nothing was recorded\.$/));
    await record({ kind: 'hub', url: 'http://127.0.0.1:9/chat' });
    assert.ok(messages.find(/^Cannot connect to http:\/\/127.0.0.1:9/));
  });
});
