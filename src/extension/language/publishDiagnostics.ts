import * as vscode from 'vscode';
import { tooLarge, type Problem, type Severity } from '../../scenario/problem';
import type { AnalysisCache } from './analyseScenario';
import { diagnosticsOf, hasPlace, isYamlTooling, notRepeated } from './diagnosticsOf';

type DocumentCache = AnalysisCache<vscode.TextDocument>;

/** Time without typing after which problems are shown. */
const debounceMs = 100;

const severities: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
};

/**
 * Keeps the problems of all open scenarios up to date; they vanish when a document is closed. What other
 * YAML tooling reports already is not said twice.
 */
export function publishDiagnostics(
  cache: DocumentCache,
  refresh: vscode.Event<void>,
): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('signalrBenchmark');
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Lines that other tooling had reported when the problems of a document were shown. */
  const others = new Map<string, string>();
  const cancel = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
  };
  const show = (document: vscode.TextDocument): void => {
    if (document.isClosed) return;
    const problems = problemsIn(cache, document);
    if (problems === undefined) {
      others.delete(document.uri.toString());
      collection.delete(document.uri);
      return;
    }
    const lines = linesOfOthers(document.uri);
    others.set(document.uri.toString(), lines.join());
    const lineOf = ({ offset }: Problem): number => document.positionAt(offset).line;
    const shown = notRepeated(problems, lineOf, new Set(lines)).map((problem) => {
      const range = rangeOf(document, problem);
      const found = new vscode.Diagnostic(range, problem.message, severities[problem.severity]);
      found.code = problem.code;
      found.source = 'SignalR Benchmark';
      return found;
    });
    collection.set(document.uri, shown);
  };
  const later = (document: vscode.TextDocument): void => {
    if (document.languageId !== 'yaml' || !isWorkedOn(document)) return;
    const key = document.uri.toString();
    cancel(key);
    timers.set(
      key,
      setTimeout(() => {
        timers.delete(key);
        show(document);
      }, debounceMs),
    );
  };
  const all = (): void => vscode.workspace.textDocuments.forEach(later);
  all();
  return vscode.Disposable.from(
    collection,
    vscode.workspace.onDidOpenTextDocument(later),
    vscode.workspace.onDidChangeTextDocument(({ document }) => later(document)),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      cancel(uri.toString());
      others.delete(uri.toString());
      collection.delete(uri);
    }),
    vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      // What is published here comes by as well, and changes nothing in what others report.
      const changed = uris.filter((uri) => {
        const before = others.get(uri.toString());
        return before !== undefined && before !== linesOfOthers(uri).join();
      });
      const keys = new Set(changed.map((uri) => uri.toString()));
      if (keys.size === 0) return;
      vscode.workspace.textDocuments.filter(({ uri }) => keys.has(uri.toString())).forEach(later);
    }),
    refresh(all),
    new vscode.Disposable(() => {
      for (const key of [...timers.keys()]) cancel(key);
    }),
  );
}

/** Undefined when the document is no scenario; one hint when it is too large to be read. */
function problemsIn(
  cache: DocumentCache,
  document: vscode.TextDocument,
): readonly Problem[] | undefined {
  // Nobody edits such a file as a scenario: no error that has to be solved, but a word why it is quiet.
  if (cache.isTooLarge(document)) return [{ ...tooLarge, severity: 'info' }];
  const analysis = cache.analysisOf(document);
  return analysis && diagnosticsOf(analysis);
}

function linesOfOthers(uri: vscode.Uri): readonly number[] {
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ source }) => isYamlTooling(source))
    .map(({ range }) => range.start.line)
    .sort((a, b) => a - b);
}

/** See {@link hasPlace}; others get neither problems nor lenses. */
export const isWorkedOn = ({ uri }: vscode.TextDocument): boolean =>
  hasPlace(
    uri.scheme,
    (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme),
  );

export function rangeOf(
  document: vscode.TextDocument,
  { offset, length }: { readonly offset: number; readonly length: number },
): vscode.Range {
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}
