import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { formatCount } from '../../base/units';
import { recordingEnding } from '../../record/recording';
import { openRecording } from '../../record/recordingFile';
import { takeRecording, type TakenRecording } from '../../record/takeRecording';
import { parseScenario } from '../../scenario/parseScenario';
import { importRecording } from '../../session/importRecording';
import { proxySettings } from '../../targets/resolveEndpoint';
import { askPick } from '../askInSteps';
import { errorText, notification, t } from '../log';
import { trusted } from '../questions';
import type { Services } from '../services';
import { back } from '../stepsOfQuestions';
import { askHubUrl, nodeOf } from '../targets/targetCommands';
import { showImported } from './importRecording';

const everyMs = 1000;

/** A recording that goes on, with its place in the status bar. */
interface GoingRecording {
  readonly target: string;
  readonly file: string;
  readonly recording: TakenRecording;
  readonly shown: vscode.Disposable;
}

let going: GoingRecording | undefined;

/**
 * Records clients of a hub until it is stopped, then opens the scenario. It runs in the host of the editor: what
 * passes is what a few people do by hand.
 */
export async function recordScenario(argument: unknown, services: Services): Promise<void> {
  if (going !== undefined) {
    await offerEnd(going, services);
    return;
  }
  if (!(await trusted())) return;
  const node = nodeOf(argument);
  const target = node?.kind === 'hub' ? node.url : await askTarget(services);
  if (target === undefined) return;
  try {
    going = await vscode.window.withProgress(
      notification(t('Connecting to {0}', target)),
      async () => begin(target, services),
    );
  } catch (error) {
    services.log.error(error);
    void vscode.window.showErrorMessage(errorText(error));
    return;
  }
  await offerEnd(going, services);
}

/** Ends the recording with the window; what it has is in its file. */
export const endRecording: vscode.Disposable = {
  dispose: () => {
    going?.shown.dispose();
    void going?.recording.finish().catch(() => undefined);
    going = undefined;
  },
};

async function askTarget({ state }: Services): Promise<string | undefined> {
  const title = t('Record Scenario');
  const hubs = state.list('hubs');
  const another = { label: `$(edit) ${t('Another hub URL…')}`, url: undefined };
  const items = [...hubs.map((url) => ({ label: `$(broadcast) ${url}`, url })), another];
  const answer = hubs.length === 0 ? another : await askPick(title, items);
  if (answer === undefined || answer === back) return undefined;
  const url = answer.url ?? (await askHubUrl(title));
  if (url === undefined || url === back) return undefined;
  return url;
}

async function begin(target: string, services: Services): Promise<GoingRecording> {
  const { places, log } = services;
  const [folder = ''] = places.for(undefined);
  await mkdir(folder, { recursive: true });
  // Down to the millisecond: a second recording may begin within a second.
  const stamp = new Date().toISOString().slice(0, 23).replaceAll(/[:.]/g, '-');
  const file = path.join(folder, `recorded-${stamp}${recordingEnding}`);
  const proxies = proxySettings([target.replace(/^ws/, 'http')], (name) => process.env[name]);
  const recording = await takeRecording({
    ...{ target, file, port: 0, replaces: false, now: () => new Date() },
    way: { insecureTls: false, ...(proxies !== undefined && { proxies }) },
    onProblem: (text) => log.warn(text),
  });
  return { target, file, recording, shown: showNumbers(recording) };
}

/** What passes, in the status bar; a click offers to end it. */
function showNumbers(recording: TakenRecording): vscode.Disposable {
  const item = vscode.window.createStatusBarItem(
    'signalrBenchmark.recording',
    vscode.StatusBarAlignment.Left,
    51,
  );
  item.name = t('Recording');
  item.command = 'signalrBenchmark.recordScenario';
  const fill = (): void => {
    const { clients, messages, calls } = recording.counts();
    const all = formatCount(messages.out + messages.in);
    item.text = `$(record) ${t('clients {0}, messages {1}', clients, all)}`;
    const names = calls
      .slice(0, 10)
      .map(({ name, count }) => `${name.slice(0, 60)}: ${formatCount(count)}`);
    item.tooltip = [t('Recording clients of {0}', recording.url), ...names].join('\n');
  };
  fill();
  item.show();
  const timer = setInterval(fill, everyMs);
  return vscode.Disposable.from(item, new vscode.Disposable(() => clearInterval(timer)));
}

async function offerEnd(recorded: GoingRecording, services: Services): Promise<void> {
  const { url } = recorded.recording;
  const text = t('Point clients at {0} in place of {1}.', url, recorded.target);
  const copy = t('Copy');
  const stop = t('Stop and Open Scenario');
  for (;;) {
    const answer = await vscode.window.showInformationMessage(text, copy, stop);
    if (answer === copy) {
      await vscode.env.clipboard.writeText(url);
    } else {
      if (answer === stop && going === recorded) await end(recorded, services);
      return;
    }
  }
}

async function end({ recording, file, shown }: GoingRecording, services: Services): Promise<void> {
  going = undefined;
  shown.dispose();
  try {
    if (!(await recording.finish())) {
      const { refused } = recording.counts();
      void vscode.window.showWarningMessage(
        refused === undefined
          ? t('No client came to {0}: nothing was recorded.', recording.url)
          : t(
              '{0} was asked for, and the server answered {1}: nothing was recorded. Record from the URL of the hub that clients use.',
              refused.path,
              refused.status,
            ),
      );
      return;
    }
    services.log.info(t('The recording is in {0}: it has the arguments of all messages.', file));
    const imported = await importRecording(await openRecording(file), parseScenario);
    await showImported(path.basename(file), imported, services.log);
  } catch (error) {
    services.log.error(error);
    void vscode.window.showErrorMessage(errorText(error));
  }
}
