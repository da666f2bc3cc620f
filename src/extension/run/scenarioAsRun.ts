import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { scenarioFile } from '../../results/resultFolder';
import { noticeText } from '../../results/redact';
import { errorText, type Log } from '../log';
import { fromName } from '../results/resultEntry';
import { textNow } from '../scenarios/scenarioFiles';
import { runCopyScheme } from '../services';

/**
 * Opens the scenario of a result. The file that people wrote is the one to go on with: where it is as it
 * was run, it opens; where it has changed, it stands beside the copy; where it is gone, the copy opens.
 * What keeps it from opening is said.
 */
export async function openScenarioAsRun(
  folder: string,
  origin: vscode.Uri | undefined,
  log: Log,
): Promise<void> {
  try {
    await openAsRun(folder, origin);
  } catch (error) {
    log.error(error);
    void vscode.window.showErrorMessage(errorText(error));
  }
}

async function openAsRun(folder: string, origin: vscode.Uri | undefined): Promise<void> {
  const copy = await copyIn(folder);
  const now = origin && (await textNow(origin));
  if (origin !== undefined && now === copy) {
    await vscode.window.showTextDocument(origin);
    return;
  }
  const shown = copyUri(folder);
  if (origin === undefined || now === undefined) {
    await vscode.window.showTextDocument(shown, { preview: true });
    if (origin) sayGone(origin);
    return;
  }
  const name = path.posix.basename(origin.path);
  const title = vscode.l10n.t('{0}: as it was run ↔ now', name);
  await vscode.commands.executeCommand('vscode.diff', shown, origin, title, { preview: true });
}

function sayGone(origin: vscode.Uri): void {
  const name = path.posix.basename(origin.path);
  void vscode.window.showWarningMessage(
    noticeText(vscode.l10n.t('{0} is no longer there. This is the copy that was run.', name)),
  );
}

/** A name for the tab; the folder is what the copy is found by. */
function copyUri(folder: string): vscode.Uri {
  const { scenario } = fromName(path.basename(folder));
  const name = vscode.l10n.t('{0} (as it was run).yaml', scenario);
  return vscode.Uri.from({ scheme: runCopyScheme, path: `/${name}`, query: folder });
}

/** Larger than any scenario that is read; what is kept beside a result may have been replaced. */
const mostCharacters = 16_000_000;

export async function copyIn(folder: string): Promise<string> {
  const text = await readFile(path.join(folder, scenarioFile), 'utf8');
  return text.slice(0, mostCharacters);
}
