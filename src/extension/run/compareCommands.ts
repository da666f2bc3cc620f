import path from 'node:path';
import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import { saveBaseline } from '../../results/compare/baseline';
import { readBaselines } from '../../results/historyFiles';
import { readResult } from '../../results/readResult';
import type { Result } from '../../results/result';
import { comparisonMarkdown } from '../../run/export/summaryMarkdown';
import { t, inBackground } from '../log';
import { say } from '../notices';
import { comparedRuns, startComparisonSession, translatedStrings } from '../panel/panelSession';
import { newPanel, portOf, setPage } from '../panel/runPanel';
import type { EntryStatus, ResultEntry } from '../results/resultEntry';
import { groupsOf } from '../results/resultsModel';
import { itemsToPick, labelsOf, pickResult } from '../results/resultNodes';
import { ensureTrustedToWrite } from '../questions';
import { comparisonViewType, type Services } from '../services';
import { copyMarkdown } from './runController';

const comparable: readonly EntryStatus[] = ['pass', 'fail', 'incomplete', 'invalid'];

export class CompareCommands {
  constructor(
    private readonly services: Services,
    private readonly extensionUri: vscode.Uri,
  ) {}

  /** Compares the selected results, else those the user picks, with the baseline or the oldest of them. */
  async compare(node: unknown, selected: unknown): Promise<void> {
    const entries = await this.chosen(node, selected);
    if (entries === undefined) return;
    const oldestFirst = [...entries].sort((a, b) => a.startedMs - b.startedMs);
    const baseline = await baselineAmong(oldestFirst);
    const ordered = baseline
      ? [baseline, ...oldestFirst.filter((entry) => entry !== baseline)]
      : oldestFirst;
    await this.show(ordered, (title) => newPanel(comparisonViewType, title));
  }

  /** Fills a page that VS Code restores. @param state what the page stored; not trusted */
  async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const { folders } = (state ?? {}) as { readonly folders?: unknown };
    const wanted: readonly unknown[] = Array.isArray(folders) ? folders : [];
    const known = await this.services.index.load();
    const entries = wanted.flatMap((folder) => known.find((each) => each.folder === folder) ?? []);
    try {
      if (entries.length > 1 && entries.length === wanted.length) {
        await this.show(entries, (title) => Object.assign(panel, { title }));
        return;
      }
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
    }
    panel.dispose();
    say('Information', t('The results of a comparison that was open are no longer there.'));
  }

  /** @param ordered the first is compared with each other one */
  private async show(
    ordered: readonly ResultEntry[],
    panelOf: (title: string) => vscode.WebviewPanel,
  ): Promise<void> {
    const results = await Promise.all(ordered.map(resultOf));
    const names = labelsOf(ordered);
    const shown = comparedRuns(results, names, t);
    const last = ordered.at(-1)!;
    const panel = panelOf(t('{0}: {1} and {2}', last.scenario, names[0]!, names.at(-1)!));
    const page = {
      shown,
      folders: ordered.map(({ folder }) => folder),
      strings: translatedStrings(t),
    };
    const session = startComparisonSession(portOf(panel), page, {
      copyComment: (at) => inBackground(copyMarkdown(comparisonMarkdown(shown[at]!.comparison))),
      makeBaseline: (at) => inBackground(this.setBaseline(ordered[at + 1]!.folder)),
    });
    panel.onDidDispose(() => session.dispose());
    setPage(panel, this.extensionUri, panel.title, 'comparison');
  }

  async makeBaseline(node: unknown): Promise<void> {
    const entry = entryOf(node) ?? (await pickResult(await this.entries(), t('Make Baseline')));
    if (entry !== undefined) await this.setBaseline(entry.folder);
  }

  private async setBaseline(folder: string): Promise<void> {
    if (!(await ensureTrustedToWrite())) return;
    try {
      const scenario = await saveBaseline(folder);
      this.services.index.refresh(0);
      say('Information', t('{0} is the baseline of {1} now.', path.basename(folder), scenario));
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      say('Error', error.message);
    }
  }

  private async chosen(
    node: unknown,
    selected: unknown,
  ): Promise<readonly ResultEntry[] | undefined> {
    const several = (Array.isArray(selected) ? selected : []).flatMap(
      (each) => entryOf(each) ?? [],
    );
    if (several.length > 1) return several;
    const first = entryOf(node) ?? several[0];
    const all = (await this.entries()).filter((entry) => entry.folder !== first?.folder);
    const own = all.filter(({ scenario }) => scenario === first?.scenario);
    const offered = first === undefined ? all : own.length > 0 ? own : all;
    if (offered.length < (first === undefined ? 2 : 1)) {
      say('Information', t('There are not two results to compare yet.'));
      return undefined;
    }
    const picked = await vscode.window.showQuickPick(itemsToPick(offered), {
      title:
        first === undefined
          ? t('Compare Results: pick two or more')
          : t('Compare With: pick one or more'),
      canPickMany: true,
      matchOnDescription: true,
    });
    const entries = [...(first ? [first] : []), ...(picked ?? []).map(({ entry }) => entry)];
    return entries.length > 1 ? entries : undefined;
  }

  private async entries(): Promise<ResultEntry[]> {
    const groups = groupsOf(await this.services.index.load());
    return groups
      .flatMap((group) => group.entries)
      .filter(({ status }) => comparable.includes(status));
  }
}

const entryOf = (node: unknown): ResultEntry | undefined =>
  (node as { readonly entry?: ResultEntry } | null | undefined)?.entry;

async function baselineAmong(entries: readonly ResultEntry[]): Promise<ResultEntry | undefined> {
  for (const entry of entries) {
    const baselines = await readBaselines(path.dirname(entry.folder));
    if (Object.values(baselines).includes(entry.name)) return entry;
  }
  return undefined;
}

async function resultOf({ folder, name }: ResultEntry): Promise<Result> {
  const run = await readResult(folder);
  if (run.kind === 'result') return run.result;
  throw new ExpectedError(
    'result-missing',
    t('The run {0} was interrupted before it came to a result.', name),
  );
}
