import { createRequire } from 'node:module';
import path from 'node:path';

const fromHere = createRequire(__filename);
const compiled = path.resolve(__dirname, '..', '..');

/** What is added: to the list of a file below the folder of the compiled code, without ending. */
type Line = readonly [file: string, list: string, entry: unknown];

/**
 * The program with further lines in its registries: its modules are loaded anew, the registries first.
 *
 * @returns loads further modules of the same program
 */
export function withLines(...lines: readonly Line[]): (name: string) => unknown {
  const load = (name: string): unknown => fromHere(path.join(compiled, name));
  const isOurs = (name: string): boolean => name.startsWith(path.join(compiled, 'src') + path.sep);
  const { cache } = fromHere;
  const usual = Object.entries(cache).filter(([name]) => isOurs(name));
  const forget = (): void => {
    for (const name of Object.keys(cache)) if (isOurs(name)) Reflect.deleteProperty(cache, name);
  };
  const anew = new Map<string, NodeJS.Module | undefined>();
  const inside = <T>(body: () => T): T => {
    forget();
    for (const [name, module] of anew) cache[name] = module;
    try {
      return body();
    } finally {
      for (const [name, module] of Object.entries(cache)) if (isOurs(name)) anew.set(name, module);
      forget();
      for (const [name, module] of usual) cache[name] = module;
    }
  };
  inside(() => {
    for (const [file, list, entry] of lines)
      (load(file) as Record<string, unknown[]>)[list]!.push(entry);
  });
  return (name) => inside(() => load(name));
}
