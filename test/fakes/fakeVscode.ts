import Module from 'node:module';

type Load = (request: string, ...rest: unknown[]) => unknown;

/** Loads a module that imports `vscode`, with this in its place; what it imports is loaded anew. */
export async function withVscode<Exports>(
  vscode: object,
  load: () => Promise<Exports>,
): Promise<Exports> {
  const loader = Module as unknown as { _load: Load; _cache: Record<string, unknown> };
  const real = loader._load;
  loader._load = (request, ...rest) =>
    request === 'vscode' ? vscode : real.call(Module, request, ...rest);
  // They may have another one.
  for (const file of Object.keys(loader._cache))
    if (/[\\/]src[\\/]extension[\\/]/.test(file)) Reflect.deleteProperty(loader._cache, file);
  try {
    return await load();
  } finally {
    loader._load = real;
  }
}
