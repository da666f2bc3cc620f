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
import {
  thinSnapshots,
  snapshotsToColumns,
  type Snapshot,
  type StepProgress,
} from '../../measure/snapshot';
import type { MessageSummary, RunSummary, Verdict } from '../../measure/summary';
import type {
  ToComparisonPanel,
  FromPanel,
  PageName,
  PanelResult,
  PanelRun,
  PanelSpectrum,
  ToPanel,
} from '../../messages/panel';
import { panelStrings, type PanelStrings } from '../../measure/show/panelStrings';
import { readResult, readSnapshots, type InterruptedRun } from '../../results/readResult';
import { redactTarget } from '../../results/redact';
import type { Result } from '../../results/result';
import { samplesFile } from '../../results/resultFolder';
import { parseScenario } from '../../scenario/parseScenario';
import { formatTarget, mapTargetTexts } from '../../scenario/target/targetKinds';
import { loadWords, marksOf } from '../../run/runWords';
import { folderAt, fromName } from '../results/resultEntry';

export interface PanelSource {
  readonly run: PanelRun;
  readonly snapshots: readonly Snapshot[];
  readonly result: PanelResult | undefined;
  readonly spectra: readonly PanelSpectrum[];
  readonly interrupted: boolean;
  readonly onSnapshot: Event<Snapshot>;
  readonly onFinished: Event<PanelResult>;
  /** What its buttons do; nothing is stopped when it is over. */
  readonly orders: PanelOrders;
}

export type PanelOrders = Readonly<
  Record<Exclude<FromPanel['type'], 'ready' | 'testConnection'>, () => void>
>;

export interface PanelPort {
  post(message: ToPanel | ToComparisonPanel): void;
  /** Whatever the page sends; it is not trusted. */
  readonly onMessage: Event<unknown>;
  readonly onVisibility: Event<boolean>;
}

interface PanelSessionOptions {
  /** Into the language of the editor. */
  readonly t: Translate;
  readonly log: (message: string) => void;
  /** @param target as `config.target` says it; undefined where it had a secret in it */
  readonly testConnection: (target: string | undefined) => void;
}

/** Feeds one page: everything when it says it is ready, then what is new. A hidden page is gone with all it knew. */
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
        // An object may have a text form that throws.
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
  const strings = stringsIn(t);
  const { run, snapshots, result, spectra, interrupted } = source;
  const how = marksOf(run.scenario, run, strings);
  const columns = snapshotsToColumns(thinSnapshots(snapshots));
  return {
    type: 'hydrate',
    run,
    load: [loadWords(run.scenario, t), how].filter((words) => words !== '').join(t(', ')),
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

/** The page draws the spectra; the histograms they come from are most of a result's size. */
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

/** What the panel shows of a result: all of its numbers, with its sentences in that language. The scenario is known to it from its run. */
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

/** Texts of all pages in a language. */
export const stringsIn = (t: Translate): PanelStrings =>
  Object.fromEntries(
    Object.entries<string>({ ...panelStrings, ...columnTexts(), ...latenessTexts }).map(
      ([name, text]) => [name, t(text)],
    ),
  ) as PanelStrings;

/** Steps beyond this many are left to their percentiles: decoding takes about a millisecond each. */
const mostSteps = 100;

/** Percentile curves of the steps that received something, as far as their histograms can be read. */
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
  /** The webview's own source for the page's policy. */
  readonly cspSource: string;
  readonly nonce: string;
}

/** The page: no inline style or script runs, and nothing is loaded from a network. */
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

/** A stored run as a panel shows it. @throws ExpectedError as {@link readResult}, and `result-damaged` */
export async function storedSource(
  location: string,
  orders: PanelOrders,
  t: Translate = english,
): Promise<PanelSource> {
  const folder = folderAt(location);
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
    title: fromName(id).scenario,
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
  const { scenario: title, startedMs } = fromName(name);
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
