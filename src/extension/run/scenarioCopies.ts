import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { scenarioFile } from '../../results/resultFolder';

/** Documents of this scheme have no way back to the disk: the editor shows them read-only. */
export const copyScheme = 'signalr-benchmark-run';

/** Larger than any scenario that is read; what is kept beside a result may have been replaced. */
const mostCharacters = 16_000_000;

/** Shows the copies of scenarios that lie beside results; the query of their URI is the folder. */
export function scenarioCopies(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(copyScheme, {
    provideTextDocumentContent: ({ query }) => copyIn(query),
  });
}

/** The scenario of a result folder, as it was run. */
export async function copyIn(folder: string): Promise<string> {
  const text = await readFile(path.join(folder, scenarioFile), 'utf8');
  return text.slice(0, mostCharacters);
}
