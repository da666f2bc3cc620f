import * as vscode from 'vscode';
import type { Problem, Severity } from '../../scenario/problem';
import { analysisCache, type AnalysisCache } from './analysisCache';
import { codeLenses } from './codeLenses';
import { completionsAt, type Completion } from './completionsAt';
import { diagnosticsOf } from './diagnosticsOf';
import { documentSymbols, type SymbolText } from './documentSymbols';
import { environmentNames } from './environmentNames';
import { hoverAt } from './hoverAt';
import { inlayHints } from './inlayHints';
import { quickFixes } from './quickFixes';

type DocumentCache = AnalysisCache<vscode.TextDocument>;

/** What the language features need from the rest of the extension. */
export interface LanguageContext {
  /** Whether a document is a scenario; asked often, so it must be cheap. */
  isScenario(document: vscode.TextDocument): boolean;
  /** Names of the stored secrets, for completion. */
  secretNames(): readonly string[];
  /** Secrets, runs, marked files or settings changed: what is shown is asked for again. */
  readonly onRelevantChange: vscode.Event<void>;
  /** Outcome of the newest run of a scenario in words; undefined without one. */
  lastRun(uri: vscode.Uri): string | undefined;
}

/** YAML files of any name; which of them are scenarios is asked of each. */
const selector: vscode.DocumentSelector = [
  { language: 'yaml' },
  { pattern: '**/*.signalr.{yaml,yml}' },
];

/** Registers diagnostics, quick fixes, completion, hover, lenses, inlay hints and symbols for scenarios. */
export function registerLanguage(context: LanguageContext): vscode.Disposable {
  const cache = analysisCache((document: vscode.TextDocument) => context.isScenario(document));
  const refresh = new vscode.EventEmitter<void>();
  const { languages } = vscode;
  return vscode.Disposable.from(
    refresh,
    context.onRelevantChange(() => refresh.fire()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('signalrBenchmark')) refresh.fire();
    }),
    publishDiagnostics(cache, refresh.event),
    languages.registerCompletionItemProvider(
      selector,
      completionProvider(cache, context),
      ...[':', ' ', '$', '{'],
    ),
    languages.registerHoverProvider(selector, hoverProvider(cache)),
    languages.registerCodeLensProvider(selector, lensProvider(cache, context, refresh.event)),
    languages.registerInlayHintsProvider(selector, hintsProvider(cache, refresh.event)),
    languages.registerDocumentSymbolProvider(selector, symbolProvider(cache)),
    languages.registerCodeActionsProvider(selector, codeActionsProvider(cache), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}

const switchedOn = (name: 'codeLens' | 'inlayHints' | 'hoverEstimate'): boolean =>
  vscode.workspace.getConfiguration('signalrBenchmark').get<boolean>(name, true);

function hoverProvider(cache: DocumentCache): vscode.HoverProvider {
  return {
    provideHover(document, position) {
      const analysis = cache.analysisOf(document);
      if (analysis === undefined) return undefined;
      const options = { estimate: switchedOn('hoverEstimate') };
      const hover = hoverAt(analysis, document.offsetAt(position), options);
      if (hover === undefined) return undefined;
      return new vscode.Hover(new vscode.MarkdownString(hover.markdown), rangeOf(document, hover));
    },
  };
}

function lensProvider(
  cache: DocumentCache,
  context: LanguageContext,
  refresh: vscode.Event<void>,
): vscode.CodeLensProvider {
  return {
    onDidChangeCodeLenses: refresh,
    provideCodeLenses(document) {
      const analysis = switchedOn('codeLens') ? cache.analysisOf(document) : undefined;
      if (analysis === undefined) return [];
      const top = new vscode.Range(0, 0, 0, 0);
      return codeLenses(analysis, context.lastRun(document.uri), vscode.l10n.t).map(
        ({ title, runs }) =>
          new vscode.CodeLens(
            top,
            runs
              ? { title, command: 'signalrBenchmark.run', arguments: [document.uri] }
              : { title, command: '' },
          ),
      );
    },
  };
}

function hintsProvider(
  cache: DocumentCache,
  refresh: vscode.Event<void>,
): vscode.InlayHintsProvider {
  return {
    onDidChangeInlayHints: refresh,
    provideInlayHints(document, range) {
      const analysis = switchedOn('inlayHints') ? cache.analysisOf(document) : undefined;
      return (analysis === undefined ? [] : inlayHints(analysis))
        .map(({ offset, label }) => ({ position: document.positionAt(offset), label }))
        .filter(({ position }) => range.contains(position))
        .map(({ position, label }) => {
          const hint = new vscode.InlayHint(position, label);
          hint.paddingLeft = true;
          return hint;
        });
    },
  };
}

function completionProvider(
  cache: DocumentCache,
  context: LanguageContext,
): vscode.CompletionItemProvider {
  return {
    provideCompletionItems(document, position) {
      const analysis = cache.analysisOf(document);
      if (analysis === undefined) return undefined;
      const names = {
        environment: environmentNames(process.env, analysis.text),
        secrets: context.secretNames(),
      };
      const found = completionsAt(analysis, document.offsetAt(position), names, vscode.l10n.t);
      // What follows the cursor is replaced where people chose that completions do so.
      const word = document.getWordRangeAtPosition(position)?.end ?? position;
      return found.map((completion, index) => completionItem(document, completion, index, word));
    },
  };
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
  if (goesOn === true) {
    item.command = { title: '', command: 'editor.action.triggerSuggest' };
  }
  return item;
}

const symbolKinds: Readonly<Record<SymbolText['kind'], vscode.SymbolKind>> = {
  section: vscode.SymbolKind.Module,
  entry: vscode.SymbolKind.Object,
  key: vscode.SymbolKind.Property,
};

function symbolProvider(cache: DocumentCache): vscode.DocumentSymbolProvider {
  return {
    provideDocumentSymbols(document) {
      const analysis = cache.analysisOf(document);
      const shown = (symbol: SymbolText): vscode.DocumentSymbol => {
        const { name, detail, kind, offset, nameLength, children } = symbol;
        const found = new vscode.DocumentSymbol(
          name,
          detail,
          symbolKinds[kind],
          rangeOf(document, symbol),
          rangeOf(document, { offset, length: nameLength }),
        );
        found.children = children.map(shown);
        return found;
      };
      return analysis === undefined ? [] : documentSymbols(analysis).map(shown);
    },
  };
}

/** Time without typing after which problems are shown. */
const debounceMs = 100;

const severities: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
};

/** Keeps the problems of all open scenarios up to date; they vanish when a document is closed. */
function publishDiagnostics(cache: DocumentCache, refresh: vscode.Event<void>): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('signalrBenchmark');
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const cancel = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
  };
  const show = (document: vscode.TextDocument): void => {
    if (document.isClosed) return;
    const analysis = cache.analysisOf(document);
    if (analysis === undefined) {
      collection.delete(document.uri);
      return;
    }
    const shown = diagnosticsOf(analysis).map((problem) => {
      const range = rangeOf(document, problem);
      const found = new vscode.Diagnostic(range, problem.message, severities[problem.severity]);
      found.code = problem.code;
      found.source = 'SignalR Benchmark';
      return found;
    });
    collection.set(document.uri, shown);
  };
  const later = (document: vscode.TextDocument): void => {
    if (document.languageId !== 'yaml' && !/\.ya?ml$/i.test(document.fileName)) return;
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
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      cancel(uri.toString());
      collection.delete(uri);
    }),
    refresh(all),
    new vscode.Disposable(() => {
      for (const key of [...timers.keys()]) cancel(key);
    }),
  );
}

/** Moves the text of a range into secret storage and writes a reference in its place. */
const moveSecretCommand = 'signalrBenchmark.moveSecret';

/** Quick fixes of the problems at the cursor. */
function codeActionsProvider(cache: DocumentCache): vscode.CodeActionProvider {
  return {
    provideCodeActions(document, range, { diagnostics }) {
      const analysis = cache.analysisOf(document);
      if (analysis === undefined) return [];
      return diagnosticsOf(analysis)
        .filter((problem) => rangeOf(document, problem).intersection(range) !== undefined)
        .flatMap((problem) => {
          const solved = diagnostics.filter(
            ({ code, range: place }) =>
              code === problem.code && place.isEqual(rangeOf(document, problem)),
          );
          const fixes = quickFixes(analysis, problem, vscode.l10n.t).map(({ title, changes }) => {
            const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
            action.edit = new vscode.WorkspaceEdit();
            for (const change of changes) {
              action.edit.replace(document.uri, rangeOf(document, change), change.text);
            }
            return action;
          });
          const actions = [...moveSecret(document, problem), ...fixes];
          for (const [position, action] of actions.entries()) {
            action.diagnostics = solved;
            action.isPreferred = position === 0;
          }
          return actions;
        });
    },
  };
}

function moveSecret(document: vscode.TextDocument, problem: Problem): vscode.CodeAction[] {
  if (problem.code !== 'secret-in-file') return [];
  const title = vscode.l10n.t('Move into secret storage');
  const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  const range = rangeOf(document, problem);
  action.command = { title, command: moveSecretCommand, arguments: [document.uri, range] };
  return [action];
}

/** Lines and columns of a range of the text. */
function rangeOf(
  document: vscode.TextDocument,
  { offset, length }: { readonly offset: number; readonly length: number },
): vscode.Range {
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}
