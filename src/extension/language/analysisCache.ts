import { analyseScenario, type Analysis } from './analyseScenario';

/** What of a document counts here. */
interface Versioned {
  /** Changes with every change of the text. */
  readonly version: number;
  getText(): string;
}

/** Analyses of documents, one for each version. */
export interface AnalysisCache<D extends Versioned> {
  /** Undefined when the document is no scenario. */
  analysisOf(document: D): Analysis | undefined;
}

/** Reads each version of a document once, however many features ask. */
export function analysisCache<D extends Versioned>(
  isScenario: (document: D) => boolean,
): AnalysisCache<D> {
  const known = new WeakMap<D, { version: number; analysis: Analysis }>();
  return {
    analysisOf(document) {
      if (!isScenario(document)) return undefined;
      const found = known.get(document);
      if (found?.version === document.version) return found.analysis;
      const analysis = analyseScenario(document.getText());
      known.set(document, { version: document.version, analysis });
      return analysis;
    },
  };
}
