import { formatCount, formatLatencyUs } from '../base/units';
import { loadWords } from '../cli/loadWords';
import type { StepProgress } from '../measure/snapshot';
import type { LatencySummary, StepSummary } from '../measure/summary';
import { verdictSentence } from '../measure/verdictSentence';
import { redactText } from '../results/redact';
import type { InterruptedRun } from '../results/readResult';
import type { Result } from '../results/result';

/** Steps shown of a long run; the file has them all. */
const mostSteps = 40;

/**
 * A result as Markdown for an issue or a chat. English in every language: it leaves the editor. Texts
 * of the file are escaped, so that a hostile one cannot put links or images there.
 */
export function summaryMarkdown(result: Result): string {
  const { connections, recommendation, steps } = result;
  const shown = steps.slice(-mostSteps);
  const errors = Object.entries(result.errors).filter(([, count]) => count > 0);
  const lines = [
    `### SignalR Benchmark: ${plain(result.id)}`,
    '',
    `**${plain(verdictSentence(result))}**`,
    '',
    `- target: ${plain(result.target.url)}`,
    `- load: ${plain(loadWords(result.scenario))}`,
    `- connected: ${formatCount(connections.connected)} of ${formatCount(connections.requested)}, ${formatCount(connections.dropped)} dropped`,
    ...(errors.length === 0
      ? []
      : [
          `- errors: ${errors.map(([name, count]) => `${formatCount(count)} ${plain(name)}`).join(', ')}`,
        ]),
    '',
    ...tableOf(shown.map(rowOfStep)),
    ...(shown.length < steps.length
      ? ['', `${formatCount(steps.length - shown.length)} earlier steps left out.`]
      : []),
    '',
    ...(recommendation
      ? [
          `**${plain(recommendation.headline)}**`,
          '',
          ...recommendation.reasons.slice(0, 20).map((reason) => `- ${plain(reason)}`),
        ]
      : [`No Units: ${plain(result.recommendationProblem ?? 'nothing valid was measured.')}`]),
    '',
    `signalr-bench ${plain(result.tool.version)}, Node ${plain(result.machine.node)}, ${result.machine.cores} cores, ${plain(result.startedAt)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** What is left of a run without a result. */
export function interruptedMarkdown(name: string, run: InterruptedRun): string {
  const rows = run.steps.slice(-mostSteps).map(rowOfProgress);
  const lines = [
    `### SignalR Benchmark: ${plain(name)}`,
    '',
    '**■ interrupted; the run did not come to its end, so it is not judged and gives no Units.**',
    ...(rows.length === 0 ? [] : ['', ...tableOf(rows)]),
  ];
  return `${lines.join('\n')}\n`;
}

type Cells = readonly string[];

const head: Cells = [
  'step',
  'senders',
  'sent/s',
  'received/s',
  'p50',
  'p99',
  'p99.9',
  'max',
  'lost',
];

function tableOf(rows: readonly Cells[]): string[] {
  const row = (cells: Cells): string => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map(() => '---:')), ...rows.map(row)];
}

function rowOfStep(step: StepSummary): Cells {
  return cellsOf(step, formatCount(step.lost));
}

function rowOfProgress(step: StepProgress): Cells {
  return cellsOf(step, '–');
}

function cellsOf(
  step: Pick<
    StepSummary,
    'index' | 'senders' | 'sentPerSecond' | 'receivedPerSecond' | 'latencyUs'
  >,
  lost: string,
): Cells {
  const latency = (key: keyof LatencySummary): string =>
    step.latencyUs.count === 0 ? '–' : formatLatencyUs(step.latencyUs[key]);
  return [
    String(step.index),
    formatCount(step.senders),
    formatCount(step.sentPerSecond, 1),
    formatCount(step.receivedPerSecond, 1),
    latency('p50'),
    latency('p99'),
    latency('p999'),
    latency('max'),
    lost,
  ];
}

/** One line without Markdown or HTML of its own. */
function plain(text: string): string {
  return redactText(text)
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/[\\`*_[\]<>|~]/g, '\\$&')
    .slice(0, 1000);
}
