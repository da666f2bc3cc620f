import path from 'node:path';
import type { Disposable, Event } from '../../base/async';
import { english, type Translate } from '../../base/text';
import { redacted } from '../../base/secrets';
import { ExpectedError } from '../../base/expectedError';
import { comparisonSentences } from '../../measure/compare/comparisonWords';
import { latencyCurve } from '../../measure/histogram';
import { latenessTexts } from '../../measure/show/chartWords';
import { columnTexts } from '../../measure/show/stepColumns';
import { say } from '../../base/sentence';
import { wordsWithStep } from '../../measure/judge/reason';
import { remainingReasons, verdictSentences } from '../../measure/show/verdictSentence';
import type { Snapshot, StepProgress } from '../../measure/snapshot';
import { thinSnapshots, snapshotsToColumns } from '../../measure/snapshotHistory';
import type { MessageSummary, RunSummary, Verdict, StepSummary } from '../../measure/summary';
import type {
  ToComparisonPanel,
  FromPanel,
  PageName,
  PanelResult,
  PanelRun,
  PanelSpectrum,
  ToPanel,
  ComparedCurves,
  FromComparisonPanel,
  ShownComparison,
  TimePoints,
} from '../../messages/panel';
import { panelStrings, type PanelStrings } from '../../measure/show/panelStrings';
import { readResult, readSnapshots, type InterruptedRun } from '../../results/readResult';
import { redactTarget } from '../../results/redact';
import type { Result } from '../../results/result';
import { samplesFile } from '../../results/resultFolder';
import { parseScenario } from '../../scenario/parseScenario';
import { formatTarget, mapTargetTexts } from '../../scenario/target/targetKinds';
import { describeLoad, describeUnusual } from '../../run/runWords';
import { resultFolderAt, parseFolderName } from '../results/resultEntry';
import { p99OverTime } from '../../measure/compare/resampling';
import type { Comparison } from '../../measure/compare/comparison';
import { compareAll, poolRepeats } from '../../results/compare/compareResults';

export interface PanelSource {
  readonly run: PanelRun;
  readonly snapshots: readonly Snapshot[];
  readonly result: PanelResult | undefined;
  readonly spectra: readonly PanelSpectrum[];
  readonly interrupted: boolean;
  readonly onSnapshot: Event<Snapshot>;
  readonly onFinished: Event<PanelResult>;
  readonly orders: PanelOrders;
}

export type PanelOrders = Readonly<
  Record<Exclude<FromPanel['type'], 'ready' | 'testConnection'>, () => void>
>;

export interface PanelPort {
  post(message: ToPanel | ToComparisonPanel): void;
  /** Messages of the page, not trusted. */
  readonly onMessage: Event<unknown>;
  readonly onVisibility: Event<boolean>;
}

interface PanelSessionOptions {
  readonly t: Translate;
  readonly log: (message: string) => void;
  /** @param target `config.target`; undefined if it held a secret */
  readonly testConnection: (target: string | undefined) => void;
}

/** Sends the page everything when it is ready, then what is new. A hidden page is discarded by VS Code. */
export function startPanelSession(
  port: PanelPort,
  source: PanelSource,
  { t, log, testConnection }: PanelSessionOptions,
): Disposable {
  let ready = false;
  const post = (message: ToPanel): void => {
    if (ready) port.post(message);
  };
  const orders: Readonly<Record<FromPanel['type'], () => void>> = {
    ...source.orders,
    testConnection: () => {
      const target = formatTarget(source.run.scenario.target);
      testConnection(target.includes(redacted) ? undefined : target);
    },
    ready: () => {
      ready = true;
      post(hydrateMessage(source, t));
    },
  };
  const subscriptions = [
    port.onMessage((message) => {
      const { type } = (message ?? {}) as { type?: unknown };
      const isKnown = typeof type === 'string' && Object.hasOwn(orders, type);
      if (isKnown) orders[type as FromPanel['type']]();
      else {
        // The text form of an object may throw.
        const shown = typeof type === 'string' ? type.slice(0, 100) : typeof type;
        log(`The panel sent a message that is not understood: ${shown}`);
      }
    }),
    port.onVisibility((visible) => {
      if (!visible) ready = false;
    }),
    source.onSnapshot((snapshot) =>
      post({ type: 'snapshot', snapshot: saidSnapshot(snapshot, t) }),
    ),
    source.onFinished((result) =>
      post({ type: 'finished', result: withoutHistograms(result), spectra: source.spectra }),
    ),
  ];
  return {
    dispose: () => {
      for (const subscription of subscriptions) subscription.dispose();
    },
  };
}

export function hydrateMessage(source: PanelSource, t: Translate = english): ToPanel {
  const strings = translatedStrings(t);
  const { run, snapshots, result, spectra, interrupted } = source;
  const how = describeUnusual(run.scenario, run, strings);
  const columns = snapshotsToColumns(thinSnapshots(snapshots));
  return {
    type: 'hydrate',
    run,
    load: [describeLoad(run.scenario, t), how].filter((words) => words !== '').join(t(', ')),
    seconds: { ...columns, steps: columns.steps.map((step) => saidStep(step, t)) },
    result: result && withoutHistograms(result),
    spectra,
    strings,
    interrupted,
  };
}

function saidStep(step: StepProgress, t: Translate): StepProgress {
  if (step.missed === undefined) return step;
  const { words, message, ...missed } = step.missed;
  return { ...step, missed: { ...missed, message: say(words ?? message, t) } };
}

const saidSnapshot = (snapshot: Snapshot, t: Translate): Snapshot =>
  snapshot.step ? { ...snapshot, step: saidStep(snapshot.step, t) } : snapshot;

/** The page draws the spectra; histograms are most of a result's size. */
function withoutHistograms(result: PanelResult): PanelResult {
  const without = <T extends MessageSummary>(messages: T): T => ({ ...messages, histogram: '' });
  const steps = result.steps.map(({ entries, latencyBlocks: _forComparing, ...step }) => ({
    ...without(step),
    ...(entries !== undefined && { entries: entries.map(without) }),
  }));
  return { ...result, steps };
}

const numbersOf = ({
  schema: _schema,
  tool: _tool,
  scenario: _scenario,
  baseline: _baseline,
  ...rest
}: Result) => rest;

const saidVerdict = (verdict: Verdict, t: Translate): Verdict => ({
  ...verdict,
  reasons: verdict.reasons.map((reason) => ({
    code: reason.code,
    message: say(wordsWithStep(reason), t),
  })),
});

/** A result for the panel: its numbers, with sentences in the user's language. The run brings the scenario. */
export function toPanelResult(result: Result, t: Translate = english): PanelResult {
  const { baseline, recommendation } = result;
  const { reasonWords: known, ...recommended } = recommendation ?? {};
  const panel: PanelResult = {
    ...numbersOf(result),
    sentences: verdictSentences(result, t),
    otherReasons: remainingReasons(result, t),
    verdict: saidVerdict(result.verdict, t),
    steps: result.steps.map((step) => ({ ...step, verdict: saidVerdict(step.verdict, t) })),
    recommendation: recommendation && {
      ...recommendation,
      ...recommended,
      reasons: (known ?? recommendation.reasons).map((words) => say(words, t)),
    },
  };
  if (baseline === undefined) return panel;
  return { ...panel, baseline: { ...comparisonSentences(baseline, t), id: baseline.a.id } };
}

export const translatedStrings = (t: Translate): PanelStrings =>
  Object.fromEntries(
    Object.entries<string>({ ...panelStrings, ...columnTexts(), ...latenessTexts }).map(
      ([name, text]) => [name, t(text)],
    ),
  ) as PanelStrings;

/** Only the last steps get curves: decoding takes about a millisecond each. */
const mostSteps = 100;

/** Percentile curves of the steps with deliveries, where the histogram can be read. */
export function spectraOf({ steps }: Pick<RunSummary, 'steps'>): PanelSpectrum[] {
  return steps
    .filter(({ latencyUs }) => latencyUs.count > 0)
    .slice(-mostSteps)
    .flatMap(({ index, histogram }) => {
      const points = latencyCurve(histogram);
      return points.length > 0 ? [{ step: index, points }] : [];
    });
}

interface PanelPage {
  readonly title: string;
  readonly name: PageName;
  readonly language: string;
  readonly scriptUri: string;
  readonly styleUris: readonly string[];
  readonly cspSource: string;
  readonly nonce: string;
}

/** The HTML of a page. Its policy allows no inline code and no network. */
export function panelHtml(page: PanelPage): string {
  const { title, name, language, scriptUri, styleUris, cspSource, nonce } = page;
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    '<!doctype html>',
    `<html lang="${escaped(language)}">`,
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    ...styleUris.map((uri) => `<link rel="stylesheet" href="${escaped(uri)}">`),
    `<title>${escaped(title)}</title>`,
    '</head>',
    `<body data-page="${name}">`,
    `<script nonce="${escaped(nonce)}" src="${escaped(scriptUri)}"></script>`,
    '</body>',
    '</html>',
  ].join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}

const never = (): { dispose(): void } => ({ dispose: () => undefined });

/** A stored run for a panel. @throws ExpectedError as {@link readResult}, and `result-damaged` */
export async function storedSource(
  location: string,
  orders: PanelOrders,
  t: Translate = english,
): Promise<PanelSource> {
  const folder = resultFolderAt(location);
  const stored = await readResult(location);
  const snapshots = await readSnapshots(folder);
  const result = stored.kind === 'result' ? stored.result : undefined;
  return {
    run:
      stored.kind === 'result'
        ? finishedRun(stored.result)
        : interruptedRun(folder, stored, snapshots),
    snapshots,
    result: result && toPanelResult(result, t),
    spectra: result ? spectraOf(result) : [],
    interrupted: result === undefined,
    onSnapshot: never,
    onFinished: never,
    orders,
  };
}

function finishedRun(result: Result): PanelRun {
  const { id, startedAt, scenario, estimate, estimateProblem, target } = result;
  return {
    id,
    title: parseFolderName(id).scenario,
    targetUrl: target.url,
    startedAt,
    scenario,
    dialect: target.dialect,
    emulated: target.emulated,
    estimate,
    estimateProblem,
  };
}

function interruptedRun(
  folder: string,
  { scenarioText: text }: InterruptedRun,
  snapshots: readonly Snapshot[],
): PanelRun {
  const name = path.basename(folder);
  const { scenario: title, startedMs } = parseFolderName(name);
  const { scenario } = parseScenario(text ?? '');
  if (!scenario) {
    throw new ExpectedError(
      'result-damaged',
      `${folder} was interrupted and its scenario cannot be read; ${snapshots.length} samples are in ${samplesFile}.`,
    );
  }
  return {
    id: name,
    title,
    targetUrl: formatTarget(scenario.target && mapTargetTexts(scenario.target, redactTarget)),
    startedAt: new Date(startedMs).toISOString(),
    scenario,
    estimate: null,
  };
}

const mostCurves = 20;

/** Compares the later runs with the first. @param names of all runs, in order */
export function comparedRuns(
  results: readonly Result[],
  names: readonly string[],
  t: Translate = english,
): ShownComparison[] {
  const [baseline, ...others] = results as [Result, ...Result[]];
  return compareAll(baseline, others).map((comparison, at) => ({
    comparison,
    sentences: comparisonSentences(comparison, t),
    names: [names[0]!, names[at + 1]!],
    curves: curvesOf(comparison, baseline, others[at]!),
  }));
}

function curvesOf({ steps }: Comparison, a: Result, b: Result): ComparedCurves[] {
  if (steps.length === 0) return [];
  const pools = [a, b].map(poolRepeats);
  return steps.slice(-mostCurves).flatMap(({ index }) => {
    const [before, after] = pools.map((pool) => pool.find((step) => step.index === index));
    if (!before || !after) return [];
    const points = (step: StepSummary) => spectraOf({ steps: [step] })[0]?.points ?? [];
    return [
      {
        step: index,
        spectra: [points(before), points(after)] as const,
        times: [pointsOverTime(before), pointsOverTime(after)] as const,
      },
    ];
  });
}

function pointsOverTime({ latencyBlocks }: StepSummary): TimePoints {
  if (latencyBlocks === undefined) return [];
  try {
    return p99OverTime(latencyBlocks);
  } catch (error) {
    // The comparison itself reports the damage.
    if (error instanceof ExpectedError) return [];
    throw error;
  }
}

interface ComparisonOrders {
  copyComment(at: number): void;
  makeBaseline(at: number): void;
}

/** Sends the page everything when it is ready. Its messages are not trusted. */
export function startComparisonSession(
  port: Pick<PanelPort, 'onMessage'> & { post(message: ToComparisonPanel): void },
  page: Omit<ToComparisonPanel, 'type'>,
  orders: ComparisonOrders,
): { dispose(): void } {
  return port.onMessage((message) => {
    const { type, at } = (message ?? {}) as { type?: unknown; at?: unknown };
    if (type === 'ready') port.post({ type: 'compared', ...page });
    const isKnown = typeof at === 'number' && page.shown[at] !== undefined;
    const order = type as FromComparisonPanel['type'];
    if (isKnown && (order === 'copyComment' || order === 'makeBaseline')) orders[order](at);
  });
}
