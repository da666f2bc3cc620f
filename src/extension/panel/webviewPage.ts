import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { objectiveTexts } from '../../base/slo';
import { Emitter, type Disposable } from '../../base/event';
import { columnTexts } from '../../measure/show/stepColumns';
import type { PanelRun } from '../../protocol/panel';
import { panelStrings, type PanelStrings } from '../../protocol/panelStrings';
import { shortTime } from '../results/resultsModel';
import { sentencesIn } from '../translateSentences';
import { panelHtml } from './panelHtml';
import { startPanelSession, type PanelPort } from './panelSession';
import type { PanelSource } from './panelSource';

/** Where messages about the panel go. */
export type PanelLog = (message: string) => void;

/** What a webview may load: the bundle and the style sheets. */
export function webviewOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  const [dist, media] = [
    vscode.Uri.joinPath(extensionUri, 'dist'),
    vscode.Uri.joinPath(extensionUri, 'media'),
  ];
  return { enableScripts: true, localResourceRoots: [dist, media] };
}

/** The panel's texts in the user's language. */
export function localisedStrings(): PanelStrings {
  const english = { ...panelStrings, ...columnTexts(), ...objectiveTexts() };
  const texts = Object.entries(english).map(([name, text]) => [name, vscode.l10n.t(text)]);
  return Object.fromEntries(texts) as PanelStrings;
}

/** Shows `source` in the webview until the panel is closed, or what is returned is disposed. */
export function showSource(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  source: PanelSource,
  log: PanelLog,
): Disposable {
  const { port, disposables } = portOf(panel);
  const session = startPanelSession(port, source, {
    strings: localisedStrings(),
    say: sentencesIn(vscode.l10n.t),
    log,
  });
  const shown = vscode.Disposable.from(session, ...disposables);
  const closing = panel.onDidDispose(() => void shown.dispose());
  const title = panelTitle(source.run);
  // The tab of a result would be called result.json, and that of a run like the file beside it.
  panel.title = title;
  panel.iconPath = tabIcon(extensionUri);
  setPage(panel, extensionUri, title);
  return vscode.Disposable.from(shown, closing);
}

/** An image in a tab takes no colour of the theme: one for each kind. */
function tabIcon(extensionUri: vscode.Uri): { light: vscode.Uri; dark: vscode.Uri } {
  const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(extensionUri, 'media', name);
  return { light: icon('panel-light.svg'), dark: icon('panel-dark.svg') };
}

/** Shows why there is nothing to show. */
export function showProblem(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  message: string,
): void {
  const subscription = panel.webview.onDidReceiveMessage((sent: { type?: unknown } | null) => {
    if (sent?.type !== 'ready') return;
    void panel.webview.postMessage({ type: 'unreadable', message, strings: localisedStrings() });
  });
  panel.onDidDispose(() => {
    subscription.dispose();
  });
  setPage(panel, extensionUri, message);
}

function portOf(panel: vscode.WebviewPanel): { port: PanelPort; disposables: Disposable[] } {
  const [messages, visibility] = [new Emitter<unknown>(), new Emitter<boolean>()];
  const disposables: Disposable[] = [
    messages,
    visibility,
    panel.webview.onDidReceiveMessage((message: unknown) => messages.fire(message)),
    panel.onDidChangeViewState(() => visibility.fire(panel.visible)),
  ];
  const port: PanelPort = {
    post: (message) => void panel.webview.postMessage(message),
    onMessage: messages.event,
    onVisibility: visibility.event,
  };
  return { port, disposables };
}

function setPage(panel: vscode.WebviewPanel, extensionUri: vscode.Uri, title: string): void {
  const { webview } = panel;
  const uri = (...parts: string[]): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, ...parts)).toString();
  webview.options = webviewOptions(extensionUri);
  webview.html = panelHtml({
    title,
    language: vscode.env.language,
    scriptUri: uri('dist', 'panel.js'),
    styleUris: [uri('media', 'uPlot.css'), uri('media', 'panel.css')],
    cspSource: webview.cspSource,
    nonce: randomBytes(16).toString('base64url'),
  });
}

/** Scenario and local time of the start: the tab of the scenario's file has the name alone. */
export function panelTitle({ title, startedAt }: Pick<PanelRun, 'title' | 'startedAt'>): string {
  const startedMs = Date.parse(startedAt);
  return Number.isFinite(startedMs) ? `${title} · ${tabTime(new Date(startedMs))}` : title;
}

/** With seconds: which other tabs there will be, nobody knows. */
function tabTime(time: Date): string {
  return shortTime(time, { now: new Date(), language: vscode.env.language, seconds: true });
}
