import path from 'node:path';
import * as vscode from 'vscode';
import { ExpectedError } from '../base/expectedError';
import { readScenarioFile } from '../cli/scenarioFile';
import { verdictSentence } from '../measure/verdictSentence';
import type { Result } from '../results/result';
import type { SetKey } from '../results/scenarioCopy';
import { askSecondRun, confirmLoad, trusted } from './questions';
import { errorText } from './log';
import { openRunPanel } from './panel/runPanel';
import type { PanelSource } from './panelSource';
import { showStatus } from './runStatus';
import type { RunHost, RunSession } from './runSession';
import type { Services } from './services';
import { setting } from './settings';
import { summaryMarkdown } from './summaryMarkdown';

/** A scenario to run. */
export interface ScenarioToRun {
  readonly uri: vscode.Uri;
  /** File name that people and results see. */
  readonly title: string;
  readonly text: string;
  readonly overrides: readonly SetKey[];
}

/** How long closing the window may wait for a run to write what it measured. */
const closeMs = 3000;

/** One run at a time, from the command to its stored result. */
export class RunController implements vscode.Disposable {
  private session: RunSession | undefined;
  private latest: RunSession | undefined;
  private panel: { readonly of: RunSession; readonly view: vscode.WebviewPanel } | undefined;
  private busy = false;

  constructor(
    private readonly services: Services,
    private readonly extension: vscode.ExtensionContext,
  ) {}

  /** Starts a run; whatever keeps it from starting is said. */
  async run(scenario: ScenarioToRun): Promise<void> {
    if (!(await trusted())) return;
    if (this.busy) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('Another run is being started or waited for.'),
      );
      return;
    }
    this.busy = true;
    try {
      if (await this.free()) await this.start(scenario);
    } catch (error) {
      this.services.log.error(error);
      void this.sayWhy(error, scenario);
    } finally {
      this.busy = false;
    }
  }

  /** Ends the run in order; what was measured is kept. */
  stop(): void {
    if (this.session) this.session.stop();
    else void vscode.window.showInformationMessage(vscode.l10n.t('No run is going on.'));
  }

  /** The live panel of the run, or of the last one. */
  showRun(): void {
    const { latest } = this;
    if (!latest) {
      void vscode.window.showInformationMessage(vscode.l10n.t('No run is going on.'));
      return;
    }
    if (this.panel?.of === latest) {
      this.panel.view.reveal();
      return;
    }
    const { extensionUri } = this.extension;
    const view = openRunPanel(extensionUri, latest, (message) => this.services.log.warn(message));
    const panel = { of: latest, view };
    this.panel = panel;
    view.onDidDispose(() => {
      if (this.panel === panel) this.panel = undefined;
    });
  }

  /** The run of that id, going on or just over. */
  find(id: string): PanelSource | undefined {
    return this.latest?.run.id === id ? this.latest : undefined;
  }

  /** Interrupts the run when the window closes, and waits a moment for its result. */
  async close(): Promise<void> {
    const { session } = this;
    if (!session) return;
    session.stop('interrupted');
    await Promise.race([
      session.finished.catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, closeMs)),
    ]);
  }

  dispose(): void {
    this.panel?.view.dispose();
  }

  /** Whether nothing runs any more: asks what to do about a run that does. */
  private async free(): Promise<boolean> {
    const { session } = this;
    if (!session) return true;
    const choice = await askSecondRun(session.run.title);
    if (choice === 'cancel') return false;
    if (choice === 'stop') session.stop();
    await session.finished.catch(() => undefined);
    return true;
  }

  private async start(scenario: ScenarioToRun): Promise<void> {
    const { log, places, index, state } = this.services;
    const { uri, title, text } = scenario;
    const overrides = [...scenario.overrides, ...workersOverride(text)];
    const host = { ...this.hostOf(scenario), context: await this.contextOf(scenario, overrides) };
    const request = { title, text, overrides, directories: places.for(uri) };
    // A bundle of its own: editing needs no load runner.
    const { startSession } = await import(/* webpackChunkName: "run" */ './runSession.js');
    const session = await startSession(request, host);
    if (!session) return;
    log.info(`${title} → ${session.run.targetUrl}, result in ${session.folder}`);
    this.session = session;
    this.latest = session;
    await this.running(true);
    await state.setUnfinishedRun({ folder: session.folder, pid: process.pid });
    showStatus(session);
    this.showRun();
    index.refresh();
    void this.follow(session, uri);
  }

  private async follow(session: RunSession, uri: vscode.Uri): Promise<void> {
    const { index, log, places, state } = this.services;
    try {
      const result = await session.finished;
      // A result that only the closing of the window brought is offered at the next start.
      if (result?.ending !== 'interrupted') await state.setUnfinishedRun(undefined);
      await this.rememberTarget(result);
      if (result) {
        log.info(verdictSentence(result));
        void this.sayResult(session, result);
      }
    } catch (error) {
      log.error(error);
      void vscode.window.showErrorMessage(errorText(error));
    } finally {
      if (this.session === session) this.session = undefined;
      await this.running(false);
      index.refresh();
    }
    if (uri.scheme === 'file') await places.offerIgnore(session.folder);
  }

  private async rememberTarget(result: Result | undefined): Promise<void> {
    const { target, connections } = result ?? {};
    if (target?.kind !== 'hubUrl' || connections?.connected === 0) return;
    for (const url of target.url.split(', ').slice(0, 5)) await this.services.rememberHub(url);
  }

  private async running(on: boolean): Promise<void> {
    await vscode.commands.executeCommand('setContext', 'signalrBenchmark.running', on);
  }

  private hostOf(scenario: ScenarioToRun): Omit<RunHost, 'context'> {
    const { log, state } = this.services;
    return {
      workerScript: this.distFile('worker.js'),
      confirm: (target, of) => confirmLoad(target, of, state),
      warn: (message) => {
        log.warn(message);
        void vscode.window.showWarningMessage(message.split('\n')[0]!);
      },
      runAgain: () => void this.run(scenario),
      openScenario: () => void vscode.window.showTextDocument(scenario.uri),
      copySummary: (result) => void copySummary(result),
    };
  }

  private async contextOf({ uri, text }: ScenarioToRun, overrides: readonly SetKey[]) {
    const values = overrides.map(({ value }) => value);
    const reference = await this.services.secrets.referencesOf([text, ...values]);
    const folder = uri.scheme === 'file' ? path.dirname(uri.fsPath) : process.cwd();
    return {
      reference,
      serverScript: this.services.serverScript,
      readFile: (name: string) => readScenarioFile(path.resolve(folder, name)),
    };
  }

  private distFile(name: string): string {
    return this.extension.asAbsolutePath(path.join('dist', name));
  }

  private async sayResult(session: RunSession, result: Result): Promise<void> {
    // Whoever looks at the panel reads it there.
    if (this.panel?.of === session && this.panel.view.visible) return;
    const open = vscode.l10n.t('Open Result');
    const copy = vscode.l10n.t('Copy Summary');
    const say =
      result.verdict.status === 'pass'
        ? vscode.window.showInformationMessage
        : vscode.window.showWarningMessage;
    const answer = await say(`${session.run.title}: ${verdictSentence(result)}`, open, copy);
    if (answer === open) this.showRun();
    if (answer === copy) await copySummary(result);
  }

  private async sayWhy(error: unknown, { uri }: ScenarioToRun): Promise<void> {
    const code = error instanceof ExpectedError ? error.code : '';
    if (code === 'scenario-problems') {
      await vscode.window.showTextDocument(uri).then(undefined, () => undefined);
      await vscode.window.showErrorMessage(errorText(error));
      return;
    }
    const log = vscode.l10n.t('Show Log');
    const store = vscode.l10n.t('Add Target…');
    const actions = code === 'missing-reference' ? [store, log] : [log];
    const answer = await vscode.window.showErrorMessage(errorText(error), ...actions);
    if (answer === log) this.services.log.show();
    if (answer === store) await vscode.commands.executeCommand('signalrBenchmark.addTarget');
  }
}

/** The setting counts where the scenario names no workers itself. */
function workersOverride(text: string): SetKey[] {
  const workers = setting('workers');
  if (workers === 0 || /^\s+workers\s*:/m.test(text)) return [];
  return [{ path: 'config.workers', value: String(workers) }];
}

export async function copySummary(result: Result | undefined): Promise<void> {
  if (!result) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('There is a summary when the run is over.'),
    );
    return;
  }
  await vscode.env.clipboard.writeText(summaryMarkdown(result));
  void vscode.window.setStatusBarMessage(vscode.l10n.t('Summary copied as Markdown.'), 3000);
}
