import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import type { PanelSource } from '../../src/extension/panel/panelSession';
import { RunPanels } from '../../src/extension/panel/runPanel';
import type { EditorRun } from '../../src/extension/run/editorRun';
import { RunController } from '../../src/extension/run/runController';
import type { Services } from '../../src/extension/services';
import { sampleEstimate, sampleScenario } from '../unit/results/sampleResult';
import { extension } from './editor';
import { memento } from '../fakes/memento';

/** A panel that only counts who listens to it. */
function countingPanel() {
  const listening = { disposed: 0, viewState: 0, messages: 0 };
  const event = (name: keyof typeof listening) => (): vscode.Disposable => {
    listening[name] += 1;
    return new vscode.Disposable(() => (listening[name] -= 1));
  };
  const webview = {
    onDidReceiveMessage: event('messages'),
    postMessage: () => Promise.resolve(true),
    asWebviewUri: (uri: vscode.Uri) => uri,
    cspSource: 'none',
    html: '',
  };
  const events = { onDidDispose: event('disposed'), onDidChangeViewState: event('viewState') };
  const panel = { webview, ...events, visible: true, title: '', reveal: () => undefined };
  return { panel: panel as unknown as vscode.WebviewPanel, listening };
}

describe('a panel that shows one run after the other', () => {
  it('has as many listeners with the tenth run as with the first', () => {
    const { panel, listening } = countingPanel();
    const window = vscode.window as unknown as Record<string, unknown>;
    const { createWebviewPanel } = window;
    window['createWebviewPanel'] = () => panel;
    const log = { warn: () => undefined, error: () => undefined };
    const panels = new RunPanels(extension().extensionUri, log);
    const context = {
      ...{ secrets: memento(), extensionPath: path.join(extension().extensionPath) },
    } as unknown as vscode.ExtensionContext;
    const controller = new RunController({ log } as unknown as Services, panels, context);
    const never = () => ({ dispose: () => undefined });
    const runOf = (id: string) => {
      const run = { id, title: 'x', targetUrl: 'local', startedAt: '2026-11-21T14:02:11.000Z' };
      const source = {
        run: { ...run, scenario: sampleScenario, estimate: sampleEstimate },
        ...{ snapshots: [], result: undefined, spectra: [], interrupted: false, orders: {} },
        ...{ onSnapshot: never, onFinished: never },
      };
      return source as unknown as PanelSource & EditorRun;
    };
    try {
      const counts = Array.from({ length: 10 }, (_, at) => {
        const session = runOf(`run-${at}`);
        (controller as unknown as { latest: EditorRun }).latest = session;
        controller.showRun(session, `run-${at - 1}`);
        return { ...listening };
      });
      assert.deepEqual(counts[9], counts[0]);
      assert.deepEqual(counts[0], { disposed: 3, viewState: 2, messages: 1 });
    } finally {
      window['createWebviewPanel'] = createWebviewPanel;
    }
  });
});
