import path from 'node:path';
import * as vscode from 'vscode';
import type { ResultCommands } from '../results/resultCommands';
import type { Services } from '../services';
import { runState } from './unfinishedRuns';

/** Offers what runs left that the closing of their window, or a crash, broke off. */
export async function offerInterrupted(
  { state }: Services,
  results: ResultCommands,
): Promise<void> {
  for (const run of state.unfinishedRuns) {
    const found = await runState(run);
    if (found === 'running') continue;
    await state.removeUnfinishedRun(run.folder);
    if (found === 'interrupted') void offer(run.folder, results);
  }
}

async function offer(folder: string, results: ResultCommands): Promise<void> {
  const open = vscode.l10n.t('Open Result');
  const answer = await vscode.window.showInformationMessage(
    vscode.l10n.t('The run {0} was interrupted; what was measured is kept.', path.basename(folder)),
    open,
  );
  if (answer === open) await results.open(folder);
}
