import { unlink } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { ExpectedError } from '../base/expectedError';
import { readFileBounded } from '../results/readResult';
import { shownUrl } from '../wire/connectFailure';
import type { SocketSettings } from '../wire/socket/socket';
import { RecordingProxy, type Trust } from './proxy/recordingProxy';
import type { RecordedCounts } from './proxy/recorder';
import { recordingSchema } from './recording';
import { closeFile, createRecordingFile, RecordingWriter } from './recordingFile';

export interface RecordingOptions {
  readonly target: string;
  readonly port: number;
  readonly file: string;
  readonly replaces: boolean;
  readonly way: SocketSettings & Trust;
  readonly trustAdvice?: string;
  readonly now: () => Date;
  /** Each text once, until other certificates are trusted. */
  readonly onProblem: (problem: ExpectedError) => void;
}

export interface RunningRecording {
  readonly url: string;
  counts(): RecordedCounts;
  trust(trust: Trust): void;
  /** Events that the disk was too slow for. */
  readonly dropped: number;
  /** @returns whether a client came; otherwise there is no file */
  finish(): Promise<boolean>;
}

const httpProtocols: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'ws:': 'http:',
  'wss:': 'https:',
};

/** @throws ExpectedError `target-url` */
export function parseRecordingTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = httpProtocols[url?.protocol ?? ''];
  if (url === undefined || protocol === undefined || url.hostname === '')
    throw new ExpectedError(
      'target-url',
      'The target of a recording is the URL that clients begin with: that of a hub, such as http://localhost:5050/chat, or of the negotiate endpoint of an application.',
    );
  const target = new URL(url.href.replace(/^[a-z]+:/, protocol));
  target.username = target.password = target.hash = '';
  return target;
}

/** @throws ExpectedError `ca-file` */
export async function readCaFile(file: string): Promise<Trust> {
  const text = await readFileBounded(file).catch((cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : message;
    throw new ExpectedError('ca-file', `${file} cannot be read: ${why}.`, { cause });
  });
  if (text.includes('-----BEGIN CERTIFICATE-----'))
    return { insecureTls: false, ca: text, caFile: file };
  throw new ExpectedError(
    'ca-file',
    `${file} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).`,
  );
}

/**
 * Everything up to a crash is in the file.
 * @throws ExpectedError as {@link RecordingProxy.start} and {@link createRecordingFile}
 */
export async function startRecording(options: RecordingOptions): Promise<RunningRecording> {
  const { target: text, port, file, replaces, way, trustAdvice } = options;
  const target = parseRecordingTarget(text);
  if (replaces) await unlink(file).catch(() => undefined);
  const sink = await createRecordingFile(file);
  const startedAt = options.now().toISOString();
  let trusted: Trust = way;
  const said = new Set<string>();
  let writer: RecordingWriter | undefined;
  let proxy: RecordingProxy;
  try {
    proxy = await RecordingProxy.start({
      target,
      port,
      way,
      trustAdvice,
      onProblem: (problem) => {
        if (said.has(problem.message) || said.size > 100) return;
        said.add(problem.message);
        options.onProblem(problem);
      },
      onEvent: (event, kind) => {
        writer ??= new RecordingWriter(sink, {
          schema: recordingSchema,
          target: shownTarget(target),
          startedAt,
          kind,
          caFile: trusted.insecureTls ? undefined : trusted.caFile,
          insecureTls: trusted.insecureTls || undefined,
        });
        writer.add(event);
      },
    });
  } catch (error) {
    await discard(sink, file);
    throw error;
  }
  return {
    url: proxy.url,
    counts: () => proxy.counts(),
    trust: (trust) => {
      trusted = trust;
      // Certificates that are still unknown are asked for again.
      said.clear();
      proxy.trust(trust);
    },
    get dropped() {
      return writer?.dropped ?? 0;
    },
    finish: async () => {
      await proxy.dispose();
      if (writer === undefined) await discard(sink, file);
      else await writer.close();
      return writer !== undefined;
    },
  };
}

function shownTarget(target: URL): string {
  const names = [...new Set(target.searchParams.keys())];
  const query = names.map((name) => `${encodeURIComponent(name)}=`).join('&');
  return `${shownUrl(target.href)}${query === '' ? '' : `?${query}`}`;
}

async function discard(sink: Writable, file: string): Promise<void> {
  await closeFile(sink);
  await unlink(file).catch(() => undefined);
}
