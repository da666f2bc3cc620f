import path from 'node:path';
import * as vscode from 'vscode';
import { t } from '../log';
import { openUnsaved } from './runCommands';

/** Opens an unsaved scenario that replays the recording: run as it is, each client is replayed once. */
export async function replayRecordingFile(argument: unknown): Promise<void> {
  const file = argument instanceof vscode.Uri ? argument : await chooseRecording();
  if (file === undefined) return;
  const { fsPath } = file;
  const { replayScenario } = await import('../../session/replays.js');
  const text = await replayScenario(fsPath, { named: fsPath });
  const name = path.basename(fsPath).replace(/(?:\.recording)?\.[^.]*$/, '');
  await openUnsaved(`${name || 'recording'}.replay.signalr.yaml`, text);
}

async function chooseRecording(): Promise<vscode.Uri | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: t('Replay Recording'),
      openLabel: t('Replay'),
      filters: { [t('Recordings')]: ['jsonl'], '*': ['*'] },
    })) ?? [];
  return file;
}
