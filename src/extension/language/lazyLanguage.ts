import * as vscode from 'vscode';
import type { LanguageProviders } from './languageProviders';

export interface LazyLanguage {
  readonly isScenario: (document: vscode.TextDocument) => boolean;
  /** Reads the code of the features; the same ones each time. */
  readonly load: () => Promise<LanguageProviders>;
  readonly onRelevantChange: vscode.Event<void>;
}

/** YAML files of any name; which of them are scenarios is asked of each. */
const selector: vscode.DocumentSelector = { language: 'yaml' };

/** Registers the language features. Their code, with parser and tables, is read with the first scenario. */
export function lazyLanguage(lazy: LazyLanguage): vscode.Disposable {
  const { isScenario, load, onRelevantChange } = lazy;
  const { languages } = vscode;
  const of = async (document: vscode.TextDocument): Promise<LanguageProviders | undefined> =>
    isScenario(document) ? load() : undefined;
  return vscode.Disposable.from(
    loadWithFirstScenario(lazy),
    languages.registerCompletionItemProvider(
      selector,
      {
        provideCompletionItems: async (document, position) =>
          (await of(document))?.completions(document, position),
      },
      ...[':', ' ', '$', '{'],
    ),
    languages.registerHoverProvider(selector, {
      provideHover: async (document, position) => (await of(document))?.hover(document, position),
    }),
    languages.registerCodeLensProvider(selector, {
      onDidChangeCodeLenses: onRelevantChange,
      provideCodeLenses: async (document) => (await of(document))?.lenses(document),
    }),
    languages.registerInlayHintsProvider(selector, {
      onDidChangeInlayHints: onRelevantChange,
      provideInlayHints: async (document, range) => (await of(document))?.hints(document, range),
    }),
    languages.registerDocumentSymbolProvider(selector, {
      provideDocumentSymbols: async (document) => (await of(document))?.symbols(document),
    }),
    languages.registerCodeActionsProvider(
      selector,
      {
        provideCodeActions: async (document, range, context) =>
          (await of(document))?.fixes(document, range, context),
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
  );
}

/** Diagnostics need no question: they begin as soon as a scenario is open. */
function loadWithFirstScenario({ isScenario, load }: LazyLanguage): vscode.Disposable {
  const watchers: vscode.Disposable[] = [];
  const unwatch = (): void => watchers.splice(0).forEach((watcher) => void watcher.dispose());
  const look = (document: vscode.TextDocument): void => {
    if (watchers.length === 0 || !isScenario(document)) return;
    unwatch();
    void load();
  };
  watchers.push(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)),
  );
  vscode.workspace.textDocuments.forEach(look);
  return new vscode.Disposable(unwatch);
}
