import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import { verdictSentence, verdictWords } from '../../measure/show/verdictSentence';
import type { Result } from '../../results/result';
import { readFileBounded } from '../../results/readResult';
import { resultFile, scenarioFile } from '../../results/resultFolder';
import type { Override } from '../../scenario/read/overrides';
import { targetRole } from '../../scenario/target/targetKinds';
import type { MissingMethods } from '../../run/askTarget';
import { summaryMarkdown } from '../../run/export/summaryMarkdown';
import { readNamedFile } from '../../run/scenarioFile';
import { startTimes, type Saying } from '../../run/shell';
import { errorText, type Log, t, inBackground } from '../log';
import { ask, offer, say, sayBriefly, showWhile } from '../notices';
import type { PanelSource } from '../panel/panelSession';
import type { RunPanels } from '../panel/runPanel';
import { askSecondRun, confirmLoad, ensureTrusted } from '../questions';
import { parseFolderName } from '../results/resultEntry';
import { textNow } from '../scenarios/scenarioFiles';
import type { ClusterPlace, ClusterRunHere } from '../editorState';
import { setting, runCopyScheme, type Services } from '../services';
import { editorAccount, sayMissingMethods } from '../targets/targetCommands';
import { say as sayWords } from '../../base/sentence';
import { BusKeys, startEditorRun, type EditorRun, type EditorShell } from './editorRun';
import type { ClusterStart } from './kubernetesRun';
import { watchScenario, showStatus, showWaiting, waitCancellably } from './runStatus';
import { workersOverride } from './runTexts';

export interface ScenarioToRun {
  readonly uri: vscode.Uri;
  readonly origin: vscode.Uri | undefined;
  readonly title: string;
  readonly text: string;
  readonly overrides: readonly Override[];
  readonly cluster?: ClusterPlace;
  /** Started by a coding agent. */
  readonly isByTool?: boolean;
}

/** A run seen before has a folder. */
type RunOfCluster = Omit<ClusterRunHere, 'folder'> & Partial<ClusterRunHere>;

/** What is being started; empty for an attached run. */
interface Started {
  readonly scenario?: ScenarioToRun;
  readonly uri?: vscode.Uri;
}

const closeMs = 3000;

/** One run at a time, from the command to its stored result. */
export class RunController implements vscode.Disposable {
  private session: EditorRun | undefined;
  private latest: EditorRun | undefined;
  private panel:
    | {
        readonly of: EditorRun;
        readonly view: vscode.WebviewPanel;
        readonly following: vscode.Disposable;
      }
    | undefined;
  private readonly panelEmitter = new vscode.EventEmitter<void>();
  /** Title of the run that is starting or queued. */
  private starting: string | undefined;
  /** Whether *Stop* came while it was starting. */
  private stopsAtStart = false;
  private leaving: AbortController | undefined;
  private startingElsewhere: Promise<unknown> | undefined;
  private readonly busKeys: BusKeys;
  private readonly startTime = startTimes(() => new Date());

  constructor(
    private readonly services: Services,
    private readonly panels: RunPanels,
    private readonly extension: vscode.ExtensionContext,
  ) {
    this.busKeys = new BusKeys(extension.secrets);
  }

  /**
   * Starts a run, in the panel of the run `instead` that it repeats; undefined if none started, and the user is
   * told why. `token` cancels it until it runs.
   */
  async run(
    scenario: ScenarioToRun,
    instead?: string,
    token?: vscode.CancellationToken,
  ): Promise<EditorRun | undefined> {
    if (!(await ensureTrusted())) return undefined;
    const { title, uri } = scenario;
    const start = () => this.start(scenario, instead);
    return this.whenFree(title, { scenario, uri }, start, token);
  }

  /** Shows a run in a cluster: `seen` earlier, or one the user picks. */
  async attach(seen?: ClusterRunHere): Promise<void> {
    if (!(await ensureTrusted())) return;
    const going: RunOfCluster | undefined =
      seen ?? (await (await kubernetes()).askRun(this.services));
    if (going) await this.whenFree(going.run, {}, () => this.startAttached(going));
  }

  private async whenFree(
    title: string,
    of: Started,
    start: () => Promise<EditorRun | undefined>,
    token?: vscode.CancellationToken,
  ): Promise<EditorRun | undefined> {
    if (this.starting !== undefined) {
      this.sayBusy(this.starting);
      return undefined;
    }
    this.starting = title;
    try {
      this.stopsAtStart = false;
      const isFree = await this.free(title, token);
      if (isFree && token?.isCancellationRequested !== true) return await start();
    } catch (error) {
      this.services.log.error(error);
      inBackground(this.sayWhy(error, of));
    } finally {
      this.starting = undefined;
    }
    return undefined;
  }

  /** As {@link run}, but `token` also stops the run. Settles with its result, undefined if none started. */
  async runToEnd(
    scenario: ScenarioToRun,
    token: vscode.CancellationToken,
  ): Promise<Result | undefined> {
    const session = await this.run(scenario, undefined, token);
    const stopping = session && token.onCancellationRequested(() => session.stop());
    try {
      return await session?.finished;
    } finally {
      stopping?.dispose();
    }
  }

  private async runAgain(scenario: ScenarioToRun, id: string): Promise<void> {
    const text = (await textNow(scenario.uri)) ?? scenario.text;
    await this.run({ ...scenario, text }, id);
  }

  stop(): void {
    if (this.session) this.session.stop();
    else if (this.starting !== undefined) {
      this.stopsAtStart = true;
      this.leaving?.abort(calledOff());
    } else say('Information', t('No run is going on.'));
  }

  showRun(session = this.latest, instead?: string): void {
    if (!session) {
      say('Information', t('No run is going on.'));
      return;
    }
    if (this.panel?.of === session) {
      this.panel.view.reveal();
      return;
    }
    const view = this.panels.show(session, instead);
    if (session !== this.latest) return;
    this.panel?.following.dispose();
    const following = vscode.Disposable.from(
      view.onDidDispose(() => {
        this.panel = undefined;
        this.panelEmitter.fire();
      }),
      view.onDidChangeViewState(() => this.panelEmitter.fire()),
    );
    this.panel = { of: session, view, following };
    this.panelEmitter.fire();
  }

  find(id: string): PanelSource | undefined {
    return this.latest?.run.id === id ? this.latest : undefined;
  }

  writesTo(folder: string): boolean {
    return this.session?.folder === folder;
  }

  async close(): Promise<void> {
    const { session } = this;
    this.leaving?.abort(calledOff());
    session?.stop('interrupted');
    // The next start offers a cluster run again.
    if (session?.elsewhere) return;
    const over = session?.finished ?? this.startingElsewhere;
    if (over === undefined) return;
    await Promise.race([
      over.catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, closeMs)),
    ]);
  }

  dispose(): void {
    this.panel?.view.dispose();
    this.panelEmitter.dispose();
  }

  /** Whether no run is active; asks what to do about one that is. */
  private async free(title: string, token?: vscode.CancellationToken): Promise<boolean> {
    const { session } = this;
    if (!session) return true;
    // With a result it is only closing.
    const choice = session.result ? 'wait' : await askSecondRun(title, session.run.title);
    if (choice === 'cancel') return false;
    if (choice === 'stop') session.stop();
    const over = session.finished.then(
      () => true,
      () => true,
    );
    const waits = t('{0} waits for the end of {1}…', title, session.run.title);
    return waitCancellably(waits, over, token);
  }

  private sayBusy(title: string): void {
    const { session } = this;
    const text = session
      ? t(
          '{0} is queued and starts when {1} ends. To run something else, cancel it.',
          title,
          session.run.title,
        )
      : t('{0} is being started.', title);
    say('Information', text);
  }

  private async start(
    scenario: ScenarioToRun,
    instead: string | undefined,
  ): Promise<EditorRun | undefined> {
    const { places } = this.services;
    const { uri, title, text, cluster, origin } = scenario;
    // Machines of a cluster have other cores.
    const workers = cluster === undefined ? workersOverride(text, setting('workers')) : [];
    const overrides = [...scenario.overrides, ...workers];
    const shell = await this.shellOf(scenario, overrides);
    const directories = places.for(uri);
    const request = { title, text, overrides, directories, keepGoing: setting('keepGoing') };
    const session = await (cluster === undefined
      ? startEditorRun(request, shell)
      : this.startElsewhere(title, async (start) =>
          (await kubernetes()).startClusterRun(request, cluster, shell, start),
        ));
    if (session) await this.began(session, { uri, origin, instead });
    return session;
  }

  private async startAttached({
    run,
    folder,
    cluster,
  }: RunOfCluster): Promise<EditorRun | undefined> {
    const { places, state } = this.services;
    const written = folder === undefined ? undefined : state.originOf(folder);
    const origin = written === undefined ? undefined : vscode.Uri.parse(written);
    const nothing = { uri: vscode.Uri.file('/'), title: run, text: '', overrides: [] };
    let session: EditorRun | undefined;
    const shell = {
      ...(await this.shellOf({ ...nothing, origin }, [])),
      runAgain: () =>
        inBackground(vscode.commands.executeCommand('signalrBenchmark.runAgain', session?.folder)),
    };
    const elsewhere = { cluster, run, key: await this.busKeys.get(run) };
    session = await this.startElsewhere(run, async (start) =>
      (await kubernetes()).attachClusterRun(
        elsewhere,
        { directories: places.for(origin) },
        shell,
        start,
      ),
    );
    if (session === undefined) return undefined;
    // The new folder holds the old samples too.
    if (folder !== undefined) await this.remember(() => superseded(folder));
    const uri = vscode.Uri.file(path.join(session.folder, scenarioFile));
    const instead = folder === undefined ? undefined : path.basename(folder);
    await this.began(session, { uri, origin, instead });
    return session;
  }

  private async began(
    session: EditorRun,
    {
      uri,
      origin,
      instead,
    }: Pick<ScenarioToRun, 'uri' | 'origin'> & { instead?: string | undefined },
  ): Promise<void> {
    const { log, index, running, state } = this.services;
    const { elsewhere, folder } = session;
    log.info(`${session.run.title} → ${session.run.targetUrl}, result in ${folder}`);
    this.session = session;
    this.latest = session;
    // First, so that the run is followed whatever fails below.
    inBackground(this.follow(session, uri));
    if (this.stopsAtStart) session.stop();
    await running.set(uri);
    if (origin) await this.remember(() => state.setOrigin(folder, origin.toString()));
    await this.remember(() => state.addUnfinishedRun({ folder, pid: process.pid }));
    if (elsewhere !== undefined) {
      const { key, run, cluster } = elsewhere;
      await this.remember(() => state.setClusterRun({ folder, run, cluster }));
      if (key !== undefined) await this.remember(() => this.busKeys.set(run, key));
    }
    this.showRun(session, instead);
    showStatus(session, () => this.isShown(session), this.panelEmitter.event);
    index.refresh();
  }

  private async startElsewhere(
    title: string,
    go: (start: ClusterStart) => Promise<EditorRun | undefined>,
  ): Promise<EditorRun | undefined> {
    const leaving = new AbortController();
    const isUnwanted = (): boolean => leaving.signal.aborted;
    this.leaving = leaving;
    try {
      return await showWhile(
        title,
        (report, token) => {
          token.onCancellationRequested(() => leaving.abort(calledOff()));
          const progress = (message: string): void => {
            this.services.log.info(message);
            report(message);
          };
          const started = go({ progress, leaving });
          this.startingElsewhere = started;
          return started;
        },
        true,
      );
    } catch (error) {
      if (isUnwanted()) return undefined;
      throw error;
    } finally {
      this.startingElsewhere = undefined;
      this.leaving = undefined;
    }
  }

  /** Failing to store state must not end a run. */
  private async remember(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.services.log.error(error);
    }
  }

  private async follow(session: EditorRun, uri: vscode.Uri): Promise<void> {
    const { index, log, places, running, state } = this.services;
    const { folder } = session;
    const changes = watchScenario(uri, folder);
    try {
      const result = await session.finished;
      // A result stored while the window closes is offered at the next start.
      if (result.ending !== 'interrupted')
        await this.remember(() => state.removeUnfinishedRun(folder));
      await this.rememberTarget(result);
      log.info(verdictSentence(result));
      inBackground(this.sayResult(session, result));
    } catch (error) {
      log.error(error);
      say('Error', errorText(error));
    } finally {
      changes.dispose();
      const { elsewhere } = session;
      if (elsewhere !== undefined) await this.remember(() => this.busKeys.delete(elsewhere.run));
      if (this.session === session) this.session = undefined;
      await running.set(undefined);
      index.refresh();
    }
    if (uri.scheme === 'file') await this.remember(() => places.offerIgnore(session.folder));
  }

  private async rememberTarget({ target, connections }: Result): Promise<void> {
    if (targetRole(target) !== 'userHub' || connections.connected === 0) return;
    for (const url of target.url.split(', ').slice(0, 5))
      await this.services.state.rememberHub(url);
  }

  private async shellOf(
    scenario: ScenarioToRun,
    overrides: readonly Override[],
  ): Promise<EditorShell> {
    const { uri, origin, text } = scenario;
    const { log, secrets, serverScript, state } = this.services;
    const values = overrides.map(({ value }) => value);
    const reference = await secrets.referencesOf([text, ...values]);
    const { scheme, fsPath } = origin ?? uri;
    const folder = scheme === 'file' ? path.dirname(fsPath) : process.cwd();
    const readFile = (name: string, mostBytes?: number) => readNamedFile(folder, name, mostBytes);
    // Commands of scenarios run only in trusted workspaces.
    const commandFolder = vscode.workspace.isTrusted ? folder : undefined;
    return {
      context: { reference, serverScript, editorAccount, readFile, folder, commandFolder },
      workerScript: this.extension.asAbsolutePath(path.join('dist', 'worker.js')),
      confirm: (asked, of) => confirmLoad(asked, of, state, scenario.isByTool === true),
      waiting: (url, _withinMs, over) => showWaiting(url, over),
      say: (what, text) => this.say(what, text),
      t,
      startTime: () => this.startTime(),
      runAgain: (id) => inBackground(this.runAgain(scenario, id)),
      openScenario: (result) => inBackground(openScenarioAsRun(result, origin, log)),
      copySummary: (result) => inBackground(copySummary(result)),
      notCompared: (why) => log.info(`Not compared with a baseline: ${why}.`),
    };
  }

  private say(what: Saying, text: string): void {
    const message =
      what === 'unstored'
        ? t(
            '{0} The panel shows it until the window closes. Copy its summary to keep it.',
            text,
          ).trim()
        : text;
    this.services.log.warn(message);
    if (what === 'server' && this.isShown(this.session)) return;
    say('Warning', message.split('\n')[0]!);
  }

  /** Whether the panel of a run is visible, which says the same as its messages. */
  private isShown(session: EditorRun | undefined): boolean {
    return this.panel !== undefined && this.panel.of === session && this.panel.view.visible;
  }

  private async sayResult(session: EditorRun, result: Result): Promise<void> {
    if (this.isShown(session)) return;
    const asWanted = result.verdict.status === 'pass' || result.ending === 'stopped';
    const sentence = sayWords(verdictWords(result).words, t);
    const text = `${session.run.title}: ${sentence}`;
    await offer(asWanted ? 'Information' : 'Warning', text, {
      [t('Open Result')]: () => this.showRun(session),
      [t('Copy Summary')]: () => copySummary(result),
    });
  }

  /** `agents` above one needs more machines. */
  private async offerPlaces(scenario: ScenarioToRun): Promise<void> {
    const { uri, overrides, title } = scenario;
    const question = t('{0} asks for several agents, which share the load of a run.', title);
    const here = { path: 'config.agents', value: '1' };
    await offer('Information', question, {
      [t('Run on Kubernetes…')]: () =>
        vscode.commands.executeCommand('signalrBenchmark.runOnKubernetes', uri),
      [t('Run on This Machine')]: () => this.run({ ...scenario, overrides: [...overrides, here] }),
    });
  }

  private async sayWhy(error: unknown, { scenario, uri }: Started): Promise<void> {
    const code = error instanceof ExpectedError ? error.code : '';
    if (code === 'hub-methods') {
      await sayMissingMethods(error as MissingMethods, this.services.serverScript);
      return;
    }
    if (code === 'scenario-problems' && uri !== undefined) {
      await vscode.window.showTextDocument(uri).then(undefined, () => undefined);
      await ask('Error', errorText(error));
      return;
    }
    if (code === 'agents' && scenario !== undefined) {
      await this.offerPlaces(scenario);
      return;
    }
    await offer('Error', errorText(error), {
      ...(code === 'missing-reference' && {
        [t('Add Target…')]: () => vscode.commands.executeCommand('signalrBenchmark.addTarget'),
      }),
      [t('Show Log')]: () => this.services.log.show(),
    });
  }
}

async function superseded(folder: string): Promise<void> {
  if (!existsSync(path.join(folder, resultFile)))
    await rm(folder, { recursive: true, force: true });
}

export const kubernetes = () => import(/* webpackChunkName: "run" */ './kubernetesRun.js');

const calledOff = (): ExpectedError =>
  new ExpectedError('not-confirmed', t('The run was called off before it began.'));

async function copySummary(result: Result | undefined): Promise<void> {
  if (!result) {
    say('Information', t('The summary is available when the run is over.'));
    return;
  }
  await copyMarkdown(summaryMarkdown(result));
}

export async function copyMarkdown(text: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
  sayBriefly(t('Summary copied as Markdown.'), 3000);
}

/** Opens the scenario of a result: the file itself if unchanged, a diff if changed, else the stored copy. */
export async function openScenarioAsRun(
  folder: string,
  origin: vscode.Uri | undefined,
  log: Log,
): Promise<void> {
  try {
    await openAsRun(folder, origin);
  } catch (error) {
    log.error(error);
    say('Error', errorText(error));
  }
}

async function openAsRun(folder: string, origin: vscode.Uri | undefined): Promise<void> {
  const copy = await readScenarioCopy(folder);
  const now = origin && (await textNow(origin));
  if (origin !== undefined && now === copy) {
    await vscode.window.showTextDocument(origin);
    return;
  }
  const shown = copyUri(folder);
  const name = path.posix.basename(origin?.path ?? '');
  if (origin === undefined || now === undefined) {
    await vscode.window.showTextDocument(shown, { preview: true });
    const gone = t('{0} is no longer there. This is the copy that was run.', name);
    if (origin) say('Warning', gone);
    return;
  }
  const title = t('{0}: as it was run ↔ now', name);
  await vscode.commands.executeCommand('vscode.diff', shown, origin, title, { preview: true });
}

/** The path names the tab; the query has the folder. */
export function copyUri(folder: string): vscode.Uri {
  const { scenario } = parseFolderName(path.basename(folder));
  const name = t('{0} (as it was run).yaml', scenario);
  return vscode.Uri.from({ scheme: runCopyScheme, path: `/${name}`, query: folder });
}

/** Bounded: the file may have been replaced. */
export const readScenarioCopy = (folder: string): Promise<string> =>
  readFileBounded(path.join(folder, scenarioFile));
