/** Checks the files of a scenario before a run, for command line and editor. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { ParsedScenario } from '../scenario/parseScenario';
import type { Problem } from '../scenario/problem';
import type { Scenario } from '../scenario/scenario';
import { nodeAt, outlineOf, unquotedValue, type Outline } from '../scenario/text/outline';
import type { RowProblem } from '../targets/identities/openRows';
import { requiredColumnsOfText } from '../targets/identities/rowColumns';
import type { TargetContext } from '../targets/target';
import { parsePlaceholderText } from '../usecases/ownArguments';
import type { Parameters } from '../usecases/parameters';
import { readNamedFile } from './scenarioFile';

interface NamedFile {
  readonly name: string;
  readonly keys: readonly string[];
}

interface Found extends NamedFile {
  readonly severity: Problem['severity'];
  readonly message: string;
}

/** Problems with the files of one scenario, read again when they or their use change. */
export class NamedFiles {
  private found: readonly Found[] = [];
  private looked = '';

  /** A missing file is a warning: it may be secret. @returns whether the problems changed */
  async look({ scenario, problems }: ParsedScenario, folder: string): Promise<boolean> {
    const isRead = scenario !== undefined && scenario.kind !== 'resultparser';
    const isWrong = problems.some(({ severity }) => severity === 'error');
    const files = isRead && !isWrong ? listNamedFiles(scenario) : [];
    const states = await Promise.all(files.map(({ name }) => stateOf(path.resolve(folder, name))));
    const needs =
      files.length === 0
        ? undefined
        : [scenario?.headers, scenario?.query, scenario?.accessToken, scenario?.entries];
    const looked = JSON.stringify([folder, files, states, needs]);
    if (looked === this.looked) return false;
    this.looked = looked;
    const missing = files.filter((_file, at) => states[at] === undefined);
    const found: Found[] = missing.map((file) => ({
      ...{ ...file, severity: 'warning' },
      message: `There is no file ${file.name} here; a run would stop here.`,
    }));
    const isThere = (name: string): boolean =>
      files.some((file, at) => file.name === name && typeof states[at] === 'object');
    if (isRead)
      for (const { of, file, message } of await problemsOfRows(scenario, isThere, {
        readFile: (name, mostBytes) => readNamedFile(folder, name, mostBytes),
      }))
        found.push({ name: file, keys: ['config', of, 'file'], severity: 'error', message });
    if (this.looked !== looked) return false;
    const before = this.found;
    this.found = found;
    return JSON.stringify(before) !== JSON.stringify(found);
  }

  problemsIn(text: string): Problem[] {
    if (this.found.length === 0) return [];
    const outline = outlineOf(text);
    return this.found.map(({ name, keys, severity, message }) => {
      const place = placeOf(outline, name, keys);
      return { code: 'named-file', severity, message, ...place };
    });
  }
}

const keysOfFiles = ['caFile', 'certFile', 'keyFile'] as const;
const parametersOfFiles = ['payloadFile', 'recording'];

/** Certificates and keys of connections; all others may be sent. */
export const isForConnections = ({ keys }: NamedFile): boolean =>
  (keysOfFiles as readonly (string | undefined)[]).includes(keys.at(-1));

const parametersOfTexts = ['arguments', 'streamingItems', 'steps'];

function filesInTexts(parameters: Parameters): NamedFile[] {
  const found: NamedFile[] = [];
  for (const key of parametersOfTexts)
    JSON.parse(String(parameters[key] ?? 'null'), (_name, value: unknown) => {
      if (typeof value === 'string')
        for (const part of parsePlaceholderText(value, () => false).parts)
          if (typeof part === 'object' && part.name === 'file')
            found.push({ name: part.file, keys: [key] });
      return value;
    });
  return found;
}

/** All files of a scenario, in the order of its keys. */
export function listNamedFiles({ identities, data, entries, ...scenario }: Scenario): NamedFile[] {
  const rows = [
    ['identities', identities?.kind === 'file' ? identities.file : undefined],
    ['data', data?.file],
  ] as const;
  const all = [
    ...rows.map(([of, name]) => ({ name, keys: ['config', of, 'file'] })),
    ...keysOfFiles.map((key) => ({ name: scenario[key], keys: ['config', key] })),
    ...entries.flatMap(({ parameters }) => [
      ...parametersOfFiles.map((key) => ({ name: parameters[key], keys: [key] })),
      ...filesInTexts(parameters),
    ]),
  ];
  return all.flatMap(({ name, keys }) => (typeof name === 'string' ? [{ name, keys }] : []));
}

/** Undefined: missing; a text: cannot be read twice. */
async function stateOf(file: string): Promise<readonly number[] | string | undefined> {
  try {
    const found = await stat(file);
    if (!found.isFile() && !found.isDirectory()) return 'other';
    return [found.ino, found.size, found.mtimeMs];
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : [];
  }
}

function placeOf(
  outline: Outline,
  name: string,
  keys: readonly string[],
): Pick<Problem, 'offset' | 'length'> {
  const node =
    nodeAt(outline, keys) ??
    outline.nodes.find((one) => one.name === keys.at(-1) && unquotedValue(one) === name);
  return node === undefined
    ? { offset: 0, length: 0 }
    : { offset: node.valueOffset, length: node.valueLength };
}

async function problemsOfRows(
  scenario: Scenario,
  isThere: (file: string) => boolean,
  context: Pick<TargetContext, 'readFile'>,
): Promise<RowProblem[]> {
  const { identities, data } = scenario;
  const files = [identities?.kind === 'file' ? identities.file : undefined, data?.file];
  if (!files.some((file) => file !== undefined && isThere(file))) return [];
  const { rowProblems } = await import('../targets/identities/openRows.js');
  return rowProblems(scenario, requiredColumnsOfText(scenario), isThere, context);
}
