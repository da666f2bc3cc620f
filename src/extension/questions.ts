import * as vscode from 'vscode';
import { t } from './log';
import { noticeText } from '../results/redact';
import { callWords } from '../session/identityNotes';
import { loadNumbers, loadNumbersWords } from '../session/loadNumbers';
import type { RemoteLoad } from '../targets/target';
import type { Scenario } from '../scenario/scenario';
import type { EditorState } from './editorState';

/** Whether code of this workspace may be acted on; says why not, with the way to change it. */
export async function trusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = t('Manage Workspace Trust');
  const why = t(
    'Runs are off in Restricted Mode: a scenario of this workspace could send load or secrets to any host. Trust the workspace to run it.',
  );
  const answer = await vscode.window.showWarningMessage(why, manage);
  if (answer === manage) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}

/** Whether somebody presses the only button of a question. */
export async function agrees(question: string, button: string, detail = ''): Promise<boolean> {
  const options = { modal: true, ...(detail !== '' && { detail }) };
  return (await vscode.window.showWarningMessage(question, options, button)) === button;
}

/** Load that leaves this machine needs a word, once per host and workspace. */
export async function confirmLoad(
  { hosts, url, redirected, unlikeRecording }: RemoteLoad,
  scenario: Scenario,
  state: EditorState,
): Promise<boolean> {
  const load = loadNumbersWords(loadNumbers(scenario));
  if (unlikeRecording !== undefined)
    return agrees(
      t('Each client makes {0} that were recorded. Run it?', unlikeRecording),
      t('Run'),
      load,
    );
  const known = state.list('confirmedHosts');
  if (hosts.every((host) => known.includes(host))) return true;
  const names = hosts.join(', ');
  const question = redirected
    ? t('Put load on {0}, which is not on this machine? {1} redirects there.', names, url)
    : t('Put load on {0}, which is not on this machine?', names);
  const calls = callWords(scenario);
  const before = calls === undefined ? '' : ` ${t('Before, it calls {0}.', calls)}`;
  const detail = t('{0}. You are asked once per host in this workspace.', load) + before;
  if (!(await agrees(question, t('Run'), detail))) return false;
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
  const question = noticeText(t('Run {0}? A run of {1} is going on.', title, running));
  const detail = t(
    'Two runs at once would disturb each other. A stopped run keeps what it has measured.',
  );
  const options = { modal: true, detail };
  const answer = await vscode.window.showWarningMessage(question, options, stop, wait);
  return answer === stop ? 'stop' : answer === wait ? 'wait' : 'cancel';
}
