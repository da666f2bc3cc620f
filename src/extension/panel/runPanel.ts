import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { Emitter, type Disposable } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import { objectiveTexts } from '../../base/slo';
import { columnTexts } from '../../measure/show/stepColumns';
import type { PanelRun } from '../../protocol/panel';
import { panelStrings, type PanelStrings } from '../../protocol/panelStrings';
import { resultPath } from '../results/resultEntry';
import { shortTime } from '../results/resultsModel';
import { resultEditorType, runPanelViewType, type Services } from '../services';
import { sentencesIn } from '../translateSentences';
import { panelHtml, startPanelSession, type PanelPort, type PanelSource } from './panelSession';

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  /** Without a result, and not going on: it is known from its folder only. */
  readonly interrupted: boolean;
  readonly shown: Disposable;
}

const open = new Map<string, OpenPanel>();

export function openRunPanel(
  extensionUri: vscode.Uri,
  source: PanelSource,
  log: PanelLog = () => undefined,
  instead?: string,
): vscode.WebviewPanel {
  const known = open.get(source.run.id);
  if (known) {
    known.panel.reveal(undefined, true);
    return known.panel;
  }
  const repeated = instead === undefined ? undefined : open.get(instead);
  if (instead !== undefined && repeated) {
    open.delete(instead);
    repeated.shown.dispose();
    adopt(repeated.panel, extensionUri, source, log);
    repeated.panel.reveal();
    return repeated.panel;
  }
  const panel = vscode.window.createWebviewPanel(
    runPanelViewType,
    panelTitle(source.run),
    { viewColumn: vscode.ViewColumn.Active, preserveFocus: false },
    // Hidden it costs nothing: the page goes away and is filled again when it is shown.
    { ...webviewOptions(extensionUri), retainContextWhenHidden: false },
  );
  adopt(panel, extensionUri, source, log);
  return panel;
}

/** Closes the panel of an interrupted run whose folder is gone; a run of this window knows its result. */
export function closeStoredPanel(id: string): void {
  const known = open.get(id);
  if (known?.interrupted) known.panel.dispose();
}

/** Finds the run with that id, going on or stored; undefined when it is gone. */
export type FindSource = (runId: string) => Promise<PanelSource | undefined>;

export async function restoreRunPanel(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  state: unknown,
  find: FindSource,
  log: PanelLog = () => undefined,
): Promise<void> {
  const runId = (state as { runId?: unknown } | null | undefined)?.runId;
  try {
    const source = typeof runId === 'string' ? await find(runId) : undefined;
    if (source) {
      adopt(panel, extensionUri, source, log);
      return;
    }
    const message = vscode.l10n.t('The result of this run is no longer there.');
    showProblem(panel, extensionUri, message);
  } catch (error) {
    // Damaged meanwhile, or written by a newer version.
    if (!(error instanceof ExpectedError)) throw error;
    showProblem(panel, extensionUri, error.message);
  }
}

function adopt(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  source: PanelSource,
  log: PanelLog,
): void {
  const { id } = source.run;
  const shown = showSource(panel, extensionUri, source, log);
  open.set(id, { panel, interrupted: source.interrupted, shown });
  panel.onDidDispose(() => {
    if (open.get(id)?.panel === panel) open.delete(id);
  });
}

export function resultViewer(
  extensionUri: vscode.Uri,
  sourceOf: (location: string) => Promise<PanelSource>,
  { log }: Pick<Services, 'log'>,
): vscode.CustomReadonlyEditorProvider['resolveCustomEditor'] {
  const read = async ({ scheme, fsPath }: vscode.Uri): Promise<PanelSource | string> => {
    if (scheme !== 'file') {
      return vscode.l10n.t('Results can only be shown from files on this machine.');
    }
    try {
      return await sourceOf(fsPath);
    } catch (error) {
      if (error instanceof ExpectedError) return error.message;
      log.error(error);
      return vscode.l10n.t('It cannot be read. The log has the details.');
    }
  };
  return async ({ uri }, panel, token) => {
    const source = await read(uri);
    if (token.isCancellationRequested) return;
    if (typeof source === 'string') showProblem(panel, extensionUri, source);
    else showSource(panel, extensionUri, source, (message) => log.warn(message));
  };
}

export type ResultColumns = readonly vscode.ViewColumn[];

/** Closes the tabs of a result that is no longer there; settles with where they were. */
export async function closeResultTabs(folder: string): Promise<ResultColumns> {
  const file = uriOf(folder).toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) =>
    group.tabs.filter(
      ({ input }) =>
        input instanceof vscode.TabInputCustom &&
        input.viewType === resultEditorType &&
        input.uri.toString() === file,
    ),
  );
  const columns = tabs.map(({ group }) => group.viewColumn);
  await vscode.window.tabGroups.close(tabs, true);
  return columns;
}

/** Opens the result of a folder where it was open before, perhaps by another name. */
export async function openResultTabs(folder: string, columns: ResultColumns): Promise<void> {
  if (!existsSync(resultPath({ folder }))) return;
  for (const viewColumn of columns) {
    const options = { viewColumn, preserveFocus: true, preview: false };
    const file = uriOf(folder);
    await vscode.commands.executeCommand('vscode.openWith', file, resultEditorType, options);
  }
}

function uriOf(folder: string): vscode.Uri {
  return vscode.Uri.file(resultPath({ folder }));
}

type PanelLog = (message: string) => void;

function webviewOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  const [dist, media] = [
    vscode.Uri.joinPath(extensionUri, 'dist'),
    vscode.Uri.joinPath(extensionUri, 'media'),
  ];
  return { enableScripts: true, localResourceRoots: [dist, media] };
}

function localisedStrings(): PanelStrings {
  const english = { ...panelStrings, ...columnTexts(), ...objectiveTexts() };
  const texts = Object.entries(english).map(([name, text]) => [name, vscode.l10n.t(text)]);
  return Object.fromEntries(texts) as PanelStrings;
}

/** Shows `source` in the webview until the panel is closed, or what is returned is disposed. */
function showSource(
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

function showProblem(panel: vscode.WebviewPanel, extensionUri: vscode.Uri, message: string): void {
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

function panelTitle({ title, startedAt }: Pick<PanelRun, 'title' | 'startedAt'>): string {
  const startedMs = Date.parse(startedAt);
  return Number.isFinite(startedMs) ? `${title} · ${tabTime(new Date(startedMs))}` : title;
}

/** With seconds: which other tabs there will be, nobody knows. */
function tabTime(time: Date): string {
  return shortTime(time, { now: new Date(), language: vscode.env.language, seconds: true });
}
