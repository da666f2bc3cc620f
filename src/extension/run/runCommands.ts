import path from 'node:path';
import * as vscode from 'vscode';
import { t } from '../log';
import { formatCount, formatDurationMs } from '../../base/units';
import type { Override } from '../../scenario/read/overrides';
import { parseScenario } from '../../scenario/parseScenario';
import { useCases } from '../../usecases/registry';
import type { UseCase } from '../../usecases/useCase';
import { askText, type Place, back, askInOrder } from '../askInSteps';
import { ensureTrusted } from '../questions';
import { isFile, scenarioText, type ScenarioFiles } from '../scenarios/scenarioFiles';
import type { Services } from '../services';
import { pickTarget } from '../targets/targetCommands';
import { targetKeys } from '../targets/targetsTree';
import { kubernetes, type RunController } from './runController';
import { templateText } from '../language/completionsAt';
import { overrideProblem, runQuestions, type RunQuestion } from './runTexts';
import { targetRole } from '../../scenario/target/targetKinds';
import { readdir, readFile } from 'node:fs/promises';
import { notRunnable } from '../../scenario/check/notRunnable';
import { loadNumbers } from '../../run/runWords';
import { isAzure } from '../../base/serviceTraits';

interface RunParts {
  readonly files: ScenarioFiles;
  readonly controller: RunController;
  readonly services: Services;
  readonly extensionPath: string;
}

/**
 * Runs the given scenario, the active one, or one the user picks. `asking`: `true` asks for target, steps and
 * connections first, `search` searches the capacity, `cluster` runs on agents in a cluster.
 */
export async function runScenario(
  argument: unknown,
  { files, controller, services, extensionPath }: RunParts,
  asking: boolean | 'search' | 'cluster',
): Promise<void> {
  if (!(await ensureTrusted())) return;
  const given = uriOf(argument) ?? files.active()?.uri;
  const chosen = given ? { uri: given, overrides: [] } : await chooseScenario(files, extensionPath);
  if (!chosen) return;
  const { uri } = chosen;
  // An example for a hub that is not here offers no "as in the file".
  const asInFile = chosen.overrides.length === 0;
  const overrides =
    asking === true
      ? await askOverrides(await scenarioText(uri), services, asInFile)
      : chosen.overrides;
  if (!overrides) return;
  const title = path.posix.basename(uri.path);
  // An empty value keeps the file's search, or searches senders.
  const search = asking === 'search' ? [{ path: 'search', value: '' }] : [];
  const text = await scenarioText(uri);
  const elsewhere =
    asking === 'cluster' ? await (await kubernetes()).askCluster(text, services) : undefined;
  if (asking === 'cluster' && elsewhere === undefined) return;
  await controller.run({
    uri,
    origin: uri,
    title,
    text,
    overrides: [...overrides, ...search, ...(elsewhere?.overrides ?? [])],
    cluster: elsewhere?.cluster,
  });
}

/** Menus pass a URI, CodeLens its text. */
function uriOf(argument: unknown): vscode.Uri | undefined {
  if (argument instanceof vscode.Uri) return argument;
  return typeof argument === 'string' ? vscode.Uri.parse(argument) : undefined;
}

interface ChosenScenario {
  readonly uri: vscode.Uri;
  readonly overrides: readonly Override[];
}

type ScenarioItem = vscode.QuickPickItem & {
  readonly chosen?: ChosenScenario;
  readonly fresh?: boolean;
};

async function chooseScenario(
  files: ScenarioFiles,
  extensionPath: string,
): Promise<ChosenScenario | undefined> {
  const answer = await vscode.window.showQuickPick(scenarioItems(files, extensionPath), {
    title: t('Run SignalR Benchmark'),
    placeHolder: t('Which scenario?'),
    matchOnDescription: true,
  });
  if (answer?.fresh === true) await newScenario();
  return answer?.chosen;
}

async function scenarioItems(files: ScenarioFiles, extensionPath: string): Promise<ScenarioItem[]> {
  const separator = (label: string): ScenarioItem => ({
    label,
    kind: vscode.QuickPickItemKind.Separator,
  });
  const own = (await files.inWorkspace()).map((uri) => ({
    label: path.posix.basename(uri.path),
    description: folderWords(uri),
    chosen: { uri, overrides: [] },
  }));
  const examples = await exampleScenarios(path.join(extensionPath, 'examples'));
  const first = own.length === 0 ? examples.filter(isQuickStart) : [];
  const groups = exampleGroups(examples.filter((example) => !first.includes(example)));
  return [
    ...(own.length > 0 ? [separator(t('Workspace')), ...own] : []),
    ...(first.length > 0 ? [separator(t('Quick Start')), ...first.map(exampleItem)] : []),
    separator(t('New')),
    { label: `$(new-file) ${t('New Scenario…')}`, fresh: true },
    ...groups.flatMap(({ label, inside }) => [separator(label), ...inside.map(exampleItem)]),
  ];
}

function exampleGroups(
  examples: readonly ExampleScenario[],
): { readonly label: string; readonly inside: readonly ExampleScenario[] }[] {
  const labels = {
    hub: t('Examples on the embedded hub'),
    signalr: t('Azure SignalR examples, on its emulator'),
    webpubsub: t('Azure Web PubSub examples, on its emulator'),
  };
  return (['hub', 'signalr', 'webpubsub'] as const)
    .map((service) => ({
      label: labels[service],
      inside: examples.filter((example) => example.service === service),
    }))
    .filter(({ inside }) => inside.length > 0);
}

function folderWords(uri: vscode.Uri): string {
  const folder = path.posix.dirname(vscode.workspace.asRelativePath(uri));
  return folder === '.' ? '' : folder;
}

function exampleItem({ file, summary, overrides, load }: ExampleScenario): ScenarioItem {
  const icon = isQuickStart({ file }) ? '$(rocket) ' : '';
  return {
    label: `${icon}${path.basename(file)}`,
    description: exampleLoad(load),
    detail: summary,
    chosen: { uri: vscode.Uri.file(file), overrides },
  };
}

function exampleLoad({ connections, outPerSecond, durationS }: ExampleScenario['load']): string {
  return [
    t('{0} connections', formatCount(connections)),
    ...(outPerSecond === 0 ? [] : [t('{0} msg/s', formatCount(Math.round(outPerSecond)))]),
    formatDurationMs(Math.round(durationS) * 1000),
  ].join(' · ');
}

/** Opens an unsaved scenario of a use case, named or chosen. */
export async function newScenario(named?: unknown, url?: unknown): Promise<void> {
  const useCase = useCases.find(({ name }) => name === named) ?? (await chooseUseCase());
  if (!useCase) return;
  const template = templateText(useCase);
  const text =
    typeof url === 'string'
      ? template.replace(/^( *target: )local$/m, (_line, key: string) => key + url)
      : template;
  await openUnsaved(`${useCase.name}.signalr.yaml`, text);
}

export async function openUnsaved(name: string, text: string): Promise<void> {
  const uri = await freeName(name);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  if (document.getText() !== '') return;
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(0, 0), text);
  await vscode.workspace.applyEdit(edit);
}

async function chooseUseCase(): Promise<UseCase | undefined> {
  const items = useCases.map((useCase) => ({
    label: useCase.name,
    detail: useCase.summary,
    useCase,
  }));
  const answer = await vscode.window.showQuickPick(items, {
    title: t('New SignalR Scenario'),
    placeHolder: t('What do the clients do?'),
    matchOnDetail: true,
  });
  return answer?.useCase;
}

async function freeName(fileName: string): Promise<vscode.Uri> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const base = folder ?? vscode.Uri.file('/');
  for (let number = 1; ; number++) {
    const name = number === 1 ? fileName : fileName.replace('.', `-${number}.`);
    const uri = vscode.Uri.joinPath(base, name);
    const taken = folder && (await isFile(uri));
    const untitled = uri.with({ scheme: 'untitled' });
    const open = vscode.workspace.textDocuments.some(
      (document) => document.uri.toString() === untitled.toString(),
    );
    if (taken !== true && !open) return folder ? untitled : vscode.Uri.parse(`untitled:${name}`);
  }
}

/** Overrides for one run; undefined when cancelled. */
async function askOverrides(
  text: string,
  services: Services,
  asInFile: boolean,
): Promise<Override[] | undefined> {
  // Without a scenario, the run itself reports the errors.
  const { scenario } = parseScenario(text);
  const questions = scenario ? runQuestions(scenario, t) : [];
  const totalSteps = 1 + questions.length;
  const answers = await askInOrder<readonly Override[]>(totalSteps, async (at, before, earlier) => {
    const place = { step: at + 1, totalSteps };
    if (at === 0) {
      const title = t('Run with: target');
      const service = scenario?.service;
      const target = await pickTarget(services, { title, asInFile, service, place });
      if (target === undefined || target === 'asInFile') return target && [];
      return targetKeys(target, service ?? 'hub');
    }
    return ask(questions[at - 1]!, { text, before: before.flat(), earlier, place });
  });
  return answers?.flat();
}

async function ask(
  { path, title, value, check }: RunQuestion,
  {
    text,
    before,
    earlier,
    place,
  }: {
    readonly text: string;
    readonly before: readonly Override[];
    readonly earlier: readonly Override[] | undefined;
    readonly place: Place;
  },
): Promise<readonly Override[] | typeof back | undefined> {
  const answer = await askText(
    {
      title,
      value: earlier?.[0]?.value ?? value,
      check: (typed) =>
        typed === value
          ? undefined
          : (check(typed) ?? overrideProblem(text, before, { path, value: typed }, t)),
    },
    place,
  );
  if (answer === undefined || answer === back) return answer;
  return answer === value ? [] : [{ path, value: answer }];
}

export async function exampleScenarios(folder: string) {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => /\.ya?ml$/.test(name)).sort();
  const examples = await Promise.all(
    files.map(async (name) => {
      const file = path.join(folder, name);
      return exampleOf(file, await readFile(file, 'utf8'));
    }),
  );
  return examples
    .flat()
    .sort((a, b) => rank(a) - rank(b) || a.overrides.length - b.overrides.length);
}

type ExampleScenario = ReturnType<typeof exampleOf>[number];

const quickStart = 'quick-start.signalr.yaml';

export const isQuickStart = ({ file }: Pick<ExampleScenario, 'file'>): boolean =>
  path.basename(file) === quickStart;

const rank = (example: Pick<ExampleScenario, 'file'>): number => (isQuickStart(example) ? 0 : 1);

function exampleOf(file: string, text: string) {
  const { scenario } = parseScenario(text);
  if (!scenario || notRunnable(scenario) !== undefined) return [];
  const summary = /^#(.*)$/m.exec(text)?.[1]?.trim() ?? '';
  const { service, target } = scenario;
  // The embedded hub or an emulator replaces targets that nobody else can reach.
  const overrides: Override[] = [
    { path: 'config.target', value: 'local' },
    ...(isAzure(service) ? [{ path: 'config.service', value: service }] : []),
  ];
  const changed = targetRole(target) === 'ownServer' ? [] : overrides;
  const { connections, outPerSecond, durationS } = loadNumbers(scenario);
  const load = { connections, outPerSecond, durationS };
  return [{ file, summary, service, overrides: changed, load }];
}
