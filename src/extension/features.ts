import { t, inBackground } from './log';
import { resultFolderName } from '../results/resultFolder';
import type { RunFeatures } from './commands';
import { LanguageProviders, type LanguageContext } from './language/languageProviders';
import { parseFolderName } from './results/resultEntry';
import { lastRunText, newestResultOf } from './results/resultsModel';
import type { FeatureParts } from './services';

export type Features = ReturnType<typeof createFeatures>;

/** Starts nothing but the diagnostics of open scenarios. */
export function createFeatures(parts: FeatureParts) {
  const language = new LanguageProviders(languageContext(parts));
  let loading: Promise<RunFeatures> | undefined;
  const load = async (): Promise<RunFeatures> => {
    const { createRunFeatures } = await import(/* webpackChunkName: "run" */ './commands.js');
    return createRunFeatures({ ...parts, language });
  };
  return {
    language,
    runs: (): Promise<RunFeatures> => (loading ??= load()),
    close: async (): Promise<void> => (await loading)?.controller.close(),
    dispose: (): void => {
      language.dispose();
      inBackground(loading?.then(({ controller }) => controller.dispose()));
    },
  };
}

function languageContext({ services, files, onRelevantChange }: FeatureParts): LanguageContext {
  const { index, places, running, secrets, state } = services;
  return {
    isScenario: (document) => files.isScenario(document),
    secretNames: () => secrets.names,
    hubs: () => state.list('hubs'),
    onRelevantChange,
    isRunning: (uri) => running.is(uri),
    lastRun: (uri) => {
      const { scenario } = parseFolderName(resultFolderName(new Date(0), uri.path));
      const source = { scenario, origin: uri.toString(), places: places.for(uri) };
      const entry = newestResultOf(index.results.entries, source);
      if (!entry) return undefined;
      const words = lastRunText(entry, new Date(), t);
      return { words, folder: entry.folder };
    },
  };
}
