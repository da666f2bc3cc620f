import * as vscode from 'vscode';
import { ExpectedError } from '../base/expectedError';
import type { CommandHandler } from './commands';
import { errorText, type Log } from './log';

/**
 * Registers the commands of the manifest; what they do is asked for when one is called.
 *
 * @param handlersOf reads the code of the commands, by their ids
 */
export function registerCommands(
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
        // What people can do something about is said; the editor tells of a defect by itself.
        if (!(error instanceof ExpectedError)) throw error;
        void vscode.window.showErrorMessage(errorText(error));
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}
