import { maximumCharacters } from '../../scenario/text/tooLarge';
import { analyseScenario, type Analysis } from './analyseScenario';

/** What of a document counts here. */
interface Versioned {
  /** Changes with every change of the text. */
  readonly version: number;
  getText(): string;
}

/** What is asked of documents; both are asked often, so they must be cheap. */
export interface DocumentFacts<D> {
  readonly isScenario: (document: D) => boolean;
  /** Characters of the text. */
  readonly sizeOf: (document: D) => number;
}

/** Analyses of documents, one for each version. */
export interface AnalysisCache<D extends Versioned> {
  /** Undefined when the document is no scenario, or too large to be one. */
  analysisOf(document: D): Analysis | undefined;
  /** Whether only the size of the document keeps it from being read. */
  isTooLarge(document: D): boolean;
}

/** Reads each version of a document once, however many features ask; megabytes not even once. */
export function analysisCache<D extends Versioned>({
  isScenario,
  sizeOf,
}: DocumentFacts<D>): AnalysisCache<D> {
  const known = new WeakMap<D, { version: number; analysis: Analysis }>();
  const isTooLarge = (document: D): boolean => sizeOf(document) > maximumCharacters;
  return {
    analysisOf(document) {
      if (!isScenario(document) || isTooLarge(document)) return undefined;
      const found = known.get(document);
      if (found?.version === document.version) return found.analysis;
      const analysis = analyseScenario(document.getText());
      known.set(document, { version: document.version, analysis });
      return analysis;
    },
    isTooLarge: (document) => isScenario(document) && isTooLarge(document),
  };
}
