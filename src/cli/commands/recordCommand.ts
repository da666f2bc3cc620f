import { inBackground, deferred } from '../../base/async';
import { jsonDocument, visibleJson } from '../../base/text';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { formatCount, formatDurationMs } from '../../base/units';
import { remoteHosts } from '../../wire/socket/hosts';
import { shownUrl } from '../../wire/connectFailure';
import { recordingExtension } from '../../record/recording';
import { openRecording } from '../../record/recordingFile';
import {
  readCaFile,
  parseRecordingTarget,
  startRecording,
  type RecordingOptions,
  type RunningRecording,
} from '../../record/startRecording';
import { watchRecording, type RecordWatcher } from '../../record/watchRecording';
import { importRecording, type ImportedScenario } from '../../run/importRecording';
import { proxySettings } from '../../targets/resolveEndpoint';
import { exitCode } from '../exitCode';
import { printable, wrapped } from '../views/line';
import type { EstimateDeps } from './estimateCommand';
import { canColour, canRedraw, type ProcessIo, widthOf } from '../io';
import { fileExistsMessage, writeNewFile } from './initCommand';
import {
  createLiveRecordView,
  createPlainRecordView,
  type RecordTitle,
  type RecordView,
} from '../views/recordView';
import { findingsTable } from '../../record/analyse/findings';
import { openImportFile } from '../../record/read/openImportFile';
import { secretVariable } from '../../scenario/target/references';
import { importCounters } from './storedRuns';

interface RecordFlags {
  readonly target: string;
  readonly port: number;
  readonly out?: string;
  readonly for?: number;
  readonly untilGone?: boolean;
  readonly caFile?: string;
  readonly insecureTls?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
  readonly exitWithStdin?: boolean;
}

interface RecordDeps extends EstimateDeps {
  readonly stdinEnded: (onLine: (line: string) => void) => Promise<void>;
}

/** Records clients of a hub until ended. @throws ExpectedError */
export async function recordCommand(
  flags: RecordFlags,
  io: ProcessIo,
  deps: RecordDeps,
): Promise<number> {
  const target = parseRecordingTarget(flags.target);
  const files = filesOf(flags, io);
  if (flags.force !== true && existsSync(files.scenario))
    throw new ExpectedError(
      'import-file',
      fileExistsMessage(path.relative(io.cwd, files.scenario)),
    );
  const ended = endings(flags, io, deps.stdinEnded);
  let view: RecordView | undefined;
  try {
    const recording = await startRecording({
      target: flags.target,
      port: flags.port,
      file: files.recording,
      replaces: flags.force ?? false,
      way: await wayOf(target, flags, io),
      now: io.now,
      trustAdvice:
        'Name its certificate authority with --ca-file, or accept any certificate with --insecure-tls (for test systems only).',
      onProblem: ({ message }) => view?.message(`⚠ ${message}`),
    });
    io.stdout.write(`${JSON.stringify({ url: recording.url })}\n`);
    if (/^[a-z]+:\/\/[^/]*@/i.test(flags.target))
      io.stderr.write(
        'warning: user and password of --target are not sent: clients send what the hub wants\n',
      );
    const title = titleOf(flags, recording, files);
    view = canRedraw(io)
      ? createLiveRecordView(io.stderr, title, canColour(io))
      : createPlainRecordView(io.stderr, title);
    const stopWatching = watchRecording(recording, watcher(view, { flags, io, ended }));
    await ended.over;
    stopWatching();
    const hasClients = await recording.finish();
    view.close();
    return await conclude({ recording, hasClients, files, flags, io, deps });
  } finally {
    ended.dispose();
  }
}

interface Files {
  readonly scenario: string;
  readonly recording: string;
}

function filesOf({ out }: RecordFlags, { cwd, now }: ProcessIo): Files {
  const stamp = now().toISOString().slice(0, 19).replaceAll(':', '-');
  const named = out ?? `recorded-${stamp}`;
  const stem = named.replace(/(?:\.signalr)?\.ya?ml$|\.recording\.jsonl$/i, '');
  const scenario = /\.ya?ml$/i.test(named) ? named : `${stem}.signalr.yaml`;
  return {
    scenario: path.resolve(cwd, scenario),
    recording: path.resolve(cwd, `${stem}${recordingExtension}`),
  };
}

async function wayOf(
  target: URL,
  { caFile, insecureTls = false }: RecordFlags,
  { cwd, env }: ProcessIo,
): Promise<RecordingOptions['way']> {
  const proxies = proxySettings([target.href], (name) => env[name]);
  return {
    ...(caFile !== undefined && (await readCaFile(path.resolve(cwd, caFile)))),
    insecureTls,
    proxies,
  };
}

interface Endings {
  readonly over: Promise<void>;
  end(): void;
  dispose(): void;
}

function endings(
  { for: forMs, exitWithStdin = false }: RecordFlags,
  io: ProcessIo,
  stdinEnded: RecordDeps['stdinEnded'],
): Endings {
  const { promise: over, resolve: end } = deferred();
  const subscription = io.onSignal((signal) => {
    // Ctrl+C reaches all processes of a terminal; an editor's recorder ends with its input.
    if (signal === 'SIGTERM' || !exitWithStdin) end();
  });
  const timer = forMs === undefined ? undefined : setTimeout(end, forMs);
  if (exitWithStdin) inBackground(stdinEnded(() => undefined).then(() => end()));
  return {
    over,
    end,
    dispose: () => {
      subscription.dispose();
      clearTimeout(timer);
    },
  };
}

function titleOf(flags: RecordFlags, { url }: RunningRecording, files: Files): RecordTitle {
  const target = parseRecordingTarget(flags.target).href;
  const beyond = remoteHosts([target]);
  const ways = ['with Ctrl+C'];
  if (flags.for !== undefined) ways.push(`after ${formatDurationMs(flags.for)}`);
  if (flags.untilGone === true) ways.push('when the last client has left');
  const file = path.basename(files.scenario);
  return {
    target: `${shownUrl(target)}${beyond.length > 0 ? `, on ${beyond.join(', ')}` : ''}`,
    url,
    ending: `ends ${ways.join(', or ')}; writes ${file}`,
  };
}

function watcher(
  view: RecordView,
  { flags, io, ended }: { flags: RecordFlags; io: ProcessIo; ended: Endings },
): RecordWatcher {
  return {
    onProgress(progress) {
      view.update(progress);
      if (flags.exitWithStdin !== true) return;
      const recorded = { ...progress.counts, dropped: progress.dropped };
      io.stdout.write(`${visibleJson(JSON.stringify({ recorded }))}\n`);
    },
    onAllLeft() {
      if (flags.untilGone === true) ended.end();
      else view.message('All clients are gone; the recording goes on for those that come back.');
    },
  };
}

interface Conclusion {
  readonly recording: RunningRecording;
  readonly hasClients: boolean;
  readonly files: Files;
  readonly flags: RecordFlags;
  readonly io: ProcessIo;
  readonly deps: RecordDeps;
}

/** Makes a scenario of the recording, which stays. @throws ExpectedError `nothing-recognised` */
async function conclude(conclusion: Conclusion): Promise<number> {
  const { recording, hasClients, files, flags, io, deps } = conclusion;
  const { stdout, stderr, cwd } = io;
  if (!hasClients) {
    const { refused } = recording.counts();
    stderr.write(
      refused === undefined
        ? `No client came to ${recording.url}: nothing was recorded.\n`
        : `${printable(refused.path)} was asked for, and the server answered ${refused.status}: nothing was recorded. Give --target the URL of the hub that clients use.\n`,
    );
    return exitCode.badInput;
  }
  const shown = printable(path.relative(cwd, files.recording));
  stderr.write(`wrote ${shown}: it has the arguments of all messages\n`);
  const { dropped } = recording;
  if (dropped > 0)
    stderr.write(
      `warning: ${formatCount(dropped)} events are not in it: the disk was slower than they came\n`,
    );
  const read = await openRecording(files.recording);
  const imported = await importRecording(read, deps.parseScenario, await deps.capacity());
  for (const note of read.notes()) stderr.write(`warning: ${printable(note)}\n`);
  stderr.write('\n');
  const out = path.relative(cwd, files.scenario);
  const { json = false, force = false, exitWithStdin = false } = flags;
  if (exitWithStdin) stdout.write(`${JSON.stringify({ wrote: files })}\n`);
  return reportImported(imported, { out, json, force }, io);
}

interface ImportFlags {
  readonly json?: boolean;
  readonly out?: string;
  readonly force?: boolean;
}

/** Makes a scenario of a recording, or sums up a counter file. @throws ExpectedError */
export async function importCommand(
  file: string,
  flags: ImportFlags,
  io: ProcessIo,
  deps: EstimateDeps,
): Promise<number> {
  const read = await openImportFile(file);
  if (read === undefined) return importCounters(file, flags, io);
  const model = await deps.capacity();
  const imported = await importRecording(read, deps.parseScenario, model);
  for (const note of read.notes()) io.stderr.write(`warning: ${printable(note)}\n`);
  return reportImported(imported, flags, io);
}

/** Scenario to a file or standard output; findings and estimate to standard error. */
async function reportImported(
  imported: ImportedScenario,
  { out, json = false, force }: ImportFlags,
  { stdout, stderr, cwd }: ProcessIo,
): Promise<number> {
  const { yaml, found, problems, estimate, noEstimate, unlike } = imported;
  if (out !== undefined) await writeNewFile(yaml, { file: out, force }, 'import-file', { cwd });
  const width = Math.min(100, widthOf(stderr));
  const size =
    estimate === undefined
      ? `No estimate: ${noEstimate ?? 'the scenario has problems'}`
      : `Estimate: ${estimate.unit === null ? 'no size of the guide fits' : `Unit ${estimate.unit}`}, ${estimate.binding.text}`;
  const lines = [
    ...(unlike === undefined
      ? []
      : [...wrapped(`warning: ${unlike}`, width, '  ').map(({ text }) => text), '']),
    ...findingsTable(found, width, secretVariable),
    '',
    ...wrapped(size, width, '  ').map(({ text }) => text),
    ...problems
      .filter(({ severity }) => severity === 'error')
      .slice(0, 5)
      .map(({ message }) => `warning: correct the scenario: ${message}`),
    ...(out === undefined ? [] : [`wrote ${out}`]),
  ];
  stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
  if (json)
    stdout.write(
      jsonDocument({
        found,
        unlike,
        estimate,
        ...(out === undefined ? { yaml } : { out }),
      }),
    );
  else if (out === undefined) stdout.write(yaml);
  return exitCode.done;
}
