import * as vscode from 'vscode';
import { ExpectedError } from '../base/expectedError';
import type { CommandHandler, RunFeatures } from './commands';
import type { Features } from './features';
import type { LanguageProviders } from './language/languageProviders';
import { errorText, shownError, t, type Log, inBackground } from './log';
import { say } from './notices';
import { ResultsTree } from './results/resultsTree';
import { followActiveEditor, ScenarioFiles } from './scenarios/scenarioFiles';
import {
  comparisonViewType,
  createServices,
  resultEditorType,
  runCopyScheme,
  runPanelViewType,
  type FeatureParts,
  type Services,
} from './services';

let loading: Promise<Features> | undefined;

/** Registers everything and does nothing else: other bundles load on first use. */
export function activate(context: vscode.ExtensionContext): PartsForTests | undefined {
  const services = createServices(context);
  const files = new ScenarioFiles(services.state);
  const relevant = relevantChange(services);
  const features = (): Promise<Features> =>
    (loading ??= loadFeatures({ services, files, context, onRelevantChange: relevant.event }));
  const runs = async () => (await features()).runs();
  context.subscriptions.push(
    services,
    relevant,
    registerCommands(context, services.log, async () => (await runs()).commands),
    lazyLanguage(files, async () => (await features()).language, relevant.event),
    followActiveEditor(files, services.state),
    vscode.workspace.registerTextDocumentContentProvider(runCopyScheme, {
      provideTextDocumentContent: async ({ query }) => (await runs()).scenarioCopy(query),
    }),
    resultsView(services),
    registerTools(context, async () => (await runs()).tools),
    scenarioTests(async (tests) => (await runs()).discoverTests(tests)),
    vscode.window.createTreeView('signalrBenchmark.targets', {
      treeDataProvider: services.targets,
    }),
    vscode.window.registerCustomEditorProvider(resultEditorType, {
      openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
      resolveCustomEditor: async ({ uri }, panel, token) => {
        const { panels, results } = await runs();
        await panels.showResult(uri, panel, token, (location) => results.source(location));
      },
    }),
    vscode.window.registerWebviewPanelSerializer(runPanelViewType, {
      deserializeWebviewPanel: async (panel, state) => {
        const { panels, results } = await runs();
        await panels.restore(panel, state, (id) => results.find(id));
      },
    }),
    vscode.window.registerWebviewPanelSerializer(comparisonViewType, {
      deserializeWebviewPanel: async (panel, state) =>
        (await runs()).restoreComparison(panel, state),
    }),
  );
  if (services.state.list('unfinishedRuns').length > 0)
    inBackground(
      runs()
        .then(({ results }) => results.offerInterrupted())
        .then(undefined, (error: unknown) => services.log.error(error)),
    );
  return context.extensionMode === vscode.ExtensionMode.Test ? { log: services.log } : undefined;
}

/** For tests: no extension can read a log. */
interface PartsForTests {
  readonly log: Log;
}

function resultsView({ index, selected }: Services): vscode.Disposable {
  const view = vscode.window.createTreeView('signalrBenchmark.results', {
    treeDataProvider: new ResultsTree(index),
    showCollapseAll: true,
    canSelectMany: true,
  });
  selected.results = () => view.selection;
  const sayFilter = (): void => {
    const { filter } = index;
    if (filter === '') delete view.message;
    else view.message = t('Shown: {0}', filter);
    inBackground(
      vscode.commands.executeCommand('setContext', 'signalrBenchmark.filtered', filter !== ''),
    );
  };
  return vscode.Disposable.from(view, index.onDidChange(sayFilter));
}

function scenarioTests(
  discover: (tests: vscode.TestController) => Promise<void>,
): vscode.Disposable {
  const tests = vscode.tests.createTestController('signalrBenchmark', t('SignalR scenarios'));
  tests.resolveHandler = async (item) => (item === undefined ? discover(tests) : undefined);
  return tests;
}

async function loadFeatures(parts: FeatureParts): Promise<Features> {
  // Neither activation nor typing waits for the code to load.
  await new Promise(setImmediate);
  const { createFeatures } = await import(/* webpackChunkName: "features" */ './features.js');
  const features = createFeatures(parts);
  parts.context.subscriptions.push(features);
  return features;
}

export async function deactivate(): Promise<void> {
  await (await loading)?.close();
}

function registerCommands(
  { extension }: vscode.ExtensionContext,
  log: Log,
  handlersOf: () => Promise<Readonly<Record<string, CommandHandler>>>,
): vscode.Disposable {
  const { contributes } = extension.packageJSON as Manifest;
  const registered = contributes.commands.map(({ command }) =>
    vscode.commands.registerCommand(command, async (...args: unknown[]) => {
      try {
        const handlers = await handlersOf();
        await handlers[command]!(...args);
      } catch (error) {
        log.error(error);
        // Expected errors become a message; the editor itself reports and logs defects.
        if (!(error instanceof ExpectedError)) throw shownError(error);
        say('Error', errorText(error));
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

/** Registers the tools for coding agents, where the editor supports them. */
function registerTools(
  { extension }: vscode.ExtensionContext,
  toolsOf: () => Promise<RunFeatures['tools']>,
): vscode.Disposable {
  const { lm } = vscode as { readonly lm?: Partial<typeof vscode.lm> };
  if (typeof lm?.registerTool !== 'function') return new vscode.Disposable(() => undefined);
  const { contributes } = extension.packageJSON as Manifest;
  const registered = contributes.languageModelTools.map(({ name, displayName }) =>
    vscode.lm.registerTool<object>(name, {
      prepareInvocation: async ({ input }) => {
        const message = await (await toolsOf())[name]?.confirm?.(input);
        if (message === undefined) return {};
        return { confirmationMessages: { title: displayName, message } };
      },
      invoke: async ({ input }, token) => {
        const answer = (await (await toolsOf())[name]?.answer(input, token)) ?? '';
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(answer)]);
      },
    }),
  );
  return vscode.Disposable.from(...registered);
}

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly languageModelTools: readonly { readonly name: string; readonly displayName: string }[];
  };
}

/** Fires when secrets, results, the current run, marked files or settings change. */
function relevantChange({ index, running, state }: Services) {
  const emitter = new vscode.EventEmitter<void>();
  const fire = (): void => emitter.fire();
  const sources = vscode.Disposable.from(
    emitter,
    index.onDidChange(fire),
    running.onDidChange(fire),
    state.onDidChange(fire),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('signalrBenchmark')) fire();
    }),
  );
  return Object.assign(sources, { event: emitter.event });
}

/** YAML files of any name; each document is then checked. */
const selector: vscode.DocumentSelector = { language: 'yaml' };

function lazyLanguage(
  files: ScenarioFiles,
  load: () => Promise<LanguageProviders>,
  onRelevantChange: vscode.Event<void>,
): vscode.Disposable {
  const { languages } = vscode;
  const of = async (document: vscode.TextDocument): Promise<LanguageProviders | undefined> =>
    files.isScenario(document) ? load() : undefined;
  return vscode.Disposable.from(
    loadWithFirstScenario(files, load),
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

/** Diagnostics start as soon as a scenario is open. */
function loadWithFirstScenario(
  files: ScenarioFiles,
  load: () => Promise<LanguageProviders>,
): vscode.Disposable {
  const watchers: vscode.Disposable[] = [];
  const unwatch = (): void => {
    for (const watcher of watchers.splice(0)) watcher.dispose();
  };
  const look = (document: vscode.TextDocument): void => {
    if (watchers.length === 0 || !files.isScenario(document)) return;
    unwatch();
    inBackground(load());
  };
  watchers.push(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)),
  );
  vscode.workspace.textDocuments.forEach(look);
  return new vscode.Disposable(unwatch);
}
