import * as vscode from 'vscode';
import { t } from './log';
import { ask, askModal } from './notices';
import {
  contactKey,
  contactsBeyond,
  hasOnlyRedirects,
  loadHosts,
  reachLines,
  type Reach,
  type RunQuestion,
} from '../run/reach';
import { loadNumbers, formatLoadNumbers } from '../run/runWords';
import type { Scenario } from '../scenario/scenario';
import type { EditorState } from './editorState';

export async function ensureTrusted(why = runsAreOff()): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = t('Manage Workspace Trust');
  const answer = await ask('Warning', why, manage);
  if (answer === manage) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}

const runsAreOff = (): string =>
  t(
    'Runs are off in Restricted Mode: a scenario of this workspace could send load or secrets to any host. Trust the workspace to run it.',
  );

/** As {@link ensureTrusted}, for commands that write files. */
export const ensureTrustedToWrite = (): Promise<boolean> =>
  ensureTrusted(
    t('Nothing is written in Restricted Mode. Trust the workspace to change or export results.'),
  );

export async function askToConfirm(
  question: string,
  button: string,
  detail = '',
): Promise<boolean> {
  return (await askModal(question, detail, button)) === button;
}

/** Asks once per host and command of the workspace; for a tool's run every time a command would start. */
export async function confirmLoad(
  { reach, url, unlikeRecording }: RunQuestion,
  scenario: Scenario,
  state: EditorState,
  isByTool: boolean,
): Promise<boolean> {
  const hosts = contactsBeyond(reach).map(contactKey);
  const commands = reach.programs.map(({ hash }) => hash);
  const known = state.list('confirmedHosts');
  const agreed = state.list('agreedCommands');
  const isKnown =
    hosts.every((host) => known.includes(host)) &&
    commands.every((hash) => !isByTool && agreed.includes(hash));
  if (isKnown && unlikeRecording === undefined) return true;
  const detail = [
    ...[formatLoadNumbers(loadNumbers(scenario)), ...reachLines(reach, t)],
    t('You are asked once per host and command in this workspace.'),
  ].join('\n');
  if (!(await askToConfirm(questionText(reach, url, unlikeRecording), t('Run'), detail)))
    return false;
  await state.store('confirmedHosts', [...new Set([...known, ...hosts])]);
  if (!isByTool) await state.store('agreedCommands', [...new Set([...agreed, ...commands])]);
  return true;
}

function questionText(reach: Reach, url: string, unlikeRecording: string | undefined): string {
  if (unlikeRecording !== undefined)
    return t('Each client makes {0} that were recorded. Run it?', unlikeRecording);
  const names = loadHosts(reach).join(', ');
  if (names !== '')
    return hasOnlyRedirects(reach)
      ? t('Put load on {0}, which is not on this machine? {1} redirects there.', names, url)
      : t('Put load on {0}, which is not on this machine?', names);
  return reach.programs.length > 0
    ? t('Run a command that the scenario names?')
    : t('Contact other machines for this run?');
}

/** Asks what to do about the current run. Names both: the second may have been chosen by its editor. */
export async function askSecondRun(
  title: string,
  running: string,
): Promise<'stop' | 'wait' | 'cancel'> {
  const stop = t('Stop It and Run');
  const wait = t('Wait for Its End');
  const question = t('Run {0}? A run of {1} is going on.', title, running);
  const detail = t(
    'Two runs at once would disturb each other. A stopped run keeps what it has measured.',
  );
  const answer = await askModal(question, detail, stop, wait);
  return answer === stop ? 'stop' : answer === wait ? 'wait' : 'cancel';
}
