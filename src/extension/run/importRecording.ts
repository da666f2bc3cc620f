import path from 'node:path';
import * as vscode from 'vscode';
import { formatCount } from '../../base/units';
import { foundLines } from '../../record/analyse/found';
import { openImported } from '../../record/read/openFile';
import { parseScenario } from '../../scenario/parseScenario';
import { importRecording, type ImportedScenario } from '../../session/importRecording';
import { notification, offer, t } from '../log';
import type { Services } from '../services';
import { openUnsaved } from './runCommands';

/** Makes an unsaved scenario of a recording, a HAR file or a log; what was recognised is in the log. */
export async function importRecordingFile(argument: unknown, { log }: Services): Promise<void> {
  const file = argument instanceof vscode.Uri ? argument : await chooseFile();
  if (file === undefined) return;
  const name = path.basename(file.fsPath);
  const imported = await vscode.window.withProgress(
    notification(t('Importing {0}', name)),
    async (): Promise<ImportedScenario | undefined> => {
      const read = await openImported(file.fsPath);
      if (read === undefined) return undefined;
      const made = await importRecording(read.recording, parseScenario);
      for (const note of read.notes()) log.warn(note);
      return made;
    },
  );
  if (imported === undefined) {
    const text = t('{0} is not a recording, HAR file or log of the JavaScript client.', name);
    void vscode.window.showErrorMessage(text);
    return;
  }
  await showImported(name, imported, log);
}

/** Opens the scenario and says in one sentence what was found. */
export async function showImported(
  name: string,
  { yaml, found }: ImportedScenario,
  log: Services['log'],
): Promise<void> {
  await openUnsaved(`${name.replace(/(?:\.recording)?\.[^.]*$/, '') || name}.signalr.yaml`, yaml);
  for (const line of foundLines(found, 100)) if (line !== '') log.info(line);
  const calls = formatCount(found.calls.length);
  const lost =
    found.notRecognised.length + found.callbacks.filter(({ recognised }) => !recognised).length;
  const text =
    lost === 0
      ? t('Recognised in {0}: clients {2}, methods {1}.', name, calls, found.clients)
      : t(
          'Recognised in {0}: clients {2}, methods {1}. What was not is listed at the top of the scenario.',
          ...[name, calls, found.clients],
        );
  void offer('Information', text, { [t('Show Log')]: () => log.show() });
}

async function chooseFile(): Promise<vscode.Uri | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: t('Import Recording'),
      openLabel: t('Import'),
      filters: { [t('Recordings, HAR files, logs')]: ['jsonl', 'har', 'log'], '*': ['*'] },
    })) ?? [];
  return file;
}
