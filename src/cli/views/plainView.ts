import { formatCount } from '../../base/units';
import { latencyWords } from '../../base/objectives/words';
import type { Snapshot } from '../../measure/show/snapshot';
import { columnsOf, smallHead, tooFew, type StepColumn } from '../../measure/show/stepColumns';
import { entryRows, type StepRow } from '../../measure/show/stepRows';
import { printable } from './line';
import { clock } from '../../session/runWords';
import {
  connectingText,
  noProgress,
  rowsOf,
  stallText,
  statusText,
  titleLines,
  withSnapshot,
  type RunProgress,
  type RunTitle,
  type RunView,
} from './runView';
import type { Output } from '../io';

/** Least time between two lines that only say how far the run is. */
const progressEveryMs = 10_000;

/**
 * The run as lines, for pipes and logs: one for each change of phase and each finished step, and now
 * and then how far it is.
 */
export function createPlainView(output: Output, title: RunTitle): RunView {
  let progress: RunProgress = noProgress;
  let phase: string | undefined;
  let told = 0;
  let saidAtMs = 0;
  let stalledAtMs = -Infinity;
  const say = (text: string): void => output.write(`${printable(text)}\n`);
  for (const line of titleLines(title)) say(line);
  const tellFinished = (snapshot?: Snapshot): void => {
    for (const row of rowsOf(progress).slice(told)) {
      if (row.current) break;
      const step = progress.steps[told++];
      // A run may be stopped in a warm-up.
      if (!step?.elapsedS) continue;
      say(`${stamp(snapshot)}${stepWords(row)}`);
      for (const entry of entryRows({ ...step, over: true }))
        say(`${stamp(snapshot)}${entryWords(entry)}`);
    }
  };
  return {
    update(snapshot) {
      progress = withSnapshot(progress, snapshot);
      tellFinished(snapshot);
      const now = `${snapshot.phase} ${snapshot.step?.index ?? ''}`;
      const changed = now !== phase;
      const stalls = stallText(snapshot) !== undefined && !changed;
      // A stall is told when it begins; one that comes and goes fills no log.
      const begins = stalls && snapshot.atMs - stalledAtMs >= progressEveryMs;
      if (!changed && !begins && snapshot.atMs - saidAtMs < progressEveryMs) return;
      phase = now;
      saidAtMs = snapshot.atMs;
      if (stalls) stalledAtMs = snapshot.atMs;
      if (snapshot.phase === 'done') return;
      say(`${stamp(snapshot)}${lineOf(snapshot, progress, changed)}`);
    },
    message: say,
    close: () => undefined,
  };
}

const stamp = (snapshot: Snapshot | undefined): string =>
  snapshot ? `[${clock(snapshot.atMs / 1000)}] ` : '';

function lineOf(snapshot: Snapshot, progress: RunProgress, changed: boolean): string {
  if (snapshot.phase === 'connecting') return connectingText(snapshot).replace(/ {2,}/g, ' ');
  const row = rowsOf(progress).at(-1);
  const status = statusText(snapshot, progress);
  if (changed || !row?.current || row.latencyUs === undefined) return status;
  return `${status}; ${ratesWords(row)}`;
}

/** `step 1 done: 700 senders, 700.0 sent/s, 7,000 received/s, p50 1.1 ms, …, 0 lost, generator ok`. */
const stepWords = (row: StepRow): string =>
  `step ${row.index} done: ${wordsOf(columnsOf('log'), row)}`;

/** `step 1, echo: 350 senders, 350.0 sent/s, …, 0 lost`. */
const entryWords = (row: StepRow): string =>
  `step ${row.index}, ${row.name}: ${wordsOf(columnsOf('log', 'entries'), row)}`;

const ratesWords = (row: StepRow): string =>
  wordsOf(
    columnsOf('log').filter(({ unit }) => unit === 'perSecond' || unit === 'latency'),
    row,
  );

/** What is known of a step, in the order of the tables. */
function wordsOf(columns: readonly StepColumn[], row: StepRow): string {
  return columns.flatMap((column) => columnWords(column, row) ?? []).join(', ');
}

function columnWords(column: StepColumn, row: StepRow): string | undefined {
  if (column.say) return column.say(row);
  const value = column.value(row);
  const head = smallHead(column);
  if (value === undefined) return undefined;
  if (value === null) return `${head} lost`;
  if (value === tooFew) return `${head} ${tooFew} (too few deliveries)`;
  if (typeof value === 'string') return `${head} ${value}`;
  if (column.unit === 'latency') return `${head} ${latencyWords(value)}`;
  return `${formatCount(value, column.terminal?.decimals)} ${head}`;
}
