import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { startBareHub } from '../fakes/bareHub';
import { problemsOf, until } from './editor';
import { inWorkspace, resultNames } from './longRun';
import { recordingMessages } from './messages';

describe('a hub without the methods that a run calls', () => {
  const test = recordingMessages();
  let hub: Awaited<ReturnType<typeof startBareHub>>;
  let scenario: vscode.Uri;

  before(async () => {
    hub = await startBareHub();
    const text = readFileSync(inWorkspace('quick.signalr.yaml'), 'utf8');
    const target = `target: ${hub.url}\n  skipNegotiation: true`;
    writeFileSync(inWorkspace('bare.signalr.yaml'), text.replace('target: local', target));
    scenario = vscode.Uri.file(inWorkspace('bare.signalr.yaml'));
  });
  after(() => hub.dispose());

  /** Runs the scenario and presses a button of what is said of it. */
  async function runAndPress(action: string): Promise<void> {
    const before = resultNames();
    test.messages.press = action;
    await vscode.commands.executeCommand('signalrBenchmark.run', scenario);
    const { level, text, actions } = await test.said(/the hub has no method/);
    assert.equal(level, 'error');
    assert.equal(text, `${hub.url}: the hub has no method Echo. Nothing was started.`);
    assert.deepEqual(actions, ['Copy C# Code', 'Call Your Own Method']);
    assert.deepEqual(resultNames(), before);
  }

  it('is named before the load, and gets the code to add', async () => {
    await vscode.env.clipboard.writeText('');
    await runAndPress('Copy C# Code');
    const copied = await until('the code', async () => {
      const text = await vscode.env.clipboard.readText();
      return text === '' ? undefined : text;
    });
    assert.equal(
      copied,
      readFileSync(path.resolve(__dirname, '../../../media/hub/recordLatency.cs'), 'utf8'),
    );
  });

  it('gets a scenario that calls a method of its own', async () => {
    await runAndPress('Call Your Own Method');
    const document = await until('the scenario', () => {
      const shown = vscode.window.activeTextEditor?.document;
      return shown?.getText().includes('name: invoke') === true ? shown : undefined;
    });
    assert.equal(document.isUntitled, true);
    assert.match(document.getText(), new RegExp(`^ {2}target: ${hub.url}$`, 'm'));
    assert.doesNotMatch(document.getText(), /target: local/);
    // It is judged a moment after it was filled.
    await problemsOf(document.uri, 'none');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });
});
