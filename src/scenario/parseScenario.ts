import { isMap, isScalar, type Document } from 'yaml';
import { azureServices, services } from '../base/services';
import { isRest } from '../usecases/useCase';
import { buildScenario, readSlo } from './read/buildScenario';
import { checkDialect, reportNotRunnable } from './check/notRunnable';
import { checkGroups, checkOwnMethod, checkStreams } from './check/checkEntries';
import { checkLives, checkSlo, checkSteps } from './check/checkSteps';
import { checkService, checkSubprotocol, checkTransport } from './check/checkService';
import { checkTarget, reportSecrets } from './check/checkTarget';
import { configKeys } from './keys/configKeys';
import { applyOverrides, type Override } from './read/overrides';
import { writtenPlace, type Checked } from './check/checked';
import type { Problem } from './problem';
import { pipelineAsScenario, pipelineIn } from './seed/pipelineFile';
import { readEntries } from './read/readEntries';
import { createReading, type Place, type Reading } from './text/scenarioReading';
import { choiceIn, readSection, sectionOf, type Section } from './read/readSection';
import { readTarget } from './read/readTarget';
import type { Scenario } from './scenario';
import { sloKeys, topKeys } from './keys/scenarioKeys';
import { reportSeedNotes } from './seed/seedNotes';
import { readYaml } from './text/yamlDocument';

export interface ParseOptions {
  /** Values that replace keys of the file, in order: `--set config.connections=100`. */
  readonly overrides?: readonly Override[];
}

/** What a text says, as far as it could be read. */
export interface ParsedScenario {
  /**
   * Present whenever the text has a map at its top, with defaults in place of what is missing or wrong.
   * It may be run only when no problem is of severity `error`.
   */
  readonly scenario?: Scenario;
  /** Sorted by position; those of overrides come first, with offset and length 0. */
  readonly problems: readonly Problem[];
  /** Where the size is written, for those who compare it with the load. */
  readonly sizePlaces?: SizePlaces;
}

export interface SizePlaces {
  readonly unit?: Place;
  readonly sku?: Place;
}

/**
 * Reads a scenario file. Never throws: whatever the text is, the answer is problems and the parts that
 * could be read, within bounded time and memory.
 */
export function parseScenario(text: string, options: ParseOptions = {}): ParsedScenario {
  const { document, problems } = readYaml(text);
  if (document === undefined) return { problems };
  const root = document.contents;
  if (!isMap(root)) {
    const broken = problems.some(({ severity }) => severity === 'error');
    const missing = broken ? [] : [noScenario(text, document)];
    return { problems: sorted([...problems, ...missing]) };
  }
  const reading = createReading(text, document, problems);
  const pipeline = pipelineIn(root) !== undefined;
  const map = pipeline ? pipelineAsScenario(reading, root) : root;
  applyOverrides(reading, map, options.overrides ?? []);
  const checked = readScenario(reading, sectionOf(reading, '', topKeys, map));
  // A pipeline does not have the keys that these notes are about.
  if (!pipeline) reportSeedNotes(checked);
  reportSecrets(reading);
  const found = pipeline ? withoutGuesses(reading) : reading.problems();
  const { scenario } = checked;
  return { scenario, problems: sorted(found), sizePlaces: sizePlaces(checked) };
}

function sizePlaces({ reading, config }: Checked): SizePlaces {
  const unit = writtenPlace(reading, config, 'unit');
  const sku = writtenPlace(reading, config, 'sku');
  return { ...(unit && { unit }), ...(sku && { sku }) };
}

/** Of a pipeline with errors less is read than stands there, so notes on what is missing are not true. */
function withoutGuesses(reading: Reading): Problem[] {
  const all = reading.problems();
  const failed = all.some(
    ({ severity, code }) => severity === 'error' && code.startsWith('pipeline-'),
  );
  return failed ? all.filter(({ severity }) => severity !== 'info') : all;
}

function readScenario(reading: Reading, top: Section): Checked {
  const config = readSection(reading, 'config', configKeys, top.written.get('config'));
  const slo = readSection(reading, 'slo', sloKeys(), top.written.get('slo'));
  const entries = readEntries(reading, top);
  const rest = entries.some(({ useCase }) => isRest(useCase));
  const service = choiceIn(config, 'service', azureServices);
  const { target, written } = readTarget(reading, config, {
    rest,
    preferConnectionString: rest || (service !== undefined && !services[service].speaksHub),
  });
  const limits = readSlo(reading, slo, config);
  const scenario = buildScenario(reading, { top, config, entries, target, slo: limits });
  const checked = { reading, scenario, top, config, slo, entries };
  checkTarget(checked, written);
  checkTransport(checked);
  checkSubprotocol(checked);
  checkService(checked);
  for (const read of entries) {
    checkGroups(checked, read);
    checkOwnMethod(checked, read);
    checkDialect(checked, read);
    checkStreams(checked, read);
  }
  checkSteps(checked);
  checkSlo(checked);
  checkLives(checked);
  reportNotRunnable(checked);
  return checked;
}

/** Enough to run at once, for an empty file. */
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

/** By position; of those at one place the more severe first. */
function sorted(problems: readonly Problem[]): Problem[] {
  const rank = { error: 0, warning: 1, info: 2 };
  return [...problems].sort(
    (a, b) => a.offset - b.offset || rank[a.severity] - rank[b.severity] || a.length - b.length,
  );
}
