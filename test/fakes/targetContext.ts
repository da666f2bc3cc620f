import type { TargetContext } from '../../src/targets/target';

/** What a target is opened with where the environment has these variables, and nothing else is there. */
export const targetContext = (
  variables: Readonly<Record<string, string>> = {},
  changes: Partial<TargetContext> = {},
): TargetContext => ({
  reference: (kind, name) => (kind === 'env' ? variables[name] : undefined),
  serverScript: 'none',
  readFile: () => Promise.reject(new Error('nothing to read')),
  ...changes,
});
