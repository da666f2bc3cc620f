import path from 'node:path';
import * as vscode from 'vscode';
import { t, inBackground } from '../log';
import { say, showWhile } from '../notices';
import type { Snapshot } from '../../measure/snapshot';
import type { EditorRun } from './editorRun';
import { statusDetails, statusText } from './runTexts';

const besidePanelMs = 4000;
/** A panel hidden for less was only passed by on the way to another tab. */
const passedByMs = 1000;

/** Shows a run in the status bar, and in a notification at the start and while its panel is hidden. */
export function showStatus(
  session: EditorRun,
  isPanelVisible: () => boolean,
  onPanelChange: vscode.Event<void>,
): void {
  const item = vscode.window.createStatusBarItem(
    'signalrBenchmark.run',
    vscode.StatusBarAlignment.Left,
    50,
  );
  item.name = 'SignalR Benchmark';
  item.command = 'signalrBenchmark.showRun';
  fill(item, session, undefined);
  item.show();
  const notice = runNotice(session.run.title, () => session.stop());
  notice.show();
  let timer = setTimeout(() => isPanelVisible() && notice.hide(), besidePanelMs);
  const all = vscode.Disposable.from(
    item,
    { dispose: () => notice.hide() },
    session.onSnapshot((snapshot) => notice.say(fill(item, session, snapshot))),
    onPanelChange(() => {
      clearTimeout(timer);
      const visible = isPanelVisible();
      timer = setTimeout(
        () => (visible ? notice.hide() : notice.show()),
        visible ? besidePanelMs : passedByMs,
      );
    }),
    new vscode.Disposable(() => clearTimeout(timer)),
  );
  const over = (): void => {
    all.dispose();
  };
  session.finished.then(over, over);
}

function fill(
  item: vscode.StatusBarItem,
  { run: { title, targetUrl, scenario } }: EditorRun,
  snapshot: Snapshot | undefined,
): string {
  const text = statusText(snapshot, scenario, t);
  item.text = `$(pulse) ${text}`;
  item.tooltip = [`${title} → ${targetUrl}`]
    .concat(statusDetails(snapshot, t), t('Click for the live panel.'))
    .join('\n');
  item.accessibilityInformation = {
    label: t('SignalR Benchmark {0}: {1}', title, text),
  };
  return text;
}

/** The cancellable notification, which can be shown again. */
function runNotice(title: string, stop: () => void) {
  let end: (() => void) | undefined;
  let report: ((text: string) => void) | undefined;
  let text = '';
  return {
    show(): void {
      if (end) return;
      const until = new Promise<void>((resolve) => (end = resolve));
      const work = (say: (message: string) => void, token: vscode.CancellationToken) => {
        token.onCancellationRequested(stop);
        report = say;
        if (text !== '') say(text);
        return until;
      };
      inBackground(showWhile(title, work, true));
    },
    say(message: string): void {
      text = message;
      report?.(message);
    },
    hide(): void {
      end?.();
      [end, report] = [undefined, undefined];
    },
  };
}

/** Says once when the scenario of the current run changes or is deleted: the run uses its copy. */
export function watchScenario(scenario: vscode.Uri, resultFolder: string): vscode.Disposable {
  const name = path.posix.basename(scenario.path);
  const sayChanged = once((message) => say('Information', message));
  const sayGone = once((message) => say('Warning', message));
  const changes = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    if (contentChanges.length === 0 || document.uri.toString() !== scenario.toString()) return;
    sayChanged(t('The run uses {0} as it was at its start. Changes count for the next run.', name));
  });
  if (scenario.scheme !== 'file') return changes;
  const folder = vscode.Uri.joinPath(scenario, '..');
  const pattern = new vscode.RelativePattern(folder, name);
  const watcher = vscode.workspace.createFileSystemWatcher(pattern, true, true, false);
  return vscode.Disposable.from(
    changes,
    watcher,
    watcher.onDidDelete(() =>
      sayGone(t('{0} was deleted. The run goes on; a copy is in {1}.', name, resultFolder)),
    ),
  );
}

function once(act: (message: string) => void): (message: string) => void {
  let done = false;
  return (message) => {
    if (!done) act(message);
    done = true;
  };
}

export function waitCancellably(
  title: string,
  over: Promise<boolean>,
  began: vscode.CancellationToken | undefined,
): Thenable<boolean> {
  return showWhile(
    title,
    (_report, token) => {
      const calledOff = new Promise<boolean>((resolve) => {
        for (const each of [token, began]) each?.onCancellationRequested(() => resolve(false));
      });
      return Promise.race([over, calledOff]);
    },
    true,
  );
}

export function showWaiting(url: string, over: Promise<void>): void {
  inBackground(showWhile(t('Waiting for {0} to answer…', url), () => over));
}
