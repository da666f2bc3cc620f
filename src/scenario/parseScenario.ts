import { isMap, isScalar, type Document, type YAMLMap } from 'yaml';
import {
  checkDialect,
  checkGroups,
  checkOwnMethod,
  checkStreams,
  checkSession,
} from './check/checkEntries';
import { reportNotRunnable } from './check/notRunnable';
import { checkStages, checkLives, checkSlo, checkSteps, checkSearch } from './check/checkSteps';
import { checkRows } from './check/checkRows';
import { checkService, checkSubprotocol, checkTransport } from './check/checkService';
import { checkTarget, reportSecrets } from './check/checkTarget';
import { pipelineKeys, topKeys } from './keys/scenarioKeys';
import type { Problem } from './problem';
import { readScenario, type ScenarioFile } from './read/buildScenario';
import { applyOverrides, type Override } from './read/overrides';
import { sectionsWithKey } from './read/readSection';
import type { Scenario } from './scenario';
import { pipelineIn, translatePipeline } from './compat/translatePipeline';
import { createReading, type Place, type Reading } from './text/scenarioReading';
import { didYouMean, joinWords, safeExcerpt } from './text/words';
import { readYaml } from './text/yamlDocument';

export interface ParseOptions {
  readonly overrides?: readonly Override[];
}

export interface ParsedScenario {
  /**
   * With defaults for what is missing or wrong. Do not run it with problems of severity `error`.
   */
  readonly scenario?: Scenario;
  /** Sorted by position; those of overrides come first, with offset and length 0. */
  readonly problems: readonly Problem[];
  readonly sizePlaces?: SizePlaces;
}

export interface SizePlaces {
  readonly unit?: Place;
  readonly sku?: Place;
  readonly payloads: readonly Place[];
  /** The end of a search's range. */
  readonly searchTo?: Place;
}

/** Never throws, and takes bounded time and memory. */
export function parseScenario(text: string, options: ParseOptions = {}): ParsedScenario {
  const { document, problems } = readYaml(text);
  if (document === undefined) return { problems };
  const root = document.contents;
  if (!isMap(root)) {
    const broken = problems.some(({ severity }) => severity === 'error');
    const missing = broken ? [] : [noScenario(text, document)];
    return { problems: sorted([...problems, ...missing]) };
  }
  const foreign = foreignFile(root);
  if (foreign !== undefined) return { problems: [foreign] };
  const reading = createReading(text, document, problems);
  if (pipelineIn(root) !== undefined) return parsePipeline(reading, root, options);
  applyOverrides(reading, root, options.overrides ?? []);
  const file = readScenario(reading, root);
  check(file);
  reportSecrets(reading);
  const [unit, sku] = [file.config.at('unit'), file.config.at('sku')];
  const payloads = file.entries.map(({ at }) =>
    at('messageSizes', 'messageSize', 'streamingItems', 'arguments', 'steps'),
  );
  const searchTo = file.search.at('to', 'of') ?? file.top.at('search');
  const sizePlaces = { unit, sku, payloads, searchTo };
  return { scenario: file.scenario, problems: sorted(reading.problems()), sizePlaces };
}

/** Problems stand where the pipeline has what they are about. */
function parsePipeline(reading: Reading, root: YAMLMap, options: ParseOptions): ParsedScenario {
  const translation = translatePipeline(reading, root);
  if (translation === undefined) return { problems: sorted(reading.problems()) };
  const { scenario, problems } = parseScenario(translation.text, options);
  const ofFlags = problems.filter(({ flag }) => flag !== undefined);
  for (const { severity, code, message, offset, flag } of problems)
    if (flag === undefined) reading[severity](code, translation.sourceOf(offset), message);
  return { ...(scenario && { scenario }), problems: sorted([...ofFlags, ...reading.problems()]) };
}

function check(file: ScenarioFile): void {
  checkTarget(file);
  checkTransport(file);
  checkSubprotocol(file);
  checkService(file);
  checkRows(file);
  for (const read of file.entries.filter(({ isKnown }) => isKnown)) {
    checkGroups(file, read);
    checkOwnMethod(file, read);
    checkSession(file, read);
    checkDialect(file, read);
    checkStreams(file, read);
  }
  checkSteps(file);
  checkStages(file);
  checkSearch(file);
  checkSlo(file);
  checkLives(file);
  reportNotRunnable(file);
}

const smallestScenario = 'mode: simple\nconfig:\n  target: local\nscenario:\n  name: echo\n';

function noScenario(text: string, { contents }: Document.Parsed): Problem {
  const empty = contents === null || (isScalar(contents) && contents.value === null);
  if (empty) {
    const lead = text === '' || /[\n\uFEFF]$/.test(text) ? '' : '\n';
    return {
      code: 'empty',
      severity: 'error',
      message:
        'This file has no scenario. Begin with `config:` and a target, such as `target: local`, and a `scenario:` with a name.',
      offset: 0,
      length: 0,
      fix: {
        title: 'Write the smallest scenario',
        offset: text.length,
        length: 0,
        text: lead + smallestScenario,
      },
    };
  }
  const [start] = contents.range;
  const offset = Math.min(start, text.length);
  const lineLength = text.slice(offset).search(/[\r\n]|$/);
  return {
    code: 'not-a-map',
    severity: 'error',
    message: `A scenario is a map with the keys ${topKeys.map(({ name }) => name).join(', ')}; this is something else. Is it the right file?`,
    offset,
    length: lineLength,
  };
}

/** Enough to see what a file is. */
const mostKeysRead = 100;

/** Files of other programs, such as a manifest of Kubernetes, get one problem. */
function foreignFile(root: YAMLMap): Problem | undefined {
  const first = root.items.slice(0, mostKeysRead);
  const keys = first.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
  const known = topKeys.map(({ name }) => name).filter((name) => name !== 'kind');
  const isOurs = (key: string): boolean =>
    pipelineKeys.includes(key) || didYouMean(key, known) !== undefined;
  const others = keys.filter((key) => key !== 'kind' && sectionsWithKey(key).length === 0);
  if (others.length < 2 || keys.some(isOurs)) return undefined;
  const shown = joinWords(others.slice(0, 3).map((key) => `"${safeExcerpt(key)}"`));
  const message = `This is not a scenario: it has ${shown}, and none of ${joinWords(known)}. Is it the right file?`;
  const [offset] = root.range!;
  return { code: 'not-a-scenario', severity: 'error', message, offset, length: 0 };
}

function sorted(problems: readonly Problem[]): Problem[] {
  const rank = { error: 0, warning: 1, info: 2 };
  return [...problems].sort(
    (a, b) => a.offset - b.offset || rank[a.severity] - rank[b.severity] || a.length - b.length,
  );
}
