import path from 'node:path';
import * as vscode from 'vscode';
import { secretInFileCode } from '../../scenario/check/checkTarget';
import { t, inBackground } from '../log';
import { tooLarge, type Problem, type Severity } from '../../scenario/problem';
import { NamedFiles } from '../../run/namedFiles';
import { setting } from '../services';
import {
  analysisCache,
  diagnosticsOf,
  isEditableScheme,
  isYamlTooling,
  withoutReportedErrors,
  type AnalysisCache,
} from './analyseScenario';
import { completionsAt, environmentNames, type Completion } from './completionsAt';
import { hoverAt } from './hoverAt';
import {
  documentSymbols,
  codeLenses,
  inlayHints,
  type SymbolText,
  type LensText,
} from './lensesAndHints';
import { quickFixes } from './quickFixes';

export interface LanguageContext {
  isScenario(document: vscode.TextDocument): boolean;
  secretNames(): readonly string[];
  hubs(): readonly string[];
  /** Secrets, runs, marked files or settings changed: everything shown is requested again. */
  readonly onRelevantChange: vscode.Event<void>;
  isRunning(uri: vscode.Uri): boolean;
  lastRun(uri: vscode.Uri): { readonly words: string; readonly folder: string } | undefined;
}

export class LanguageProviders implements vscode.Disposable {
  private readonly cache: AnalysisCache<vscode.TextDocument>;
  private readonly diagnostics: vscode.Disposable;
  /** URI of the document whose next hover shows the estimate. */
  private asked: string | undefined;
  private estimateSeen = false;

  constructor(private readonly context: LanguageContext) {
    this.cache = analysisCache({
      isScenario: (document: vscode.TextDocument) => context.isScenario(document),
      // The position is clamped to the end, without building the whole text.
      sizeOf: (document) => document.offsetAt(new vscode.Position(document.lineCount, 0)),
    });
    this.diagnostics = publishDiagnostics(this.cache, context.onRelevantChange);
  }

  /** Makes the next hover show the estimate, even when the setting is off. */
  showEstimateNext(uri: vscode.Uri): void {
    this.asked = uri.toString();
  }

  hover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const analysis = this.cache.analysisOf(document);
    if (analysis === undefined) return undefined;
    const asked = this.asked === document.uri.toString();
    if (asked) this.asked = undefined;
    const options = { estimate: asked ? ('first' as const) : setting('hoverEstimate') };
    const hover = hoverAt(analysis, document.offsetAt(position), options);
    if (hover === undefined) return undefined;
    if (hover.estimated) this.tickEstimate();
    return new vscode.Hover(new vscode.MarkdownString(hover.markdown), rangeOf(document, hover));
  }

  private tickEstimate(): void {
    if (this.estimateSeen) return;
    this.estimateSeen = true;
    inBackground(
      vscode.commands.executeCommand('setContext', 'signalrBenchmark.estimateSeen', true),
    );
  }

  lenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const shown = setting('codeLens') && isWorkedOn(document);
    const analysis = shown ? this.cache.analysisOf(document) : undefined;
    if (analysis === undefined) return [];
    const top = new vscode.Range(0, 0, 0, 0);
    const last = this.context.lastRun(document.uri);
    const commands: Readonly<Record<LensText['opens'], Omit<vscode.Command, 'title'>>> = {
      run: { command: 'signalrBenchmark.run', arguments: [document.uri] },
      search: { command: 'signalrBenchmark.findCapacity', arguments: [document.uri] },
      stop: { command: 'signalrBenchmark.stop' },
      estimate: { command: 'signalrBenchmark.showEstimate', arguments: [document.uri] },
      result: { command: 'signalrBenchmark.openResult', arguments: [last?.folder] },
    };
    const running = this.context.isRunning(document.uri);
    return codeLenses(analysis, { running, lastRun: last?.words }, t).map(
      ({ title, opens }) => new vscode.CodeLens(top, { title, ...commands[opens] }),
    );
  }

  hints(document: vscode.TextDocument, range: vscode.Range): vscode.InlayHint[] {
    const analysis = setting('inlayHints') ? this.cache.analysisOf(document) : undefined;
    return (analysis === undefined ? [] : inlayHints(analysis, t))
      .map(({ offset, label }) => new vscode.InlayHint(document.positionAt(offset), label))
      .filter(({ position }) => range.contains(position))
      .map((hint) => Object.assign(hint, { paddingLeft: true }));
  }

  completions(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.CompletionItem[] | undefined {
    const analysis = this.cache.analysisOf(document);
    if (analysis === undefined) return undefined;
    const names = {
      environment: environmentNames(process.env, analysis.text),
      secrets: this.context.secretNames(),
      hubs: this.context.hubs(),
    };
    const found = completionsAt(analysis, document.offsetAt(position), names, t);
    // VS Code replaces the rest of the word where the user prefers that.
    const word = document.getWordRangeAtPosition(position)?.end ?? position;
    return found.map((completion, index) => completionItem(document, completion, index, word));
  }

  symbols(document: vscode.TextDocument): vscode.DocumentSymbol[] {
    const analysis = this.cache.analysisOf(document);
    const shown = (symbol: SymbolText): vscode.DocumentSymbol => {
      const { name, detail, kind, offset, nameLength, children } = symbol;
      const [whole, key] = [symbol, { offset, length: nameLength }].map((range) =>
        rangeOf(document, range),
      ) as [vscode.Range, vscode.Range];
      const found = new vscode.DocumentSymbol(name, detail, symbolKinds[kind], whole, key);
      found.children = children.map(shown);
      return found;
    };
    return analysis === undefined ? [] : documentSymbols(analysis).map(shown);
  }

  fixes(
    document: vscode.TextDocument,
    range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    const analysis = this.cache.analysisOf(document);
    if (analysis === undefined) return [];
    return diagnosticsOf(analysis)
      .filter((problem) => rangeOf(document, problem).intersection(range) !== undefined)
      .slice(0, Math.ceil(mostTried / (analysis.text.length + 1)))
      .flatMap((problem) => {
        const place = rangeOf(document, problem);
        const solved = diagnostics.filter(
          (shown) => shown.code === problem.code && place.isEqual(shown.range),
        );
        const fixes = quickFixes(analysis, problem, t).map(({ title, changes }) => {
          const edit = new vscode.WorkspaceEdit();
          for (const change of changes)
            edit.replace(document.uri, rangeOf(document, change), change.text);
          return Object.assign(quickFix(title), { edit });
        });
        return [...moveSecret(document, problem), ...fixes].map((action, at) =>
          Object.assign(action, { diagnostics: solved, isPreferred: at === 0 }),
        );
      });
  }

  dispose(): void {
    this.diagnostics.dispose();
  }
}

const itemKinds: Readonly<Record<Completion['kind'], vscode.CompletionItemKind>> = {
  key: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.Value,
  reference: vscode.CompletionItemKind.Variable,
  scenario: vscode.CompletionItemKind.Snippet,
};

function completionItem(
  document: vscode.TextDocument,
  completion: Completion,
  index: number,
  wordEnd: vscode.Position,
): vscode.CompletionItem {
  const { kind, label, insert, snippet, detail, documentation, goesOn } = completion;
  const item = new vscode.CompletionItem(label, itemKinds[kind]);
  const inserting = rangeOf(document, completion);
  const replacing = wordEnd.isAfter(inserting.end) ? inserting.with({ end: wordEnd }) : inserting;
  item.range = { inserting, replacing };
  item.insertText = snippet ? new vscode.SnippetString(insert) : insert;
  item.filterText = label;
  item.sortText = String(index).padStart(4, '0');
  if (detail !== undefined) item.detail = detail;
  if (documentation !== undefined) item.documentation = new vscode.MarkdownString(documentation);
  if (goesOn === true) item.command = { title: '', command: 'editor.action.triggerSuggest' };
  return item;
}

const symbolKinds: Readonly<Record<SymbolText['kind'], vscode.SymbolKind>> = {
  section: vscode.SymbolKind.Module,
  entry: vscode.SymbolKind.Object,
  key: vscode.SymbolKind.Property,
};

const moveSecretCommand = 'signalrBenchmark.moveSecret';

/** Each fix is tried on the text before it is offered; this bounds the characters parsed for that. */
const mostTried = 200_000;

const quickFix = (title: string): vscode.CodeAction =>
  new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);

function moveSecret(document: vscode.TextDocument, problem: Problem): vscode.CodeAction[] {
  if (problem.code !== secretInFileCode) return [];
  const title = t('Move into secret storage');
  const place = [document.uri, rangeOf(document, problem)];
  const command = { title, command: moveSecretCommand, arguments: place };
  return [Object.assign(quickFix(title), { command })];
}

const debounceMs = 100;

const severities: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
};

/** Publishes the problems of open scenarios, except those that other YAML tooling reports. */
function publishDiagnostics(
  cache: AnalysisCache<vscode.TextDocument>,
  refresh: vscode.Event<void>,
): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('signalrBenchmark');
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const others = new Map<string, string>();
  const ofFiles = filesOfDocuments(cache);
  const cancel = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
  };
  const show = (document: vscode.TextDocument): void => {
    if (document.isClosed) return;
    const problems = problemsIn(cache, document);
    if (problems === undefined) {
      others.delete(document.uri.toString());
      collection.delete(document.uri);
      return;
    }
    const lines = linesOfOthers(document.uri);
    others.set(document.uri.toString(), lines.join());
    const lineOf = ({ offset }: Problem): number => document.positionAt(offset).line;
    const all = [...problems, ...ofFiles.problemsIn(document)];
    const shown = withoutReportedErrors(all, lineOf, new Set(lines)).map((problem) => {
      const range = rangeOf(document, problem);
      const found = new vscode.Diagnostic(range, problem.message, severities[problem.severity]);
      found.code = problem.code;
      found.source = 'SignalR Benchmark';
      return found;
    });
    collection.set(document.uri, shown);
    inBackground(ofFiles.look(document).then((isDifferent) => isDifferent && show(document)));
  };
  const later = (document: vscode.TextDocument): void => {
    if (document.languageId !== 'yaml' || !isWorkedOn(document)) return;
    const key = document.uri.toString();
    cancel(key);
    timers.set(
      key,
      setTimeout(() => {
        timers.delete(key);
        show(document);
      }, debounceMs),
    );
  };
  const all = (): void => vscode.workspace.textDocuments.forEach(later);
  all();
  return vscode.Disposable.from(
    collection,
    vscode.workspace.onDidOpenTextDocument(later),
    vscode.workspace.onDidChangeTextDocument(({ document }) => later(document)),
    // The saved file may be one that a scenario names.
    vscode.workspace.onDidSaveTextDocument(all),
    vscode.window.onDidChangeActiveTextEditor((editor) => editor && later(editor.document)),
    vscode.workspace.onDidGrantWorkspaceTrust(all),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      cancel(uri.toString());
      others.delete(uri.toString());
      collection.delete(uri);
    }),
    vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      // Our own diagnostics also arrive here and change nothing.
      const changed = uris.filter((uri) => {
        const before = others.get(uri.toString());
        return before !== undefined && before !== linesOfOthers(uri).join();
      });
      const keys = new Set(changed.map((uri) => uri.toString()));
      if (keys.size === 0) return;
      vscode.workspace.textDocuments.filter(({ uri }) => keys.has(uri.toString())).forEach(later);
    }),
    refresh(all),
    new vscode.Disposable(() => {
      for (const key of [...timers.keys()]) cancel(key);
    }),
  );
}

function filesOfDocuments(cache: AnalysisCache<vscode.TextDocument>) {
  const named = new WeakMap<vscode.TextDocument, NamedFiles>();
  return {
    problemsIn: (document: vscode.TextDocument): readonly Problem[] =>
      named.get(document)?.problemsIn(document.getText()) ?? [],
    async look(document: vscode.TextDocument): Promise<boolean> {
      const analysis = cache.analysisOf(document);
      const { uri } = document;
      // A foreign scenario may name any file, even on another machine.
      if (analysis === undefined || uri.scheme !== 'file' || !vscode.workspace.isTrusted)
        return false;
      const files = named.get(document) ?? new NamedFiles();
      named.set(document, files);
      return files.look(analysis, path.dirname(uri.fsPath));
    },
  };
}

function problemsIn(
  cache: AnalysisCache<vscode.TextDocument>,
  document: vscode.TextDocument,
): readonly Problem[] | undefined {
  // Nobody edits such a file as a scenario: a hint says why nothing else is shown.
  if (cache.isTooLarge(document)) return [{ ...tooLarge, severity: 'info' }];
  const analysis = cache.analysisOf(document);
  return analysis && diagnosticsOf(analysis);
}

function linesOfOthers(uri: vscode.Uri): readonly number[] {
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ source }) => isYamlTooling(source))
    .map(({ range }) => range.start.line)
    .sort((a, b) => a - b);
}

const isWorkedOn = ({ uri }: vscode.TextDocument): boolean =>
  isEditableScheme(
    uri.scheme,
    (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme),
  );

function rangeOf(
  document: vscode.TextDocument,
  { offset, length }: { readonly offset: number; readonly length: number },
): vscode.Range {
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}
