import { behindOf } from '../../scenario/target/targetKinds';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { startingFile } from '../../capacity/start/preset';
import type { SetKey } from '../../results/scenarioCopy';
import { notRunnable } from '../../scenario/check/notRunnable';
import { parseScenario } from '../../scenario/parseScenario';
import { isAzure, usualService } from '../../base/services';
import type { Scenario } from '../../scenario/scenario';
import { useCases } from '../../usecases/registry';
import { runsOnHub, type UseCase } from '../../usecases/useCase';

export interface ExampleScenario {
  readonly file: string;
  readonly summary: string;
  readonly service: Scenario['service'];
  readonly overrides: readonly SetKey[];
}

export async function exampleScenarios(folder: string): Promise<ExampleScenario[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => /\.ya?ml$/.test(name)).sort();
  // Not as documents of the editor: their notes would be listed as problems.
  const examples = await Promise.all(
    files.map(async (name) => {
      const file = path.join(folder, name);
      return exampleOf(file, await readFile(file, 'utf8'));
    }),
  );
  return examples.flat().sort((a, b) => a.overrides.length - b.overrides.length);
}

function exampleOf(file: string, text: string): ExampleScenario[] {
  const { scenario } = parseScenario(text);
  if (!scenario || notRunnable(scenario) !== undefined) return [];
  const summary = /^#(.*)$/m.exec(text)?.[1]?.trim() ?? '';
  const { service, target } = scenario;
  const overrides = [
    { path: 'config.target', value: 'local' },
    ...(isAzure(service) ? [{ path: 'config.service', value: service }] : []),
  ];
  return [{ file, summary, service, overrides: behindOf(target) === 'ownServer' ? [] : overrides }];
}

export type ScenarioTemplate = ReturnType<typeof scenarioTemplates>[number];

/** In the order people are shown them. */
export const scenarioTemplates = () =>
  useCases.map((useCase) => ({
    useCase,
    fileName: `${useCase.name}.signalr.yaml`,
    text: templateText(useCase),
  }));

const connections = 200;

/** A small load for any machine; groups of ten are the small group of the performance guides. */
function templateText(useCase: UseCase): string {
  return startingFile(useCase, {
    service: runsOnHub(useCase) ? 'hub' : usualService,
    connections,
    arrivingRate: connections,
    baseSending: connections / 2,
    // Where who does not send is to move, there is one step.
    step: useCase.run.othersMove === true ? 0 : connections / 2,
    groupCount: connections / 10,
    singleStepDuration: '15s',
    warmup: '2s',
    comments: [],
  });
}
