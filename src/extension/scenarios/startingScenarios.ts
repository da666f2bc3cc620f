import { targetRole } from '../../scenario/target/targetKinds';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Override } from '../../scenario/read/overrides';
import { notRunnable } from '../../scenario/check/notRunnable';
import { parseScenario } from '../../scenario/parseScenario';
import { loadNumbers } from '../../run/runWords';
import { isAzure } from '../../base/serviceTraits';

export async function exampleScenarios(folder: string) {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => /\.ya?ml$/.test(name)).sort();
  // Not as documents of the editor: their notes would be listed as problems.
  const examples = await Promise.all(
    files.map(async (name) => {
      const file = path.join(folder, name);
      return exampleOf(file, await readFile(file, 'utf8'));
    }),
  );
  return examples
    .flat()
    .sort((a, b) => rank(a) - rank(b) || a.overrides.length - b.overrides.length);
}

export type ExampleScenario = ReturnType<typeof exampleOf>[number];

const quickStart = 'quick-start.signalr.yaml';

/** Whether it is the one for people who only want to see a run. */
export const isQuickStart = ({ file }: Pick<ExampleScenario, 'file'>): boolean =>
  path.basename(file) === quickStart;

const rank = (example: Pick<ExampleScenario, 'file'>): number => (isQuickStart(example) ? 0 : 1);

function exampleOf(file: string, text: string) {
  const { scenario } = parseScenario(text);
  if (!scenario || notRunnable(scenario) !== undefined) return [];
  const summary = /^#(.*)$/m.exec(text)?.[1]?.trim() ?? '';
  const { service, target } = scenario;
  // In place of what only who has it can use: the embedded hub or an emulator.
  const overrides: Override[] = [
    { path: 'config.target', value: 'local' },
    ...(isAzure(service) ? [{ path: 'config.service', value: service }] : []),
  ];
  const changed = targetRole(target) === 'ownServer' ? [] : overrides;
  const { connections, outPerSecond, durationS } = loadNumbers(scenario);
  const load = { connections, outPerSecond, durationS };
  return [{ file, summary, service, overrides: changed, load }];
}
