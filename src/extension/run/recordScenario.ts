import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import { formatCount } from '../../base/units';
import { findingsTable } from '../../record/analyse/findings';
import { openImportFile } from '../../record/read/openImportFile';
import { recordingExtension } from '../../record/recording';
import { openRecording } from '../../record/recordingFile';
import { replayScenario } from '../../record/replay/replayScenario';
import { type Trust, unknownCertificateCode } from '../../record/proxy/recordingProxy';
import {
  readCaFile,
  startRecording,
  type RecordingOptions,
  type RunningRecording,
} from '../../record/startRecording';
import { redactUrl } from '../../results/redact';
import {
  watchRecording,
  trafficRows,
  trafficText,
  type RecordProgress,
} from '../../record/watchRecording';
import { parseScenario } from '../../scenario/parseScenario';
import { type ImportedScenario, importRecording } from '../../run/importRecording';
import { proxySettings } from '../../targets/resolveEndpoint';
import { askPick, back } from '../askInSteps';
import { errorText, t, inBackground } from '../log';
import { ask, offer, say, showWhile } from '../notices';
import { ensureTrusted } from '../questions';
import type { Services } from '../services';
import { askHubUrl, nodeOf } from '../targets/targetCommands';
import { openUnsaved } from './runCommands';
import { visibleLine, type Translate } from '../../base/text';

interface GoingRecording {
  readonly target: string;
  readonly file: string;
  readonly recording: RunningRecording;
  readonly shown: vscode.Disposable;
}

/**
 * Records clients of a hub until stopped, then opens the scenario. Runs in the extension host: a few people make
 * little traffic.
 */
export class ScenarioRecorder implements vscode.Disposable {
  private going: GoingRecording | undefined;
  /** Certificates the user trusts in this window, by target. */
  private readonly trustIn = new Map<string, Trust>();

  constructor(private readonly services: Services) {}

  async record(argument: unknown): Promise<void> {
    if (this.going === undefined) await this.beginIn(argument);
    if (this.going !== undefined) await this.offerEnd(this.going);
  }

  /** Finishes the recording; its file keeps what was recorded. */
  dispose(): void {
    this.going?.shown.dispose();
    inBackground(this.going?.recording.finish());
    this.going = undefined;
  }

  private async beginIn(argument: unknown): Promise<void> {
    if (!(await ensureTrusted())) return;
    const node = nodeOf(argument);
    const target = node?.kind === 'hub' ? node.url : await askTarget(this.services);
    if (target === undefined) return;
    try {
      const begun = await showWhile(t('Connecting to {0}', target), async () =>
        begin(target, this.services, {
          way: this.trustIn.get(target) ?? { insecureTls: false },
          onProblem: (problem) => {
            this.services.log.warn(problem.message);
            inBackground(this.sayProblem(problem, target, (trust) => begun.recording.trust(trust)));
          },
        }),
      );
      if (this.going !== undefined) await begun.recording.finish();
      else this.going = { ...begun, shown: this.show(begun.recording) };
    } catch (error) {
      this.services.log.error(error);
      inBackground(this.sayProblem(error, target, () => this.record({ kind: 'hub', url: target })));
    }
  }

  private async sayProblem(
    error: unknown,
    target: string,
    goOn: (trust: Trust) => unknown,
  ): Promise<void> {
    const text = errorText(error);
    if (!(error instanceof ExpectedError) || error.code !== unknownCertificateCode) {
      await ask('Error', text);
      return;
    }
    const todo = t(
      'Choose the file of its certificate authority, or accept any certificate (for test systems only).',
    );
    const trustBy = (trust: Trust | undefined): unknown => {
      if (trust === undefined) return undefined;
      this.trustIn.set(target, trust);
      return goOn(trust);
    };
    await offer('Error', `${text} ${todo}`, {
      [t('Choose Certificate Authority…')]: async () => trustBy(await chooseAuthority()),
      [t('Accept Any Certificate')]: () => trustBy({ insecureTls: true }),
    });
  }

  private show(recording: RunningRecording): vscode.Disposable {
    return showNumbers(recording, () => {
      if (this.going?.recording === recording) this.sayGone(this.going);
    });
  }

  private async offerEnd(recorded: GoingRecording): Promise<void> {
    const { url } = recorded.recording;
    const text = t('Point clients at {0} in place of {1}.', url, recorded.target);
    const copy = t('Copy');
    while ((await this.ask(recorded, text, [copy, stopLabel()])) === copy)
      await vscode.env.clipboard.writeText(url);
  }

  private sayGone(recorded: GoingRecording): void {
    const text = t('All clients have left. The recording goes on until you stop it.');
    inBackground(this.ask(recorded, text, [stopLabel(), t('Keep Recording')]));
  }

  private async ask(
    recorded: GoingRecording,
    text: string,
    buttons: readonly string[],
  ): Promise<string | undefined> {
    const answer = await ask('Information', text, ...buttons);
    if (answer === stopLabel() && this.going === recorded) {
      this.going = undefined;
      await end(recorded, this.services);
    }
    return answer;
  }
}

const stopLabel = (): string => t('Stop and Open Scenario');

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

async function chooseAuthority(): Promise<Trust | undefined> {
  const certificates = { [t('Certificates')]: ['pem', 'crt', 'cer'] };
  const file = await chooseFile(t('Certificate Authority'), undefined, certificates);
  if (file === undefined) return undefined;
  try {
    return await readCaFile(file.fsPath);
  } catch (error) {
    say('Error', errorText(error));
    return undefined;
  }
}

async function begin(
  target: string,
  { places }: Services,
  { way, onProblem }: Pick<RecordingOptions, 'way' | 'onProblem'>,
): Promise<Omit<GoingRecording, 'shown'>> {
  const [folder = ''] = places.for(undefined);
  await mkdir(folder, { recursive: true });
  // To the millisecond: recordings may start within a second.
  const stamp = new Date().toISOString().slice(0, 23).replaceAll(/[:.]/g, '-');
  const file = path.join(folder, `recorded-${stamp}${recordingExtension}`);
  const proxies = proxySettings([target.replace(/^ws/, 'http')], (name) => process.env[name]);
  const recording = await startRecording({
    target,
    file,
    port: 0,
    replaces: false,
    now: () => new Date(),
    way: { ...way, proxies },
    onProblem,
  });
  return { target, file, recording };
}

/** Live numbers in the status bar; a click offers to stop. */
function showNumbers(recording: RunningRecording, onGone: () => void): vscode.Disposable {
  const item = vscode.window.createStatusBarItem(
    'signalrBenchmark.recording',
    vscode.StatusBarAlignment.Left,
    51,
  );
  item.name = t('Recording');
  item.command = 'signalrBenchmark.recordScenario';
  const url = redactUrl(recording.url);
  const stop = watchRecording(recording, {
    onProgress(progress) {
      const { text, hover } = recordingTexts(progress, url, t);
      item.text = `$(record) ${text}`;
      item.tooltip = new vscode.MarkdownString(hover);
    },
    onAllLeft: onGone,
  });
  item.show();
  return vscode.Disposable.from(item, new vscode.Disposable(stop));
}

async function end({ recording, file, shown }: GoingRecording, services: Services): Promise<void> {
  shown.dispose();
  try {
    if (!(await recording.finish())) {
      const { refused } = recording.counts();
      say(
        'Warning',
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
    say('Error', errorText(error));
  }
}

/** Opens an unsaved scenario that replays the recording, one connection per client. */
export async function replayRecordingFile(argument: unknown): Promise<void> {
  const file =
    argument instanceof vscode.Uri
      ? argument
      : await chooseFile(t('Replay Recording'), t('Replay'), { [t('Recordings')]: ['jsonl'] });
  if (file === undefined) return;
  const { fsPath } = file;
  const text = await replayScenario(fsPath, { named: fsPath });
  const name = path.basename(fsPath).replace(/(?:\.recording)?\.[^.]*$/, '');
  await openUnsaved(`${name || 'recording'}.replay.signalr.yaml`, text);
}

/** Opens an unsaved scenario made of a recording, HAR file or log; details are in the log. */
export async function importRecordingFile(argument: unknown, { log }: Services): Promise<void> {
  const file =
    argument instanceof vscode.Uri
      ? argument
      : await chooseFile(t('Import Recording'), t('Import'), {
          [t('Recordings, HAR files, logs')]: ['jsonl', 'har', 'log'],
        });
  if (file === undefined) return;
  const name = path.basename(file.fsPath);
  const imported = await showWhile(
    t('Importing {0}', name),
    async (): Promise<ImportedScenario | undefined> => {
      const read = await openImportFile(file.fsPath);
      if (read === undefined) return undefined;
      const made = await importRecording(read, parseScenario);
      for (const note of read.notes()) log.warn(note);
      return made;
    },
  );
  if (imported === undefined) {
    const text = t('{0} is not a recording, HAR file or log of the JavaScript client.', name);
    say('Error', text);
    return;
  }
  await showImported(name, imported, log);
}

async function showImported(
  name: string,
  { yaml, found, unlike }: ImportedScenario,
  log: Services['log'],
): Promise<void> {
  await openUnsaved(`${name.replace(/(?:\.recording)?\.[^.]*$/, '') || name}.signalr.yaml`, yaml);
  if (unlike !== undefined) {
    log.warn(unlike);
    say('Warning', unlike);
  }
  for (const line of findingsTable(found, 100)) if (line !== '') log.info(line);
  const calls = formatCount(found.calls.length);
  const lost =
    found.notRecognised.length + found.callbacks.filter(({ recognised }) => !recognised).length;
  const text =
    lost === 0
      ? t('Recognised in {0}: clients {2}, methods {1}.', name, calls, found.clients)
      : t(
          'Recognised in {0}: clients {2}, methods {1}. What was not is listed at the top of the scenario.',
          name,
          calls,
          found.clients,
        );
  inBackground(offer('Information', text, { [t('Show Log')]: () => log.show() }));
}

async function chooseFile(
  title: string,
  openLabel: string | undefined,
  filters: Readonly<Record<string, string[]>>,
): Promise<vscode.Uri | undefined> {
  const options = { title, openLabel, filters: { ...filters, '*': ['*'] } };
  return (await vscode.window.showOpenDialog(options))?.[0];
}

const mostRows = 10;

/** Text of the status bar, and its hover in Markdown. */
export function recordingTexts(
  progress: RecordProgress,
  url: string,
  t: Translate,
): { readonly text: string; readonly hover: string } {
  const { counts, dropped } = progress;
  const { clients, everSeen, messages, unknown } = counts;
  const tables = (['calls', 'callbacks'] as const)
    .map((kind) => ({ kind, ...trafficRows(progress, kind, mostRows) }))
    .filter(({ rows }) => rows.length > 0)
    .flatMap(({ kind, rows, more }, at) => {
      const heads = [
        kind === 'calls' ? t('Call') : t('Callback'),
        t('Seen'),
        t('Per s'),
        t('Size'),
      ];
      return [
        ...(at === 0
          ? ['', row(heads), '|:--|--:|--:|--:|']
          : [row([gap]), row(heads.map((head) => `**${head}**`))]),
        ...rows.map(({ name, seen, perS, size }) => row([code(name), seen, perS, size])),
        ...(more > 0 ? [row([`… ${t('{0} more', formatCount(more))}`])] : []),
      ];
    });
  const passed =
    everSeen === 0
      ? [t('no client yet')]
      : [
          everSeen > clients
            ? t('clients {0}, {1} were seen', formatCount(clients), formatCount(everSeen))
            : t('clients {0}', formatCount(clients)),
          `${t('out')} ${trafficText(progress, 'out')}`,
          `${t('in')} ${trafficText(progress, 'in')}`,
        ];
  if (unknown > 0) passed.push(t('{0} not understood', formatCount(unknown)));
  if (dropped > 0) passed.push(t('{0} left out, the disk is too slow', formatCount(dropped)));
  return {
    text: t('clients {0}, messages {1}', clients, formatCount(messages.out + messages.in)),
    hover: [t('Recording clients of {0}', code(url, 300)), '', passed.join('  \n'), ...tables].join(
      '\n',
    ),
  };
}

const gap = '&emsp;';
const row = (cells: readonly string[]): string => `| ${cells.join(` | ${gap}`)} |`;

/** Foreign text as code: no Markdown in it works, and it cannot end the code or its cell. */
const code = (text: string, most = 60): string =>
  `\`${visibleLine(text)
    .replace(/[`|\\]/g, '·')
    .slice(0, most)}\``;
