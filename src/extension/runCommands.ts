import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { formatDurationMs, parseDurationMs } from '../base/units';
import type { SetKey } from '../results/scenarioCopy';
import { parseScenario } from '../scenario/parseScenario';
import { pickTarget } from './pickTarget';
import type { RunController } from './runController';
import { scenarioText, type ScenarioFiles } from './scenarioFiles';
import { scenarioTemplates } from './scenarioTemplates';
import type { Services } from './services';

/** Runs the given scenario, the one in the active editor, or one the person chooses. */
export async function runScenario(
  argument: unknown,
  files: ScenarioFiles,
  controller: RunController,
  extensionPath: string,
): Promise<void> {
  const uri =
    uriOf(argument) ?? files.active()?.uri ?? (await chooseScenario(files, extensionPath));
  if (uri) await controller.run(await toRun(uri, []));
}

/** As {@link runScenario}, with target, step duration and connections asked first. */
export async function runScenarioWith(
  argument: unknown,
  files: ScenarioFiles,
  controller: RunController,
  services: Services,
  extensionPath: string,
): Promise<void> {
  const uri =
    uriOf(argument) ?? files.active()?.uri ?? (await chooseScenario(files, extensionPath));
  if (!uri) return;
  const text = await scenarioText(uri);
  const overrides = await askOverrides(text, services);
  if (overrides) await controller.run(await toRun(uri, overrides));
}

async function toRun(uri: vscode.Uri, overrides: readonly SetKey[]) {
  return { uri, title: path.posix.basename(uri.path), text: await scenarioText(uri), overrides };
}

/** Commands get a URI from menus and tests, and its text from CodeLens. */
function uriOf(argument: unknown): vscode.Uri | undefined {
  if (argument instanceof vscode.Uri) return argument;
  return typeof argument === 'string' ? vscode.Uri.parse(argument) : undefined;
}

type ScenarioItem = vscode.QuickPickItem & { readonly uri?: vscode.Uri; readonly fresh?: boolean };

async function chooseScenario(
  files: ScenarioFiles,
  extensionPath: string,
): Promise<vscode.Uri | undefined> {
  const answer = await vscode.window.showQuickPick(scenarioItems(files, extensionPath), {
    title: vscode.l10n.t('Run SignalR Benchmark'),
    placeHolder: vscode.l10n.t('Which scenario?'),
    matchOnDescription: true,
  });
  if (answer?.fresh === true) {
    await newScenario();
    return undefined;
  }
  return answer?.uri;
}

async function scenarioItems(files: ScenarioFiles, extensionPath: string): Promise<ScenarioItem[]> {
  const separator = (label: string): ScenarioItem => ({
    label,
    kind: vscode.QuickPickItemKind.Separator,
  });
  const own = (await files.inWorkspace()).map((uri) => ({
    label: path.posix.basename(uri.path),
    description: vscode.workspace.asRelativePath(uri),
    uri,
  }));
  const examples = await exampleItems(path.join(extensionPath, 'examples'));
  return [
    ...(own.length > 0 ? [separator(vscode.l10n.t('Workspace')), ...own] : []),
    separator(vscode.l10n.t('New')),
    { label: `$(new-file) ${vscode.l10n.t('New Scenario…')}`, fresh: true },
    separator(vscode.l10n.t('Examples')),
    ...examples,
  ];
}

/** Examples that run as they are; the others name hubs and services that only their owners have. */
async function exampleItems(folder: string): Promise<ScenarioItem[]> {
  const names = await readdir(folder).catch(() => []);
  const items = await Promise.all(
    names
      .filter((name) => /\.ya?ml$/.test(name))
      .map(async (name) => {
        const uri = vscode.Uri.file(path.join(folder, name));
        const text = await scenarioText(uri);
        const comment = /^#\s*(.*)$/m.exec(text)?.[1] ?? '';
        return { label: name, detail: comment, uri };
      }),
  );
  // The one on the embedded hub needs nothing else.
  return items.sort(
    (a, b) => Number(b.label.includes('chat-room')) - Number(a.label.includes('chat-room')),
  );
}

async function askOverrides(text: string, services: Services): Promise<SetKey[] | undefined> {
  const { scenario } = parseScenario(text);
  const target = await pickTarget(services, {
    title: vscode.l10n.t('Run with: target'),
    asInFile: true,
  });
  if (target === undefined) return undefined;
  const duration = await askValue(
    vscode.l10n.t('Run with: measured time of a step'),
    formatDurationMs(scenario?.singleStepDurationMs ?? 240_000).replace(' ', ''),
    (value) =>
      parseDurationMs(value) === undefined
        ? vscode.l10n.t('Write a duration with its unit: 10s, 5m.')
        : undefined,
  );
  if (duration === undefined) return undefined;
  const connections = await askValue(
    vscode.l10n.t('Run with: connections'),
    String(scenario?.connections ?? 1000),
    (value) =>
      /^[1-9]\d{0,8}$/.test(value) ? undefined : vscode.l10n.t('Write a whole number from 1.'),
  );
  if (connections === undefined) return undefined;
  return [
    ...(target === '' ? [] : [{ path: 'config.target', value: target }]),
    ...(duration.changed ? [{ path: 'config.singleStepDuration', value: duration.text }] : []),
    ...(connections.changed ? [{ path: 'config.connections', value: connections.text }] : []),
  ];
}

async function askValue(
  title: string,
  value: string,
  check: (value: string) => string | undefined,
): Promise<{ readonly text: string; readonly changed: boolean } | undefined> {
  const answer = await vscode.window.showInputBox({
    title,
    value,
    validateInput: (text) => check(text.trim()),
  });
  if (answer === undefined) return undefined;
  return { text: answer.trim(), changed: answer.trim() !== value };
}

/** Opens a new file with a filled scenario of the use case the person chooses. */
export async function newScenario(): Promise<void> {
  const items = scenarioTemplates().map((template) => ({
    label: template.useCase.name,
    description: template.runnable ? '' : vscode.l10n.t('estimate only in this version'),
    detail: template.useCase.summary,
    template,
  }));
  const answer = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('New SignalR Scenario'),
    placeHolder: vscode.l10n.t('What do the clients do?'),
    matchOnDetail: true,
  });
  if (!answer) return;
  const { fileName, text } = answer.template;
  const uri = await freeName(fileName);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  if (document.getText() !== '') return;
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(0, 0), text);
  await vscode.workspace.applyEdit(edit);
}

/** An unsaved file beside the others of the workspace, under a name that is not taken. */
async function freeName(fileName: string): Promise<vscode.Uri> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const base = folder ?? vscode.Uri.file('/');
  for (let number = 1; ; number++) {
    const name = number === 1 ? fileName : fileName.replace('.', `-${number}.`);
    const uri = vscode.Uri.joinPath(base, name);
    const taken = folder && (await exists(uri));
    const untitled = uri.with({ scheme: 'untitled' });
    const open = vscode.workspace.textDocuments.some(
      (document) => document.uri.toString() === untitled.toString(),
    );
    if (taken !== true && !open) return folder ? untitled : vscode.Uri.parse(`untitled:${name}`);
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
}
