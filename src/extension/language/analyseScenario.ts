import { scenarioEstimate } from '../../capacity/estimate';
import { sizeProblems } from '../../capacity/judge/unitVerdict';
import type { Estimate } from '../../capacity/model';
import { isScalarSpec, type KeySpec } from '../../scenario/keys/keySpec';
import { allParameters, topKeys } from '../../scenario/keys/scenarioKeys';
import { keysOfStep } from '../../scenario/keys/stepKeys';
import { parseScenario, type SizePlaces } from '../../scenario/parseScenario';
import { maximumCharacters, type Problem } from '../../scenario/problem';
import type { Scenario } from '../../scenario/scenario';
import {
  childNamed,
  outlineOf,
  unquotedValue,
  type Outline,
  type OutlineNode,
} from '../../scenario/text/outline';
import { findUseCase } from '../../usecases/registry';
import { defaultUseCase, type UseCase } from '../../usecases/useCase';

export interface Analysis {
  readonly text: string;
  readonly outline: Outline;
  readonly problems: readonly Problem[];
  readonly scenario?: Scenario;
  readonly sizePlaces?: SizePlaces;
  /** Absent while the text has errors, and where no table fits; `noEstimate` says why. */
  readonly estimate?: Estimate;
  readonly noEstimate?: string;
}

/** Reads a scenario text once for all features. Never throws; bounded as `parseScenario` is. */
export function analyseScenario(text: string): Analysis {
  const { scenario, problems, sizePlaces } = parseScenario(text);
  const read = { text, outline: outlineOf(text), problems };
  if (scenario === undefined) return { ...read, noEstimate: 'There is no scenario yet.' };
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) {
    const noEstimate = `${errors} ${errors === 1 ? 'error' : 'errors'} to solve first`;
    return { ...read, scenario, noEstimate };
  }
  return { ...read, scenario, sizePlaces, ...estimateOf(scenario) };
}

export function estimateOf(scenario: Scenario): Pick<Analysis, 'estimate' | 'noEstimate'> {
  if (scenario.kind === 'resultparser')
    return { noEstimate: 'This file only reads an old result.' };
  const found = scenarioEstimate(scenario);
  return 'problem' in found ? { noEstimate: found.problem } : found;
}

interface Versioned {
  readonly version: number;
  getText(): string;
}

export type AnalysisCache<D extends Versioned> = ReturnType<typeof analysisCache<D>>;

/** Analyses each version of a document once. `isScenario` and `sizeOf` must be cheap: they are called often. */
export function analysisCache<D extends Versioned>({
  isScenario,
  sizeOf,
}: Readonly<{ isScenario: (document: D) => boolean; sizeOf: (document: D) => number }>) {
  const known = new WeakMap<D, { version: number; analysis: Analysis }>();
  const isTooLarge = (document: D): boolean => sizeOf(document) > maximumCharacters;
  return {
    analysisOf(document: D): Analysis | undefined {
      if (!isScenario(document) || isTooLarge(document)) return undefined;
      const found = known.get(document);
      if (found?.version === document.version) return found.analysis;
      const analysis = analyseScenario(document.getText());
      known.set(document, { version: document.version, analysis });
      return analysis;
    },
    isTooLarge: (document: D): boolean => isScenario(document) && isTooLarge(document),
  };
}

export function keysBelow(node: OutlineNode): readonly KeySpec[] | undefined {
  if (node.parent === undefined) return topKeys;
  if (node.item) {
    const list = specOf(node.parent);
    if (list?.type === 'steps') return keysOfStep(node.children.map(({ name }) => name));
    return list?.type === 'entries' ? list.keys : list?.items;
  }
  const spec = specOf(node);
  if (spec !== undefined && (spec.type === 'section' || isScalarSpec(spec))) return spec.keys;
  if (spec?.type !== 'parameters') return undefined;
  const useCase = useCaseOf(node.parent);
  if (useCase !== undefined) return useCase.parameters;
  const isNamed = childNamed(node.parent, 'name') !== undefined;
  return isNamed ? [...allParameters.values()].map(({ spec: one }) => one) : [];
}

export function specOf(node: OutlineNode): KeySpec | undefined {
  if (node.parent === undefined) return undefined;
  if (node.item) return specOf(node.parent);
  const known = keysBelow(node.parent)?.find(({ name }) => name === node.name);
  return known ?? specOf(node.parent)?.named?.(node.name);
}

/** The use case that an entry names, else the default one. */
export function useCaseOf(entry: OutlineNode): UseCase | undefined {
  return findUseCase(unquotedValue(childNamed(entry, 'name')) ?? defaultUseCase);
}

export function entryNodes(root: OutlineNode): OutlineNode[] {
  const single = childNamed(root, 'scenario');
  const mix = childNamed(root, 'scenarios')?.children.filter(({ item }) => item) ?? [];
  return mix.length > 0 ? mix : single === undefined ? [] : [single];
}

/** All problems by position, the same as on the command line. */
export function diagnosticsOf(analysis: Analysis): Problem[] {
  const { problems, estimate, text } = analysis;
  const all = problems.map((problem) => within(problem, text.length));
  return [...all, ...sizeProblems(analysis, estimate?.planned)].sort((a, b) => a.offset - b.offset);
}

function within(problem: Problem, end: number): Problem {
  const offset = Math.max(0, Math.min(problem.offset, end));
  return { ...problem, offset, length: Math.max(0, Math.min(problem.length, end - offset)) };
}

/** Whether the diagnostics come from other YAML tooling, such as Red Hat's extension. */
export const isYamlTooling = (source: string | undefined): boolean =>
  source === 'YAML' || source?.startsWith('yaml-schema') === true;

/** Drops errors of lines that other tooling already reports from the same schema. Only we know the warnings. */
export function withoutReportedErrors(
  problems: readonly Problem[],
  lineOf: (problem: Problem) => number,
  linesOfOthers: ReadonlySet<number>,
): readonly Problem[] {
  if (linesOfOthers.size === 0) return problems;
  return problems.filter(
    (problem) => problem.severity !== 'error' || !linesOfOthers.has(lineOf(problem)),
  );
}

const ownSchemes = ['file', 'untitled', 'vscode-remote'];

/** Whether a document can be edited: not the left side of a diff, nor read-only views with schemes of their own. */
export const isEditableScheme = (scheme: string, folders: readonly string[]): boolean =>
  ownSchemes.includes(scheme) || folders.includes(scheme);
