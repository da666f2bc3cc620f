import path from 'node:path';
import { english } from '../../src/base/text';
import type { EditorShell } from '../../src/extension/run/editorRun';

/** What the editor gives to a run, without an editor: nothing is read, and nobody is asked. */
export function editorShell(change: Partial<EditorShell> = {}): EditorShell {
  return {
    context: {
      reference: () => undefined,
      serverScript: path.resolve('dist', 'serve.js'),
      readFile: () => Promise.reject(new Error('nothing is read')),
      ...change.context,
    },
    workerScript: path.resolve('dist', 'worker.js'),
    confirm: () => Promise.resolve(true),
    say: () => undefined,
    t: english,
    startTime: () => new Date(),
    runAgain: () => undefined,
    openScenario: () => undefined,
    copySummary: () => undefined,
    notCompared: () => undefined,
    ...change,
  };
}
