import path from 'node:path';
import * as vscode from 'vscode';
import { verdictSentence } from '../../measure/show/verdictSentence';
import type { Result } from '../../results/result';
import { positionAt } from '../../scenario/problem';
import { t } from '../log';
import { scenarioOnDisk, scenarioText, type ScenarioFiles } from '../scenarios/scenarioFiles';
import type { RunController } from './runController';
import type { Translate } from '../../base/text';
import { isUndecided } from '../../measure/judge/verdict';
import { missedObjectiveWords } from '../../measure/show/searchSentence';
import type { SloCheck, Verdict, VerdictStatus } from '../../measure/summary';
import {
  childNamed,
  nodeAt,
  outlineOf,
  unquotedValue,
  type OutlineNode,
} from '../../scenario/text/outline';
import { say, type Words } from '../../base/sentence';
import { isSameObjective, wordsWithoutStep } from '../../measure/judge/reason';

/** Copies beside results, build output and packages are no tests. */
const passedOver = /\/(?:node_modules|\.signalr-bench|\.git|out|dist|bin|obj)\//;

/** Scenarios with objectives as tests: one per file, one below it per objective. */
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

  /** One after the other: parallel runs would disturb each other. */
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

interface WrittenObjective {
  readonly metric: string;
  readonly name: string | undefined;
  readonly last: boolean;
  /** Position among equal ones, from 0. */
  readonly nth: number;
  readonly label: string;
  readonly offset: number;
  readonly length: number;
}

/** Objectives below `slo`, a map or a list, in file order; none if defaults apply. */
export function objectivesIn(text: string): WrittenObjective[] {
  const found: WrittenObjective[] = [];
  for (const node of nodeAt(outlineOf(text), ['slo'])?.children ?? []) {
    const one = objectiveAt(node);
    if (one) found.push({ ...one, nth: found.filter((other) => isAlike(one, other)).length });
  }
  return found;
}

function objectiveAt(node: OutlineNode): Omit<WrittenObjective, 'nth'> | undefined {
  const of = (key: string): string | undefined => unquotedValue(childNamed(node, key));
  const metric = node.item ? of('metric') : node.name;
  if (metric === undefined || metric === '') return undefined;
  const [name, limit] = [of('name'), of('limit') ?? unquotedValue(node)];
  const label = `${name ?? metric}${name === undefined ? '' : ` (${metric})`}: ${limit ?? '?'}`;
  const { offset, length } = node;
  return { metric, name, last: of('step') === 'last', label, offset, length };
}

type Sort = Pick<WrittenObjective, 'metric' | 'name' | 'last'>;

const isAlike = (a: Sort, b: Sort): boolean =>
  a.metric === b.metric && a.name === b.name && a.last === b.last;

type ObjectiveOutcome =
  | { readonly status: 'met' }
  | { readonly status: 'missed'; readonly words: string }
  | { readonly status: 'notMeasured' };

/**
 * The last step that missed the objective decides. In a search a miss counts only if the run failed: it looks for
 * the limit.
 */
export function outcomeOf(
  objective: WrittenObjective,
  { verdict, steps, search }: Pick<Result, 'verdict' | 'steps' | 'search'>,
  t: Translate,
): ObjectiveOutcome {
  let outcome: ObjectiveOutcome = { status: 'notMeasured' };
  const mayMiss = search === undefined || verdict.status === 'fail';
  const judge = (of: Verdict, where: (words: string) => string): void => {
    const check = checkOf(objective, of);
    // Invalid steps say nothing about the target.
    if (check === undefined || isUndecided(check) || unjudged.includes(of.status)) return;
    if (!check.met && !mayMiss) return;
    if (!check.met) outcome = { status: 'missed', words: where(say(reasonOf(check, of), t)) };
    else if (outcome.status === 'notMeasured') outcome = { status: 'met' };
  };
  judge(verdict, (words) => words);
  for (const step of steps) judge(step.verdict, (words) => t('step {0}: {1}', step.index, words));
  return outcome;
}

const unjudged: readonly VerdictStatus[] = ['invalid', 'incomplete'];

const checkOf = (objective: WrittenObjective, { checks = [] }: Verdict): SloCheck | undefined =>
  checks.filter(({ metric, name, step }) =>
    isAlike(objective, { metric, name, last: step === 'last' }),
  )[objective.nth];

const reasonOf = (check: SloCheck, { reasons }: Verdict): Words => {
  const reason = reasons.find(({ rule }) => rule && isSameObjective(rule, check));
  return reason === undefined ? missedObjectiveWords(check) : wordsWithoutStep(reason);
};
