import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { RunPanels } from '../../src/extension/panel/runPanel';
import { RunController } from '../../src/extension/run/runController';
import { createServices, type Services } from '../../src/extension/services';
import { memento } from '../fakes/memento';
import { extension, openFile, until, workspaceFolder } from './editor';

export const inWorkspace = (...names: string[]): string =>
  path.join(workspaceFolder().fsPath, ...names);
export const results = (...names: string[]): string => inWorkspace('.signalr-bench', ...names);

export function resultNames(): string[] {
  return existsSync(results()) ? readdirSync(results()) : [];
}

/** Writes a result folder and says where. */
export function store(name: string, text: string): string {
  mkdirSync(results(name), { recursive: true });
  writeFileSync(results(name, 'result.json'), text);
  writeFileSync(results(name, 'scenario.yaml'), 'scenario:\n  name: echo\n');
  return results(name);
}

/** Starts a run of a copy of the long scenario; settles with its folder once it measures. */
export async function startLong(
  name: string,
  text = readFileSync(inWorkspace('long.signalr.yaml'), 'utf8'),
): Promise<string> {
  writeFileSync(inWorkspace(name), text);
  const before = new Set(resultNames());
  // Named, not taken from the active editor: a panel that opens late would be that.
  const document = await openFile(name);
  // An earlier text of that name may still be open, unseen.
  await until(`the text of ${name}`, async () => {
    if (document.getText() === text) return true;
    await vscode.commands.executeCommand('workbench.action.files.revert');
    return undefined;
  });
  await vscode.commands.executeCommand('signalrBenchmark.run', document.uri);
  return until(
    `samples of ${name}`,
    () =>
      resultNames()
        .filter((each) => !before.has(each))
        .map((each) => results(each))
        .find((folder) => {
          const samples = path.join(folder, 'samples.jsonl');
          return existsSync(samples) && readFileSync(samples, 'utf8').includes('"measuring"');
        }),
    40_000,
  );
}

export const endingIn = (folder: string): Promise<string> =>
  until(`a result in ${folder}`, () => {
    const file = path.join(folder, 'result.json');
    if (!existsSync(file)) return undefined;
    return (JSON.parse(readFileSync(file, 'utf8')) as { ending: string }).ending;
  });

/** A controller with a state of its own, beside that of the extension. */
export function ownController(): {
  readonly controller: RunController;
  readonly services: Services;
  readonly dispose: () => void;
} {
  const context = {
    ...{ workspaceState: memento(), globalState: memento(), secrets: {} },
    globalStorageUri: vscode.Uri.file(results()),
    asAbsolutePath: (name: string) => path.join(extension().extensionPath, name),
  } as unknown as vscode.ExtensionContext;
  const services = createServices(context);
  const panels = new RunPanels(extension().extensionUri, services.log);
  const controller = new RunController(services, panels, context);
  const dispose = (): void => {
    controller.stop();
    controller.dispose();
    // The log has the channel of the extension itself.
    services.index.dispose();
    services.running.dispose();
  };
  return { controller, services, dispose };
}
