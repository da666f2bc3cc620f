import type { Disposable, Event } from '../../base/event';
import type { MessageSummary, Verdict } from '../../measure/show/summary';
import { thinSnapshots } from '../../measure/show/thinSnapshots';
import type { FromPanel, PanelResult, ToPanel } from '../../protocol/panel';
import type { PanelStrings } from '../../protocol/panelStrings';
import { loadWords, marksOf } from '../../session/runWords';
import type { PanelSource } from './panelSource';

/** The page as the session sees it: VS Code's webview, or a test's. */
export interface PanelPort {
  post(message: ToPanel): void;
  /** Whatever the page sends; it is not trusted. */
  readonly onMessage: Event<unknown>;
  readonly onVisibility: Event<boolean>;
}

export interface PanelSessionOptions {
  readonly strings: PanelStrings;
  /** Puts sentences of runs into the language of the strings. */
  readonly say: (text: string) => string;
  /** Told of messages that are not understood. */
  readonly log: (message: string) => void;
}

/**
 * Feeds one page from one source: everything when the page says it is ready, then what is new. A hidden
 * page is gone with all it knew, so it gets nothing until it is shown and says that it is ready again. A
 * page that says so is there, even when the editor tells only later that it is shown, as after a reload.
 */
export function startPanelSession(
  port: PanelPort,
  source: PanelSource,
  { strings, say, log }: PanelSessionOptions,
): Disposable {
  let ready = false;
  const post = (message: ToPanel): void => {
    if (ready) port.post(message);
  };
  const orders: Readonly<Record<FromPanel['type'], () => void>> = {
    ready: () => {
      ready = true;
      post(hydrateMessage(source, strings, say));
    },
    stop: () => source.stop(),
    runAgain: () => source.runAgain(),
    openScenario: () => source.openScenario(),
    copySummary: () => source.copySummary(),
  };
  const subscriptions = [
    port.onMessage((message) => {
      const type = typeOf(message);
      if (type !== undefined && Object.hasOwn(orders, type)) orders[type as FromPanel['type']]();
      else log(`The panel sent a message that is not understood: ${String(type).slice(0, 100)}`);
    }),
    port.onVisibility((visible) => {
      if (!visible) ready = false;
    }),
    source.onSnapshot((snapshot) => post({ type: 'snapshot', snapshot })),
    source.onFinished((result) =>
      post({ type: 'finished', result: shown(result, say), spectra: source.spectra }),
    ),
  ];
  return {
    dispose: () => {
      for (const subscription of subscriptions) subscription.dispose();
    },
  };
}

/** Everything a fresh page needs. */
export function hydrateMessage(
  source: PanelSource,
  strings: PanelStrings,
  say: PanelSessionOptions['say'] = (text) => text,
): ToPanel {
  const { run, snapshots, result, spectra, interrupted } = source;
  const load = loadWords(run.scenario);
  const how = marksOf(run.scenario, run, strings);
  return {
    type: 'hydrate',
    run,
    load: how === '' ? say(load) : `${say(load)}${say(', ')}${how}`,
    snapshots: thinSnapshots(snapshots),
    ...(result && { result: shown(result, say) }),
    spectra,
    strings,
    interrupted,
  };
}

const shown = (result: PanelResult, say: PanelSessionOptions['say']): PanelResult =>
  translatedResult(withoutHistograms(result), say);

/** The page draws the spectra; the histograms they come from are most of a result's size. */
function withoutHistograms(result: PanelResult): PanelResult {
  const without = <T extends MessageSummary>(messages: T): T => ({ ...messages, histogram: '' });
  const steps = result.steps.map(({ entries, ...step }) => ({
    ...without(step),
    ...(entries !== undefined && { entries: entries.map(without) }),
  }));
  return { ...result, steps };
}

function typeOf(message: unknown): string | undefined {
  const type = (message as { type?: unknown } | null | undefined)?.type;
  return typeof type === 'string' ? type : undefined;
}

/** A result with its sentences as `say` has them; numbers and what servers said stay. */
export function translatedResult(result: PanelResult, say: (text: string) => string): PanelResult {
  const translatedVerdict = (verdict: Verdict): Verdict => ({
    ...verdict,
    reasons: verdict.reasons.map(({ code, message }) => ({ code, message: say(message) })),
  });
  const { recommendation } = result;
  return {
    ...result,
    sentence: say(result.sentence),
    verdict: translatedVerdict(result.verdict),
    steps: result.steps.map((step) => ({ ...step, verdict: translatedVerdict(step.verdict) })),
    recommendation: recommendation && {
      ...recommendation,
      reasons: recommendation.reasons.map(say),
    },
  };
}
