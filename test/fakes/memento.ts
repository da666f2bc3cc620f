import type * as vscode from 'vscode';

/** What an editor keeps of an extension, in memory. */
export function memento(): vscode.Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string, fallback?: T) => (values.get(key) ?? fallback) as T,
    update: (key: string, value: unknown) => Promise.resolve(void values.set(key, value)),
  };
}
