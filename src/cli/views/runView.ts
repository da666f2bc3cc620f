/** A run in the terminal while it goes on. */
import { say } from '../../base/sentence';
import { sortErrorCounts, type ErrorCounts } from '../../base/errorClass';
import { latencyWords, formatCount, formatLatencyUs } from '../../base/units';
import { detectStall } from '../../measure/judge/stepWatches';
import { searchedValueWords } from '../../measure/show/searchSentence';
import {
  callLabel,
  callRows,
  sessionParts,
  sessionRows,
  sessionSentences,
} from '../../measure/show/callTable';
import type { Phase, SearchProgress, Snapshot, StepProgress } from '../../measure/snapshot';
import type { ConnectionSummary } from '../../measure/summary';
import {
  callNameWithCount,
  visibleColumns,
  lowercaseHead,
  tooFewMark,
  entryRows,
  pushedRows,
  progressRow,
  type StepColumn,
  type StepRow,
} from '../../measure/show/stepColumns';
import { panelStrings } from '../../measure/show/panelStrings';
import type { Dialect, Scenario } from '../../scenario/scenario';
import { formatClock, describeLoad, describeUnusual, formatTimeLeft } from '../../run/runWords';
import { widthOf, type Output } from '../io';
import { cut, paint, paintAll, printable, wrapped, type Line, type Tone } from './line';
import { callLines, pushedLines } from './runTables';
import { createEntryTable, noteLines, createStepTable } from './stepTable';

export interface RunView {
  update(snapshot: Snapshot): void;
  message(text: string): void;
  close(): void;
}

export interface RunTitle {
  readonly file: string;
  readonly url: string;
  readonly scenario: Scenario;
  readonly dialect?: Dialect;
  readonly emulated?: true;
}

function titleLines({ file, url, scenario, ...target }: RunTitle): string[] {
  const how = describeUnusual(scenario, target);
  return [`${file} → ${url}`, describeLoad(scenario), ...(how === '' ? [] : [how])];
}

/** `connecting   1,900 of 1,900   p99 84ms   3 failed`. */
export function connectingText({ phase, connections }: Snapshot): string {
  const { connected, takingPart = connected, connectP99Us } = connections;
  const word = phase === 'connecting' ? 'connecting' : 'connected ';
  const open = { ...connections, connected: takingPart };
  return `${word}   ${connectionCounts(open, [`p99 ${formatLatencyUs(connectP99Us)}`])}`;
}

export function connectionCounts(
  connections: Snapshot['connections'] | ConnectionSummary,
  times: readonly string[],
): string {
  const { requested, connected, failed, dropped, reconnected = 0 } = connections;
  return [
    `${formatCount(connected)} of ${formatCount(requested)}`,
    ...(connected > 0 ? times : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(dropped > 0 ? [`${formatCount(dropped)} dropped`] : []),
    ...(reconnected > 0 ? [`${formatCount(reconnected)} reconnected`] : []),
  ].join('   ');
}

const phaseWords: Readonly<Record<Phase, string>> = {
  connecting: 'opening connections',
  preparing: 'preparing connections',
  warmup: 'warming up, not measured',
  measuring: 'measuring',
  draining: 'waiting for what is outstanding',
  closing: 'closing connections',
  done: 'done',
};

/** `no delivery for 2.1 s, 400 waiting`; undefined without a stall. */
export function stallText({ step }: Pick<Snapshot, 'step'>): string | undefined {
  const stall = step && detectStall(step);
  if (!stall) return undefined;
  const count = formatCount(stall.count);
  return stall.kind === 'silent'
    ? `no delivery for ${stall.seconds} s, ${count} waiting`
    : `${count} waiting, the oldest for at least ${stall.seconds} s`;
}

/** `⚠ not met by now: 99 % of 260 deliveries within …`. */
function missedLine({ latest }: RunProgress): Line[] {
  const missed = latest?.step?.missed;
  if (missed === undefined) return [];
  const { message, isFinal } = missed;
  return [
    isFinal
      ? { text: `✗ cannot be met any more; at best: ${message}`, tone: 'bad' }
      : { text: `⚠ not met by now: ${message}`, tone: 'warn' },
  ];
}

function silentText({ agents = [] }: Snapshot): string[] {
  const silent = agents.filter(({ status }) => status === 'silent');
  const [first] = silent;
  if (first === undefined) return [];
  const isOne = silent.length === 1;
  return [isOne ? `⚠ agent ${first.index} is silent` : `⚠ ${silent.length} agents are silent`];
}

/** `step 3 of 3: measuring, 0:12 left; 40 outstanding; errors: 3 timeout`. */
function statusText(snapshot: Snapshot, progress: RunProgress): string {
  const { phase, step, stepCount, errors, search } = snapshot;
  const inStep = step && !lastStepIsOver(progress) && phase !== 'connecting';
  const stall = inStep ? stallText(snapshot) : undefined;
  const outstanding = inStep && phase !== 'warmup' && !stall ? step.outstanding : 0;
  return [
    ...(search ? searchText(search) : []),
    `${stall ? '⚠ ' : ''}${inStep ? placeText(step.index, stepCount, search) : ''}${
      stall ? `${stall}; ` : ''
    }${phaseWords[phase]}${inStep && phase === 'measuring' ? `, ${formatTimeLeft(step)} left` : ''}`,
    ...silentText(snapshot),
    ...(outstanding > 0 ? [`${formatCount(outstanding)} outstanding`] : []),
    ...errorWords(errors),
  ].join('; ');
}

/** `passed at 400 senders, failed at 800`. */
function searchText({ of, low, high }: SearchProgress): string[] {
  const passed = low === null ? [] : [`passed at ${say(searchedValueWords({ of }, low))}`];
  const failed = high === null ? [] : [`failed at ${formatCount(high)}`];
  return passed.length + failed.length === 0 ? [] : [[...passed, ...failed].join(', ')];
}

const placeText = (index: number, count: number, search: SearchProgress | undefined): string =>
  search === undefined
    ? `step ${index} of ${formatCount(count)}: `
    : `step ${index} with ${say(searchedValueWords(search, search.value))}: `;

export interface RunProgress {
  readonly latest?: Snapshot;
  readonly steps: readonly StepProgress[];
}

export const noProgress: RunProgress = { steps: [] };

export function withSnapshot({ steps }: RunProgress, snapshot: Snapshot): RunProgress {
  const { step } = snapshot;
  if (!step) return { latest: snapshot, steps };
  const known = steps.at(-1)?.index === step.index;
  return { latest: snapshot, steps: [...(known ? steps.slice(0, -1) : steps), step] };
}

function lastStepIsOver({ latest }: RunProgress): boolean {
  return latest?.phase === 'closing' || latest?.phase === 'done';
}

/** Rows of the table; the current one has its time left. */
function rowsOf(progress: RunProgress): StepRow[] {
  const { latest, steps } = progress;
  return steps.map((seen, position) => {
    const over = position < steps.length - 1 || lastStepIsOver(progress);
    const row = progressRow({ ...seen, over: seen.over || over });
    if (over || !latest) return row;
    const { index, senders } = seen;
    if (latest.phase === 'warmup' || latest.phase === 'preparing')
      return { index, senders, current: true };
    const left = latest.phase === 'measuring' ? { left: formatTimeLeft(seen) } : {};
    return { ...row, current: true, ...left };
  });
}

/** `errors: 12 timeout, 3 refused`, most frequent first. */
function errorWords(errors: ErrorCounts): string[] {
  const counts = sortErrorCounts(errors);
  if (counts.length === 0) return [];
  return [`errors: ${counts.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ')}`];
}

const mostEntries = 8;
/** Lines beside the rows: title, connecting, head, status, blanks, cursor. */
const otherLines = 9;

export function createLiveView(output: Output, title: RunTitle, colour: boolean): RunView {
  let progress: RunProgress = noProgress;
  let drawn = 0;
  const erase = (): string => (drawn === 0 ? '' : `\x1b[${drawn}A\r\x1b[J`);
  const draw = (): void => {
    const width = widthOf(output);
    const lines = liveLines(title, progress, output.rows ?? 24, width);
    const fitting = lines.map((line) => ({ ...line, text: cut(line.text, width) }));
    output.write(erase() + paintAll(fitting, colour));
    drawn = lines.length;
  };
  return {
    update(snapshot) {
      progress = withSnapshot(progress, snapshot);
      draw();
    },
    message(text) {
      output.write(`${erase()}${paint({ text }, colour)}\n`);
      drawn = 0;
      if (progress.latest) draw();
    },
    close() {
      output.write(erase());
      drawn = 0;
    },
  };
}

export function liveLines(
  title: RunTitle,
  progress: RunProgress,
  terminalRows: number,
  width = 80,
): Line[] {
  const { latest } = progress;
  const rows = rowsOf(progress);
  const table = createStepTable(width, rows);
  const entryLines = mixLines(latest?.step, width);
  const [heading = '', ...loadLines] = titleLines(title);
  const notes = noteLines(rows);
  const missed = missedLine(progress).flatMap(({ text, tone }) => wrapped(text, width, '  ', tone));
  const fixed = otherLines + missed.length + loadLines.length + entryLines.length + notes.length;
  const calls = callsOf(latest?.step, width, terminalRows - fixed - mostStepsBesideCalls);
  const pushes = pushesOf(latest?.step, width, terminalRows - fixed - calls.length);
  const others = fixed + calls.length + pushes.length;
  const room = Math.max(3, terminalRows - others);
  const shown = rows.slice(-room);
  const hidden = rows.length - shown.length;
  const isWarned = latest && (stallText(latest) ?? silentText(latest)[0]) !== undefined;
  const tone: Tone = isWarned ? 'warn' : 'dim';
  return [
    { text: heading, tone: 'bold' },
    ...loadLines.map((text) => ({ text })),
    { text: '' },
    ...(latest ? [{ text: connectingText(latest) }, { text: '' }] : []),
    ...(rows.length > 0 ? [table.head] : []),
    ...(hidden > 0
      ? [{ text: `      … ${formatCount(hidden)} earlier`, tone: 'dim' as const }]
      : []),
    ...shown.map(table.line),
    ...notes,
    ...entryLines,
    ...calls,
    ...pushes,
    ...(latest ? [{ text: '' }, ...missed, { text: statusText(latest, progress), tone }] : []),
  ];
}

function mixLines(step: StepProgress | undefined, width: number): Line[] {
  const rows = step ? entryRows(step).slice(0, mostEntries) : [];
  const table = createEntryTable(width, rows);
  return rows.length === 0 ? [] : [{ text: '' }, table.head, ...rows.map(table.line)];
}

const mostStepsBesideCalls = 3;
const leastCalls = 3;
const mostPushes = 5;

/** As many calls of the current step as fit. */
function callsOf(step: StepProgress | undefined, width: number, room: number): Line[] {
  if (step?.calls === undefined) return [];
  const parts = Math.max(1, sessionRows(step).length);
  // A blank line and the head; per use case its name, a count and two lines of sessions.
  const most = room - (parts === 1 ? 5 : 2 + 4 * parts);
  if (most < leastCalls * parts) return room < 1 + 2 * parts ? [] : outcomesOf(step, width);
  return [{ text: '' }, ...callLines([step], width, { most, errors: false })];
}

/** As many pushed messages as fit. */
function pushesOf(step: StepProgress | undefined, width: number, room: number): Line[] {
  const most = Math.min(mostPushes, room - mostStepsBesideCalls - 3);
  const lines = step === undefined || most < 1 ? [] : pushedLines([step], width, most);
  return lines.length === 0 ? [] : [{ text: '' }, ...lines];
}

/** Outcomes of sessions, two lines per use case. */
const outcomesOf = (step: StepProgress, width: number): Line[] => {
  const lines = sessionParts(step, panelStrings).flatMap(({ entry = 'sessions', parts }) =>
    wrapped(`  ${entry}: ${parts}`, Math.min(width, 100), '    ').slice(0, 2),
  );
  return lines.length === 0 ? [] : [{ text: '' }, ...lines];
};

const progressEveryMs = 10_000;

/** For pipes and logs: phases, finished steps, and progress now and then. */
export function createPlainView(output: Output, title: RunTitle): RunView {
  let progress: RunProgress = noProgress;
  let phase: string | undefined;
  let said = 0;
  let saidAtMs = 0;
  let stalledAtMs = -Infinity;
  let missedSign: string | undefined;
  const say = (text: string): void => output.write(`${printable(text)}\n`);
  for (const line of titleLines(title)) say(line);
  const sayFinished = (stamp: string): void => {
    for (const row of rowsOf(progress).slice(said)) {
      if (row.current) break;
      const step = progress.steps[said++];
      if (!step?.elapsedS) continue;
      say(
        `${stamp} step ${row.index} done: ${wordsOf(visibleColumns('log', 'steps', [row]), row)}`,
      );
      for (const entry of entryRows({ ...step, over: true }))
        say(
          `${stamp} step ${entry.index}, ${entry.name}: ${wordsOf(visibleColumns('log', 'entries', [entry]), entry)}`,
        );
      for (const call of callRows({ ...step, over: true }))
        say(
          `${stamp} step ${call.index}, ${callLabel(callNameWithCount(call) ?? '', call.name)}: ${wordsOf(visibleColumns('log', 'calls', [call]), call)}`,
        );
      for (const row of pushedRows([step]))
        say(
          `${stamp} step ${row.index}, pushed ${row.push!.name}: ${wordsOf(visibleColumns('log', 'pushed', [row]), row)}`,
        );
      for (const sentence of sessionSentences([{ ...step, over: true }], panelStrings))
        say(`${stamp} ${sentence}`);
    }
  };
  return {
    update(snapshot) {
      progress = withSnapshot(progress, snapshot);
      const stamp = `[${formatClock(snapshot.atMs / 1000)}]`;
      sayFinished(stamp);
      const now = `${snapshot.phase} ${snapshot.step?.index ?? ''}`;
      const changed = now !== phase;
      const stalls = stallText(snapshot) !== undefined && !changed;
      // A stall is reported when it begins, and not too often.
      const [unmet] = missedLine(progress);
      const isNews = unmet?.text.charAt(0) !== missedSign;
      missedSign = unmet?.text.charAt(0);
      const begins = isNews || (stalls && snapshot.atMs - stalledAtMs >= progressEveryMs);
      if (!changed && !begins && snapshot.atMs - saidAtMs < progressEveryMs) return;
      phase = now;
      saidAtMs = snapshot.atMs;
      if (stalls) stalledAtMs = snapshot.atMs;
      if (snapshot.phase === 'done') return;
      say(`${stamp} ${lineOf(snapshot, progress, changed)}`);
      if (unmet) say(`${stamp} ${unmet.text}`);
    },
    message: say,
    close: () => undefined,
  };
}

function lineOf(snapshot: Snapshot, progress: RunProgress, changed: boolean): string {
  if (snapshot.phase === 'connecting') return connectingText(snapshot).replace(/ {2,}/g, ' ');
  const row = rowsOf(progress).at(-1);
  const status = statusText(snapshot, progress);
  if (changed || !row?.current || row.latencyUs === undefined) return status;
  const rates = visibleColumns('log', 'steps', [row]).filter(
    ({ unit }) => unit === 'perSecond' || unit === 'latency',
  );
  return `${status}; ${wordsOf(rates, row)}`;
}

/** `700 senders, 700.0 sent/s, 7,000 received/s, p50 1.1 ms, …, 0 lost`. */
function wordsOf(columns: readonly StepColumn[], row: StepRow): string {
  return columns.flatMap((column) => columnWords(column, row) ?? []).join(', ');
}

function columnWords(column: StepColumn, row: StepRow): string | undefined {
  if (column.say) return column.say(row);
  const value = column.value(row);
  const head = lowercaseHead(column);
  if (value === undefined) return undefined;
  if (value === null) return `${head} lost`;
  if (value === tooFewMark) return `${head} ${tooFewMark} (too few deliveries)`;
  if (typeof value === 'string') return `${head} ${value}`;
  if (column.unit === 'latency') return `${head} ${latencyWords(value)}`;
  return `${formatCount(value, column.terminal?.decimals)} ${head}`;
}
