import path from 'node:path';
import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import { relativePathInside } from '../../results/safeFiles';
import { readResult } from '../../results/readResult';
import { storedMarkdown, summaryMarkdown } from '../../run/export/summaryMarkdown';
import { t } from '../log';
import { groupsOf } from '../results/resultsModel';
import { isFile, scenarioText } from '../scenarios/scenarioFiles';
import type { Services } from '../services';
import type { RunController } from './runController';
import { bounded, estimateAnswer, loadAnswer, overridesIn, validateAnswer } from './toolAnswers';

/** Checked by the editor against the schema in the manifest, and not trusted all the same. */
export interface ToolInput {
  readonly filePath?: unknown;
  readonly scenario?: unknown;
  readonly set?: unknown;
}

export interface ModelTool {
  /** What the person agrees to before; absent where nothing is done. */
  confirm?(input: ToolInput): Promise<vscode.MarkdownString>;
  answer(input: ToolInput, token: vscode.CancellationToken): Promise<string>;
}

/** Questions that wait for a yes; more are asked once more. */
const mostQuestions = 20;

/** The tools of the manifest by their names: what a coding agent in the editor may ask of this extension. */
export function modelTools(
  { index }: Pick<Services, 'index'>,
  controller: Pick<RunController, 'runToEnd'>,
): Readonly<Record<string, ModelTool>> {
  /** Scenarios as people were asked about them, by the questions of agents, the newest last. */
  const confirmed = new Map<string, string>();
  return {
    signalrBenchmark_validate: {
      answer: async (input) => {
        const { text, overrides } = await scenarioOf(input);
        return validateAnswer(text, overrides);
      },
    },
    signalrBenchmark_estimate: {
      answer: async (input) => {
        const { text, overrides } = await scenarioOf(input);
        return estimateAnswer(text, overrides);
      },
    },
    signalrBenchmark_run: {
      confirm: async (input) => {
        const { text, overrides } = await scenarioOf(input);
        const none = t('The scenario has errors; nothing will be started.');
        const question = JSON.stringify(input);
        confirmed.delete(question);
        confirmed.set(question, text);
        if (confirmed.size > mostQuestions) confirmed.delete([...confirmed.keys()][0]!);
        // As it is written: names of a scenario could be links, or hide what stands beside them.
        return new vscode.MarkdownString().appendText(loadAnswer(text, overrides) ?? none);
      },
      answer: async (input, token) => {
        const { uri, text, overrides } = await scenarioOf(input);
        if (loadAnswer(text, overrides) === undefined) return validateAnswer(text, overrides);
        const question = JSON.stringify(input);
        const isConfirmed = confirmed.get(question) === text;
        // One yes is for one run.
        confirmed.delete(question);
        if (!isConfirmed)
          return 'The scenario was changed after the person was asked; nothing was started. Ask again.';
        const title = path.posix.basename(uri.path);
        const run = { uri, origin: uri, title, text, overrides, isByTool: true };
        const result = await controller.runToEnd(run, token);
        return result
          ? bounded(summaryMarkdown(result))
          : 'The run was not started. The editor has said why to the person.';
      },
    },
    signalrBenchmark_readResult: {
      answer: async ({ scenario }) => {
        const groups = groupsOf(await index.load());
        const group =
          typeof scenario === 'string' && scenario !== ''
            ? groups.find((each) => each.scenario === scenario)
            : groups[0];
        const entry = group?.entries.find(({ status }) => status !== 'running');
        if (!entry) {
          const names = groups.slice(0, 50).map((each) => each.scenario);
          return `There is no such result. There are results of: ${names.join(', ') || 'none'}.`;
        }
        return bounded(storedMarkdown(await readResult(entry.folder)));
      },
    },
  };
}

/** @throws ExpectedError `not-trusted`, and as {@link fileIn} and {@link scenarioText} */
async function scenarioOf({ filePath, set }: ToolInput) {
  if (!vscode.workspace.isTrusted) {
    const why = 'The workspace is not trusted: ask the person to trust it.';
    throw new ExpectedError('not-trusted', why);
  }
  const uri = await fileIn(filePath);
  return { uri, text: await scenarioText(uri), overrides: overridesIn(set) };
}

/** A file of this workspace, where its links lead. @throws ExpectedError `tool-file` */
async function fileIn(filePath: unknown): Promise<vscode.Uri> {
  const given = typeof filePath === 'string' ? filePath : '';
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(
    ({ uri }) => uri.scheme === 'file',
  );
  for (const { uri } of folders) {
    const way = await relativePathInside(uri.fsPath, given).catch(() => undefined);
    if (way === undefined) continue;
    // Below the folder as it was opened: by that the editor knows its documents.
    const found = vscode.Uri.joinPath(uri, ...way.split(path.sep));
    if (await isFile(found)) return found;
  }
  throw new ExpectedError('tool-file', `${given.slice(0, 200)} is not a file of this workspace.`);
}
