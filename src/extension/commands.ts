import * as vscode from 'vscode';
import { t, inBackground } from './log';
import { sayBriefly } from './notices';
import { analyseScenario } from './language/analyseScenario';
import { estimatePlace } from './language/hoverAt';
import type { LanguageProviders } from './language/languageProviders';
import { OverviewPanel, RunPanels } from './panel/runPanel';
import { modelTools } from './run/modelTools';
import type { ScenarioRecorder } from './run/recordScenario';
import { ResultCommands } from './run/resultCommands';
import { newScenario, runScenario } from './run/runCommands';
import { RunController, readScenarioCopy } from './run/runController';
import { ScenarioTests } from './run/scenarioTests';
import { uriOf, type ScenarioFiles } from './scenarios/scenarioFiles';
import type { FeatureParts } from './services';
import { addTarget, moveSecretOut, removeTarget, testTarget } from './targets/targetCommands';

export type CommandHandler = (...args: unknown[]) => unknown;

type RunFeatureParts = FeatureParts & { readonly language: LanguageProviders };

export type RunFeatures = ReturnType<typeof createRunFeatures>;

export function createRunFeatures(parts: RunFeatureParts) {
  const { services, context } = parts;
  const panels = new RunPanels(context.extensionUri, services.log);
  const controller = new RunController(services, panels, context);
  const results = new ResultCommands(services, controller, panels);
  const overview = new OverviewPanel(context.extensionUri, services.index, (folder) =>
    results.open(folder),
  );
  const commands = commandHandlers(parts, { controller, results, overview });
  let scenarioTests: ScenarioTests | undefined;
  const discoverTests = async (tests: vscode.TestController): Promise<void> => {
    if (!scenarioTests) {
      scenarioTests = new ScenarioTests(tests, controller, parts.files);
      context.subscriptions.push(scenarioTests);
    }
    await scenarioTests.discover();
  };
  const tools = modelTools(services, controller);
  const restoreComparison = async (panel: vscode.WebviewPanel, state: unknown): Promise<void> =>
    (await compareCommands(services, context)).restore(panel, state);
  return {
    commands,
    controller,
    panels,
    results,
    tools,
    discoverTests,
    restoreComparison,
    scenarioCopy: readScenarioCopy,
  };
}

interface Commanded {
  readonly controller: RunController;
  readonly results: ResultCommands;
  readonly overview: OverviewPanel;
}

function commandHandlers(
  { services, files, language, context }: RunFeatureParts,
  { controller, results, overview }: Commanded,
): Readonly<Record<string, CommandHandler>> {
  const { extension, extensionPath } = context;
  const running = { files, controller, services, extensionPath };
  let recorder: Promise<ScenarioRecorder> | undefined;
  context.subscriptions.push({
    dispose: () => inBackground(recorder?.then((made) => made.dispose())),
  });
  return {
    'signalrBenchmark.run': (uri) => runScenario(uri, running, false),
    'signalrBenchmark.runWith': (uri) => runScenario(uri, running, true),
    'signalrBenchmark.findCapacity': (uri) => runScenario(uri, running, 'search'),
    'signalrBenchmark.runOnKubernetes': (uri) => runScenario(uri, running, 'cluster'),
    'signalrBenchmark.attachOnKubernetes': () => controller.attach(),
    'signalrBenchmark.stop': () => controller.stop(),
    'signalrBenchmark.showRun': () => controller.showRun(),
    'signalrBenchmark.newScenario': newScenario,
    'signalrBenchmark.recordScenario': async (node) => {
      recorder ??= recordings().then(({ ScenarioRecorder }) => new ScenarioRecorder(services));
      await (await recorder).record(node);
    },
    'signalrBenchmark.importRecording': async (uri) =>
      (await recordings()).importRecordingFile(uri, services),
    'signalrBenchmark.replayRecording': async (uri) =>
      (await recordings()).replayRecordingFile(uri),
    'signalrBenchmark.markScenario': (uri) => markScenario(uri, files),
    'signalrBenchmark.showEstimate': (uri) => showEstimate(uri, language),
    'signalrBenchmark.openResult': (node) => results.open(node),
    'signalrBenchmark.runAgain': (node) => results.runAgain(node),
    'signalrBenchmark.copySummary': (node) => results.copySummary(node),
    'signalrBenchmark.exportResult': (node) => results.export(node),
    'signalrBenchmark.compareResults': async (node, selected) =>
      (await compareCommands(services, context)).compare(node, selected),
    'signalrBenchmark.makeBaseline': async (node) =>
      (await compareCommands(services, context)).makeBaseline(node),
    'signalrBenchmark.deleteResult': (node, nodes) => results.delete(node, nodes),
    'signalrBenchmark.diffScenarios': (node, nodes) => results.diffScenarios(node, nodes),
    'signalrBenchmark.filterResults': () => results.filter(),
    'signalrBenchmark.showTable': () => overview.show(undefined),
    'signalrBenchmark.showTrend': (node) => results.showTrend(node, overview),
    'signalrBenchmark.clearFilter': () => results.clearFilter(),
    'signalrBenchmark.renameResult': (node) => results.rename(node),
    'signalrBenchmark.revealResult': (node) => results.reveal(node),
    'signalrBenchmark.addTarget': () => addTarget(services),
    'signalrBenchmark.testTarget': (node) => testTarget(node, services),
    'signalrBenchmark.removeTarget': (node) => removeTarget(node, services),
    'signalrBenchmark.moveSecret': (uri, range) => moveSecretOut(uri, range, services),
    'signalrBenchmark.openWalkthrough': () =>
      vscode.commands.executeCommand(
        'workbench.action.openWalkthrough',
        `${extension.id}#signalrBenchmark.start`,
        false,
      ),
    'signalrBenchmark.showLog': () => services.log.show(),
  };
}

const recordings = () => import(/* webpackChunkName: "run" */ './run/recordScenario.js');

async function compareCommands(
  services: FeatureParts['services'],
  { extensionUri }: FeatureParts['context'],
) {
  const { CompareCommands } = await import(
    /* webpackChunkName: "run" */ './run/compareCommands.js'
  );
  return new CompareCommands(services, extensionUri);
}

async function markScenario(argument: unknown, files: ScenarioFiles): Promise<void> {
  const uri = uriOf(argument);
  if (!uri) return;
  const isOne = files.isScenarioByItself(await vscode.workspace.openTextDocument(uri));
  const text = isOne
    ? t('This file is a SignalR scenario by its name or content; a mark changes nothing.')
    : (await files.toggleMark(uri))
      ? t('This file is treated as a SignalR scenario.')
      : t('This file is no longer treated as a SignalR scenario.');
  sayBriefly(text, 4000);
}

/** Shows the estimate as a hover, or goes to the first error that prevents one. */
async function showEstimate(argument: unknown, language: LanguageProviders): Promise<void> {
  const uri = uriOf(argument);
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const analysis = analyseScenario(document.getText());
  if (analysis.problems.some(({ severity }) => severity === 'error')) {
    await vscode.commands.executeCommand('editor.action.marker.next');
    return;
  }
  const place = document.positionAt(estimatePlace(analysis).offset);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  language.showEstimateNext(uri);
  await vscode.commands.executeCommand('editor.action.showHover', { focus: 'noAutoFocus' });
}
