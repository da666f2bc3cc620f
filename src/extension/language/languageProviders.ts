import * as vscode from 'vscode';
import { secretInFile } from '../../scenario/moveSecret';
import type { Problem } from '../../scenario/problem';
import { setting } from '../services';
import { analysisCache, type AnalysisCache } from './analyseScenario';
import { completionsAt } from './completionsAt';
import { diagnosticsOf } from './diagnosticsOf';
import { documentSymbols, type SymbolText } from './documentSymbols';
import { hoverAt } from './hoverAt';
import { codeLenses, inlayHints, type LensText } from './lensesAndHints';
import { environmentNames, type Completion } from './proposals';
import { isWorkedOn, publishDiagnostics, rangeOf } from './publishDiagnostics';
import { quickFixes } from './quickFixes';

type DocumentCache = AnalysisCache<vscode.TextDocument>;

/** What the language features need from the rest of the extension. */
export interface LanguageContext {
  isScenario(document: vscode.TextDocument): boolean;
  secretNames(): readonly string[];
  hubs(): readonly string[];
  /** Secrets, runs, marked files or settings changed: what is shown is asked for again. */
  readonly onRelevantChange: vscode.Event<void>;
  isRunning(uri: vscode.Uri): boolean;
  /** Outcome of the newest run of a scenario in words, and its folder; undefined without one. */
  lastRun(uri: vscode.Uri): LastRun | undefined;
}

export interface LastRun {
  readonly words: string;
  readonly folder: string;
}

/** What answers the editor's questions about scenarios. */
export interface LanguageProviders {
  readonly completion: vscode.CompletionItemProvider;
  readonly hover: vscode.HoverProvider;
  readonly codeLens: vscode.CodeLensProvider;
  readonly inlayHints: vscode.InlayHintsProvider;
  readonly symbols: vscode.DocumentSymbolProvider;
  readonly codeActions: vscode.CodeActionProvider;
  /** The next hover of a document shows the estimate, even when hovers are set not to; once. */
  showEstimateNext(uri: vscode.Uri): void;
  dispose(): void;
}

/** Publishes diagnostics of scenarios, and makes what answers questions about them. */
export function languageProviders(context: LanguageContext): LanguageProviders {
  const cache = analysisCache({
    isScenario: (document: vscode.TextDocument) => context.isScenario(document),
    // The position is moved to the end of the text, which is not put together for it.
    sizeOf: (document) => document.offsetAt(new vscode.Position(document.lineCount, 0)),
  });
  const diagnostics = publishDiagnostics(cache, context.onRelevantChange);
  let asked: string | undefined;
  const takeAsked = (uri: vscode.Uri): boolean => {
    const found = asked === uri.toString();
    if (found) asked = undefined;
    return found;
  };
  return {
    completion: completionProvider(cache, context),
    hover: hoverProvider(cache, takeAsked),
    showEstimateNext: (uri) => (asked = uri.toString()),
    codeLens: lensProvider(cache, context),
    inlayHints: hintsProvider(cache),
    symbols: symbolProvider(cache),
    codeActions: codeActionsProvider(cache),
    dispose: () => void diagnostics.dispose(),
  };
}

/** Sets the context that a step of the walkthrough waits for, once. */
function tickEstimate(): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    void vscode.commands.executeCommand('setContext', 'signalrBenchmark.estimateSeen', true);
  };
}

function hoverProvider(
  cache: DocumentCache,
  takeAsked: (uri: vscode.Uri) => boolean,
): vscode.HoverProvider {
  const seen = tickEstimate();
  return {
    provideHover(document, position) {
      const analysis = cache.analysisOf(document);
      if (analysis === undefined) return undefined;
      const asked = takeAsked(document.uri);
      const options = { estimate: asked || setting('hoverEstimate') };
      const hover = hoverAt(analysis, document.offsetAt(position), options);
      if (hover === undefined) return undefined;
      if (hover.estimated) seen();
      return new vscode.Hover(new vscode.MarkdownString(hover.markdown), rangeOf(document, hover));
    },
  };
}

function lensProvider(cache: DocumentCache, context: LanguageContext): vscode.CodeLensProvider {
  return {
    provideCodeLenses(document) {
      const shown = setting('codeLens') && isWorkedOn(document);
      const analysis = shown ? cache.analysisOf(document) : undefined;
      if (analysis === undefined) return [];
      const top = new vscode.Range(0, 0, 0, 0);
      const last = context.lastRun(document.uri);
      const commands: Readonly<Record<LensText['opens'], Omit<vscode.Command, 'title'>>> = {
        run: { command: 'signalrBenchmark.run', arguments: [document.uri] },
        stop: { command: 'signalrBenchmark.stop' },
        estimate: { command: 'signalrBenchmark.showEstimate', arguments: [document.uri] },
        result: { command: 'signalrBenchmark.openResult', arguments: [last?.folder] },
      };
      const running = context.isRunning(document.uri);
      return codeLenses(analysis, { running, lastRun: last?.words }, vscode.l10n.t).map(
        ({ title, opens }) => new vscode.CodeLens(top, { title, ...commands[opens] }),
      );
    },
  };
}

function hintsProvider(cache: DocumentCache): vscode.InlayHintsProvider {
  return {
    provideInlayHints(document, range) {
      const analysis = setting('inlayHints') ? cache.analysisOf(document) : undefined;
      return (analysis === undefined ? [] : inlayHints(analysis, vscode.l10n.t))
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
        hubs: context.hubs(),
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

/** Moves the text of a range into secret storage and writes a reference in its place. */
const moveSecretCommand = 'signalrBenchmark.moveSecret';

/**
 * Each fix is tried on the text before it is offered. Of many problems, when all is selected, the first
 * ones get fixes: about as many as together take this many characters to read.
 */
const mostTried = 200_000;

function codeActionsProvider(cache: DocumentCache): vscode.CodeActionProvider {
  return {
    provideCodeActions(document, range, { diagnostics }) {
      const analysis = cache.analysisOf(document);
      if (analysis === undefined) return [];
      return diagnosticsOf(analysis)
        .filter((problem) => rangeOf(document, problem).intersection(range) !== undefined)
        .slice(0, Math.ceil(mostTried / (analysis.text.length + 1)))
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
  if (problem.code !== secretInFile) return [];
  const title = vscode.l10n.t('Move into secret storage');
  const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  const range = rangeOf(document, problem);
  action.command = { title, command: moveSecretCommand, arguments: [document.uri, range] };
  return [action];
}
