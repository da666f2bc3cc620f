import * as vscode from 'vscode';
import { t } from './log';
import { noticeText } from '../results/redact';
import { loadNumbers, loadNumbersWords } from '../session/runWords';
import type { RemoteLoad } from '../targets/target';
import type { Scenario } from '../scenario/scenario';
import type { EditorState } from './editorState';

/** Whether code of this workspace may be acted on; says why not, with the way to change it. */
export async function trusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = t('Manage Workspace Trust');
  const answer = await vscode.window.showWarningMessage(
    t(
      'Runs are off in Restricted Mode: a scenario of this workspace could send load or secrets to any host. Trust the workspace to run it.',
    ),
    manage,
  );
  if (answer === manage) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}

/** Load that leaves this machine needs a word, once per host and workspace. */
export async function confirmLoad(
  { hosts, url, redirected }: RemoteLoad,
  scenario: Scenario,
  state: EditorState,
): Promise<boolean> {
  const known = state.list('confirmedHosts');
  if (hosts.every((host) => known.includes(host))) return true;
  const run = t('Run');
  const answer = await vscode.window.showWarningMessage(
    redirected
      ? t(
          'Put load on {0}, which is not on this machine? {1} redirects there.',
          hosts.join(', '),
          url,
        )
      : t('Put load on {0}, which is not on this machine?', hosts.join(', ')),
    {
      modal: true,
      detail: t(
        '{0}. You are asked once per host in this workspace.',
        loadNumbersWords(loadNumbers(scenario)),
      ),
    },
    run,
  );
  if (answer !== run) return false;
  await state.keep('confirmedHosts', [...new Set([...known, ...hosts])]);
  return true;
}

/** What to do about the run that is going on; names both, since the second may be chosen by its editor. */
export async function askSecondRun(
  title: string,
  running: string,
): Promise<'stop' | 'wait' | 'cancel'> {
  const stop = t('Stop It and Run');
  const wait = t('Wait for Its End');
  const answer = await vscode.window.showWarningMessage(
    noticeText(t('Run {0}? A run of {1} is going on.', title, running)),
    {
      modal: true,
      detail: t(
        'Two runs at once would disturb each other. A stopped run keeps what it has measured.',
      ),
    },
    stop,
    wait,
  );
  return answer === stop ? 'stop' : answer === wait ? 'wait' : 'cancel';
}
