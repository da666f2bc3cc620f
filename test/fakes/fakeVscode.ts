import Module from 'node:module';

type Load = (request: string, ...rest: unknown[]) => unknown;

/** Loads a module that imports `vscode`, with this in its place. */
export async function withVscode<Exports>(
  vscode: object,
  load: () => Promise<Exports>,
): Promise<Exports> {
  const loader = Module as unknown as { _load: Load };
  const real = loader._load;
  loader._load = (request, ...rest) =>
    request === 'vscode' ? vscode : real.call(Module, request, ...rest);
  try {
    return await load();
  } finally {
    loader._load = real;
  }
}
