import { createReadStream } from 'node:fs';
import { ExpectedError } from '../../base/expectedError';
import { formatCount } from '../../base/units';
import type { Direction, OpenedRecording, RecordedTransport } from '../recording';
import { isServiceUrl, ImportedClients, type ImportedClient } from './importedClients';

/**
 * Trace log of `@microsoft/signalr` with `logMessageContent: true`, in the words of its ConsoleLogger and transports; browsers
 * put the code location before each line.
 */
const line =
  /\[(\d{4}-\d\d-\d\dT[\d:.]{8,12}Z)\] (?:Trace|Debug|Information|Warning|Error|Critical): (.*)$/s;
const negotiation = /^Sending negotiation request: (\S+?)\.$/;
const connected = /^(?:WebSocket connected to (\S+?)\.|SSE connected to (\S+))$/;
const polling = /^\(LongPolling transport\) polling: (\S+?)\.$/;
const data =
  /^\((WebSockets|SSE|LongPolling) transport\) (sending data|data received)\. (String|Binary) data of length (\d+)(?:\. Content: '(.*)')?\.$/s;
const over =
  /^(?:\(WebSockets transport\) socket closed\.|Connection disconnected(?: with error .*)?\.)$/s;
const transports: Readonly<Record<string, RecordedTransport>> = {
  WebSockets: 'WebSockets',
  SSE: 'ServerSentEvents',
  LongPolling: 'LongPolling',
};
const longestLine = 16 * 1024 * 1024;

export const isLog = (head: string): boolean => head.split(/\r?\n/).some((text) => line.test(text));

/** @throws ExpectedError `import-file` without messages, or without their content */
export async function readLogFile(file: string): Promise<OpenedRecording> {
  const reader = new LogReader();
  const notes: string[] = [];
  for await (const text of linesOf(file)) {
    reader.line(text.slice(0, longestLine));
    if (!reader.clients.isFull) continue;
    notes.push('Only the first part of the log was read: that many messages are analysed at most.');
    break;
  }
  const { withoutContent, messages, clients, overlaps } = reader;
  if (withoutContent > 0 && messages === 0)
    throw problem(
      file,
      `has ${formatCount(withoutContent)} messages without their content. Set logMessageContent: true in the options of withUrl and log again`,
    );
  if (messages === 0)
    throw problem(
      file,
      'has no messages with their times. Use configureLogging(LogLevel.Trace) and logMessageContent: true in the options of withUrl, and keep the time at the beginning of each line',
    );
  if (withoutContent > 0)
    notes.push(
      `${formatCount(withoutContent)} messages have no content in the log; they were left out.`,
    );
  if (overlaps > 0)
    notes.push(
      'The log has several connections at the same time, and its lines do not say which one they are of: the newest has them all. Log each connection to a file of its own.',
    );
  return { ...clients.recording(), notes: () => notes };
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let line = '';
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    let at = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', at)) {
      yield line + chunk.slice(at, end);
      line = '';
      at = end + 1;
    }
    if (line.length < longestLine) line += chunk.slice(at);
  }
  yield line;
}

const problem = (file: string, what: string): ExpectedError =>
  new ExpectedError('import-file', `${file} ${what}.`);

class LogReader {
  readonly clients = new ImportedClients();
  withoutContent = 0;
  messages = 0;
  overlaps = 0;
  private url = '';
  private client: ImportedClient | undefined;
  private transport: RecordedTransport | undefined;

  line(text: string): void {
    const found = line.exec(text.trimEnd());
    const atMs = Date.parse(found?.[1] ?? '');
    if (found === null || Number.isNaN(atMs)) return;
    const message = found[2]!;
    const asked = negotiation.exec(message);
    if (asked !== null && !asked[1]!.includes('/client/negotiate'))
      this.url = asked[1]!.replace(/\/negotiate(?=\?|$)/, '');
    const at = connected.exec(message) ?? polling.exec(message);
    if (at !== null) this.connected(atMs, at[1] ?? at[2]!, message);
    else if (over.test(message)) this.over(atMs);
    else this.data(atMs, message);
  }

  private connected(atMs: number, url: string, message: string): void {
    const transport: RecordedTransport = message.startsWith('WebSocket')
      ? 'WebSockets'
      : message.startsWith('SSE')
        ? 'ServerSentEvents'
        : 'LongPolling';
    if (transport === 'LongPolling' && this.client !== undefined && this.transport === transport)
      return;
    if (this.client !== undefined) this.overlaps += 1;
    this.transport = transport;
    this.client = this.clients.open(atMs, {
      ...{ url: url || this.url, transport, kind: 'signalr' },
      ...(isServiceUrl(url) && this.url !== '' && { hubUrl: this.url }),
      token: /[?&]access_token=/.test(url),
    });
  }

  private over(atMs: number): void {
    this.client?.over(atMs);
    this.client = undefined;
  }

  private data(atMs: number, message: string): void {
    const found = data.exec(message);
    if (found === null) return;
    const [, name = '', verb, form, , content] = found;
    if (content === undefined) {
      this.withoutContent += 1;
      return;
    }
    this.messages += 1;
    // A log may begin after the client connected.
    this.client ??= this.clients.open(atMs, {
      ...{ url: this.url, transport: transports[name]!, kind: 'signalr' },
    });
    const isText = form === 'String';
    const payload = isText ? Buffer.from(separated(content), 'utf8') : bytesOf(content);
    const direction: Direction = verb === 'sending data' ? 'out' : 'in';
    this.client.said(atMs, direction, payload, isText);
  }
}

const bytesOf = (content: string): Buffer => Buffer.from(content.replace(/0x|\s/g, ''), 'hex');

/** Restores the separators of messages, which some log programs remove. */
function separated(content: string): string {
  if (content.includes('\u001e') || !content.startsWith('{')) return content;
  let depth = 0;
  let inText = false;
  let written = '';
  for (let at = 0; at < content.length; at++) {
    const letter = content[at]!;
    written += letter;
    if (letter === '\\' && inText) written += content[++at] ?? '';
    else if (letter === '"') inText = !inText;
    else if (!inText && letter === '{') depth += 1;
    else if (!inText && letter === '}' && --depth === 0) written += '\u001e';
  }
  return written;
}
