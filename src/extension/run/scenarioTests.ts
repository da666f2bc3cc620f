import path from 'node:path';
import * as vscode from 'vscode';
import { verdictSentence } from '../../measure/show/verdictSentence';
import type { Result } from '../../results/result';
import { positionAt } from '../../scenario/problem';
import { t } from '../log';
import { scenarioOnDisk, scenarioText, type ScenarioFiles } from '../scenarios/scenarioFiles';
import type { RunController } from './runController';
import { objectivesIn, outcomeOf, type WrittenObjective } from './scenarioObjectives';

/** Copies beside results, and what is built or installed, are nobody's tests. */
const passedOver = /\/(?:node_modules|\.signalr-bench|\.git|out|dist|bin|obj)\//;

/** Scenarios with objectives as tests: one for each file, below it one for each objective. */
export class ScenarioTests implements vscode.Disposable {
  private readonly objectives = new WeakMap<vscode.TestItem, WrittenObjective>();
  private readonly all: vscode.Disposable;

  constructor(
    private readonly tests: vscode.TestController,
    private readonly runs: Pick<RunController, 'runToEnd'>,
    private readonly files: Pick<ScenarioFiles, 'inWorkspace'>,
  ) {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.{yaml,yml}');
    tests.refreshHandler = () => this.discover();
    this.all = vscode.Disposable.from(
      watcher,
      watcher.onDidCreate((uri) => this.update(uri)),
      watcher.onDidChange((uri) => this.update(uri)),
      watcher.onDidDelete((uri) => tests.items.delete(uri.toString())),
      tests.createRunProfile(
        t('Run'),
        vscode.TestRunProfileKind.Run,
        (request, token) => this.run(request, token),
        true,
      ),
    );
  }

  async discover(): Promise<void> {
    const uris = await this.files.inWorkspace();
    const known = new Set(uris.map((uri) => uri.toString()));
    for (const [id] of [...this.tests.items]) if (!known.has(id)) this.tests.items.delete(id);
    await Promise.all(uris.map((uri) => this.update(uri)));
  }

  private async update(uri: vscode.Uri): Promise<void> {
    if (passedOver.test(uri.path)) return;
    const text = await scenarioOnDisk(uri);
    const objectives = text === undefined ? [] : objectivesIn(text);
    if (text === undefined || objectives.length === 0) {
      this.tests.items.delete(uri.toString());
      return;
    }
    const item = this.tests.createTestItem(uri.toString(), path.posix.basename(uri.path), uri);
    const folder = path.posix.dirname(vscode.workspace.asRelativePath(uri));
    if (folder !== '.') item.description = folder;
    item.children.replace(
      objectives.map((objective, at) => {
        const { label, offset, length } = objective;
        const child = this.tests.createTestItem(`${uri.toString()}#${at}`, label, uri);
        child.range = new vscode.Range(placeOf(text, offset), placeOf(text, offset + length));
        child.sortText = String(at).padStart(4, '0');
        this.objectives.set(child, objective);
        return child;
      }),
    );
    this.tests.items.add(item);
  }

  /** One after the other: two runs would measure each other. */
  private async run(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const run = this.tests.createTestRun(request);
    const chosen = request.include ?? [...this.tests.items].map(([, item]) => item);
    const items = [...new Set(chosen.map((item) => item.parent ?? item))].filter(
      (item) => request.exclude?.includes(item) !== true,
    );
    for (const item of items) run.enqueued(item);
    try {
      for (const item of items) {
        if (token.isCancellationRequested) run.skipped(item);
        else await this.runOne(item, run, token);
      }
    } finally {
      run.end();
    }
  }

  private async runOne(
    item: vscode.TestItem,
    run: vscode.TestRun,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const children = [...item.children].map(([, child]) => child);
    for (const each of [item, ...children]) run.started(each);
    try {
      const uri = item.uri!;
      const text = await scenarioText(uri);
      const title = path.posix.basename(uri.path);
      const scenario = { uri, origin: uri, title, text, overrides: [] };
      const result = await this.runs.runToEnd(scenario, token);
      if (result) this.report(item, children, result, run);
      else run.errored(item, new vscode.TestMessage(t('The run did not start.')));
    } catch (error) {
      run.errored(item, new vscode.TestMessage(error instanceof Error ? error.message : '?'));
    }
  }

  private report(
    item: vscode.TestItem,
    children: readonly vscode.TestItem[],
    result: Result,
    run: vscode.TestRun,
  ): void {
    const sentence = verdictSentence(result, t);
    const tookMs = Date.parse(result.endedAt) - Date.parse(result.startedAt);
    run.appendOutput(`${item.label}: ${sentence}\r\n`, undefined, item);
    for (const child of children) {
      const objective = this.objectives.get(child);
      const outcome = objective && outcomeOf(objective, result, t);
      if (outcome?.status === 'met') run.passed(child);
      else if (outcome?.status === 'missed') run.failed(child, messageAt(child, outcome.words));
      else run.skipped(child);
    }
    const { status } = result.verdict;
    if (status === 'pass') run.passed(item, tookMs);
    else if (status === 'incomplete') run.skipped(item);
    else if (status === 'invalid') run.errored(item, new vscode.TestMessage(sentence), tookMs);
    else run.failed(item, new vscode.TestMessage(sentence), tookMs);
  }

  dispose(): void {
    this.all.dispose();
  }
}

/** Shown at the line of the objective. */
function messageAt({ uri, range }: vscode.TestItem, words: string): vscode.TestMessage {
  const message = new vscode.TestMessage(words);
  if (uri && range) message.location = new vscode.Location(uri, range);
  return message;
}

/** Without a document: opening one would list its problems. */
function placeOf(text: string, offset: number): vscode.Position {
  const { line, column } = positionAt(text, offset);
  return new vscode.Position(line - 1, column - 1);
}
