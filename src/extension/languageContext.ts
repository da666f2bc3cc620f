import * as vscode from 'vscode';
import { folderName } from '../results/resultFolder';
import type { LanguageContext } from './language/languageProviders';
import { fromName } from './results/resultEntry';
import { lastRunText, newestOf } from './results/resultsModel';
import type { ScenarioFiles } from './scenarios/scenarioFiles';
import type { Services } from './services';

/** What the language features ask of the rest of the extension. */
export function languageContext(
  { index, places, running, secrets, state }: Services,
  files: ScenarioFiles,
  onRelevantChange: vscode.Event<void>,
): LanguageContext {
  return {
    isScenario: (document) => files.isScenario(document),
    secretNames: () => secrets.names,
    hubs: () => state.hubs,
    onRelevantChange,
    isRunning: (uri) => running.is(uri),
    lastRun: (uri) => {
      // The name as a result folder has it.
      const { scenario } = fromName(folderName(new Date(0), uri.path));
      const source = { scenario, origin: uri.toString(), places: places.for(uri) };
      const entry = newestOf(index.results.entries, source);
      if (!entry) return undefined;
      const words = lastRunText(entry, new Date(), vscode.l10n.t);
      return { words, folder: entry.folder };
    },
  };
}
