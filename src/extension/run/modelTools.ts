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
import { formatTarget, mapTargetTexts } from '../../scenario/target/targetKinds';
import { redactTarget } from '../../results/redact';
import type { Override } from '../../scenario/read/overrides';
import { parseScenario } from '../../scenario/parseScenario';
import { positionAt } from '../../scenario/problem';
import { reachLines, listReach } from '../../run/reach';
import { loadNumbers, formatLoadNumbers, describeLoad } from '../../run/runWords';
import { estimateOf } from '../language/analyseScenario';
import { validScenario } from './runTexts';

/** The editor checks it against the manifest; still not trusted. */
interface ToolInput {
  readonly filePath?: unknown;
  readonly scenario?: unknown;
  readonly set?: unknown;
}

export interface ModelTool {
  confirm?(input: ToolInput): Promise<vscode.MarkdownString>;
  answer(input: ToolInput, token: vscode.CancellationToken): Promise<string>;
}

/** Older unanswered questions are asked again. */
const mostQuestions = 20;

/** Tools for coding agents, by their names in the manifest. */
export function modelTools(
  { index }: Pick<Services, 'index'>,
  controller: Pick<RunController, 'runToEnd'>,
): Readonly<Record<string, ModelTool>> {
  /** Scenario texts as shown to the user, by tool input, oldest first. */
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
        // As plain text: scenario names could be links.
        return new vscode.MarkdownString().appendText(loadSummary(text, overrides) ?? none);
      },
      answer: async (input, token) => {
        const { uri, text, overrides } = await scenarioOf(input);
        if (loadSummary(text, overrides) === undefined) return validateAnswer(text, overrides);
        const question = JSON.stringify(input);
        const isConfirmed = confirmed.get(question) === text;
        // One approval is for one run.
        confirmed.delete(question);
        if (!isConfirmed)
          return 'The scenario was changed after the person was asked; nothing was started. Ask again.';
        const title = path.posix.basename(uri.path);
        const run = { uri, origin: uri, title, text, overrides, isByTool: true };
        const result = await controller.runToEnd(run, token);
        return result
          ? truncated(summaryMarkdown(result))
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
        return truncated(storedMarkdown(await readResult(entry.folder)));
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

/** A file of this workspace, with links resolved. @throws ExpectedError `tool-file` */
async function fileIn(filePath: unknown): Promise<vscode.Uri> {
  const given = typeof filePath === 'string' ? filePath : '';
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(
    ({ uri }) => uri.scheme === 'file',
  );
  for (const { uri } of folders) {
    const way = await relativePathInside(uri.fsPath, given).catch(() => undefined);
    if (way === undefined) continue;
    // Below the folder as opened: the editor knows its documents by that path.
    const found = vscode.Uri.joinPath(uri, ...way.split(path.sep));
    if (await isFile(found)) return found;
  }
  throw new ExpectedError('tool-file', `${given.slice(0, 200)} is not a file of this workspace.`);
}

const mostProblems = 50;
const mostCharacters = 20_000;
const mostKeys = 20;

export const truncated = (text: string): string =>
  text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}\n… (cut)`;

/** One line per problem: `3:5 error unknown-key: …`. */
export function validateAnswer(text: string, overrides: readonly Override[] = []): string {
  const problems = [...parseScenario(text, { overrides }).problems].sort(
    (a, b) => a.offset - b.offset,
  );
  if (problems.length === 0) return 'No problems.';
  const lines = problems.slice(0, mostProblems).map(({ offset, severity, code, message }) => {
    const { line, column } = positionAt(text, offset);
    return `${line}:${column} ${severity} ${code}: ${message}`;
  });
  const more = problems.length - lines.length;
  return truncated([...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
}

/** The load in a sentence, and the estimate as `estimate --json` prints it. */
export function estimateAnswer(text: string, overrides: readonly Override[] = []): string {
  const scenario = validScenario(text, overrides);
  if (!scenario)
    return `There is no estimate, since the scenario has errors:\n${validateAnswer(text, overrides)}`;
  const { estimate, noEstimate } = estimateOf(scenario);
  const words =
    estimate === undefined ? `No estimate: ${noEstimate ?? ''}` : JSON.stringify(estimate);
  return truncated(`${describeLoad(scenario)}\n${words}`);
}

/** The load, its target and everything the run reaches, for the user to approve; undefined with errors. */
export function loadSummary(text: string, overrides: readonly Override[]): string | undefined {
  const scenario = validScenario(text, overrides);
  if (!scenario) return undefined;
  const target = formatTarget(scenario.target && mapTargetTexts(scenario.target, redactTarget));
  const reach = listReach(scenario, { reference: () => undefined });
  return [`${formatLoadNumbers(loadNumbers(scenario))} → ${target}`, ...reachLines(reach)].join(
    '\n',
  );
}

/** Overrides as the agent wrote them; other types are dropped. */
export function overridesIn(set: unknown): Override[] {
  if (typeof set !== 'object' || set === null) return [];
  return Object.entries(set)
    .slice(0, mostKeys)
    .flatMap(([path, value]: [string, unknown]) =>
      typeof value === 'string' || typeof value === 'number'
        ? [{ path, value: String(value).slice(0, 1000) }]
        : [],
    );
}
