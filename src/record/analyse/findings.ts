import { visibleLine } from '../../base/text';
import { plural, formatCount, formatDurationMs } from '../../base/units';
import type { RecordingHeader } from '../recording';
import { peakClients, totalStayUs, type ClientStay } from './connectionPlan';

/** What was recognised in a recording and what was not: printed, and as JSON. */
export interface Findings {
  readonly target: string;
  readonly startedAt: string;
  readonly kind: 'signalr' | 'webpubsub';
  readonly transports: readonly string[];
  readonly protocols: readonly string[];
  readonly clients: number;
  readonly clientsAtOnce: number;
  readonly seconds: number;
  readonly clientSeconds: number;
  readonly messages: number;
  readonly kinds: readonly FoundKind[];
  readonly calls: readonly FoundCall[];
  readonly callbacks: readonly FoundCallback[];
  readonly notRecognised: readonly { readonly what: string; readonly count: number }[];
  readonly secrets: readonly string[];
}

/** What is said of any recording. */
export const commonFindings = (
  { startedAt, kind }: RecordingHeader,
  clients: readonly ClientStay[],
  { messages, endUs, leftOut }: RecordingTotals,
) => ({
  startedAt,
  kind,
  messages,
  clients: clients.length,
  clientsAtOnce: peakClients(clients),
  clientSeconds: totalStayUs(clients, endUs) / 1_000_000,
  seconds: endUs / 1_000_000,
  transports: [...new Set(clients.map(({ open }) => open.transport))],
  protocols: [...new Set(clients.map(({ open }) => open.protocol))],
  notRecognised: [...leftOut].map(([what, count]) => ({ what, count })),
});

interface RecordingTotals {
  readonly messages: number;
  readonly endUs: number;
  readonly leftOut: ReadonlyMap<string, number>;
}

export interface FoundKind {
  readonly clients: number;
  readonly sessions: number;
  readonly unfinished: number;
  readonly calls: readonly string[];
}

export interface FoundCall {
  readonly method: string;
  readonly count: number;
  readonly as: string;
}

export interface FoundCallback {
  readonly target: string;
  readonly count: number;
  readonly perSecond: number;
  /** Over all clients that received it, for each call of the method that caused it. */
  readonly perCall?: number;
  readonly as: string;
  readonly recognised: boolean;
}

/** As a table for a terminal. @param secretName what people set for the reference of this name */
export function findingsTable(
  found: Findings,
  width: number,
  secretName: (name: string) => string = (name) => name,
): string[] {
  const { calls, callbacks, notRecognised, secrets } = found;
  const names = [...calls.map(({ method }) => method), ...callbacks.map(({ target }) => target)];
  const nameWidth = Math.min(28, Math.max(14, ...names.map((name) => visibleLine(name).length)));
  const row = (name: string, count: string, words: string): string[] => {
    const start = `${cut(name, nameWidth).padEnd(nameWidth)}${count.padStart(9)}  `;
    const [first = '', ...more] = wrapped(words, Math.max(20, width - start.length));
    return [`${start}${first}`, ...more.map((line) => `${' '.repeat(start.length)}${line}`)].map(
      (line) => line.trimEnd(),
    );
  };
  const open = callbacks.filter(({ recognised }) => !recognised);
  return [
    ...wrapped(summaryOf(found), width),
    '',
    ...row('call', 'seen', 'became'),
    ...calls.flatMap(({ method, count, as }) => row(method, formatCount(count), as)),
    ...callbacks
      .filter(({ recognised }) => recognised)
      .flatMap(({ target, count, as }) => row(target, formatCount(count), `callback, ${as}`)),
    ...(open.length + notRecognised.length === 0 ? [] : ['', ...row('not recognised', 'seen', '')]),
    ...open.flatMap(({ target, count, as }) => row(target, formatCount(count), `callback, ${as}`)),
    ...notRecognised.flatMap(({ what, count }) => row('', formatCount(count), what)),
    ...(secrets.length === 0
      ? []
      : [
          '',
          ...wrapped(
            `Secrets that were seen and not written: set ${secrets.map(secretName).join(', ')}.`,
            width,
          ),
        ]),
  ];
}

function summaryOf({
  clients,
  kinds,
  seconds,
  messages,
  target,
  transports,
  protocols,
}: Findings): string {
  const seen = [...transports, ...protocols].join(', ');
  const sorts = kinds.length === 1 ? '1 kind' : `${kinds.length} kinds`;
  return `${plural(clients, 'client')} of ${sorts}, ${formatDurationMs(seconds * 1000)}, ${plural(messages, 'message')} from ${target} (${seen})`;
}

const cut = (text: string, width: number): string => {
  const line = visibleLine(text);
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
};

export function wrapped(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  for (const word of visibleLine(text).split(' ')) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(word);
    else if (line.length + 1 + word.length > width) lines.push(indent + word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
