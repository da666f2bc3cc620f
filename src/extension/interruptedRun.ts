import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { ResultCommands } from './resultCommands';
import type { Services } from './services';

/** Offers what a run left that the closing of the window, or a crash, broke off. */
export async function offerInterrupted(
  { state }: Services,
  results: ResultCommands,
): Promise<void> {
  const run = state.unfinishedRun;
  if (!run || isAlive(run.pid)) return;
  await state.setUnfinishedRun(undefined);
  if (!existsSync(run.folder)) return;
  const open = vscode.l10n.t('Open Result');
  const answer = await vscode.window.showInformationMessage(
    vscode.l10n.t(
      'The run {0} was interrupted; what was measured is kept.',
      path.basename(run.folder),
    ),
    open,
  );
  if (answer === open) await results.open(run.folder);
}

/** Whether another window still runs it; a process of ours that was restarted does not. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
