import assert from 'node:assert/strict';
import { scenarioTemplates } from '../../../src/extension/scenarioTemplates';
import { notRunnable } from '../../../src/scenario/notRunnable';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { useCases } from '../../../src/usecases/registry';

describe('scenarioTemplates', () => {
  it('has one for every use case', () => {
    const names = scenarioTemplates().map(({ useCase }) => useCase.name);
    assert.deepEqual(
      names,
      useCases.map(({ name }) => name),
    );
  });

  for (const { useCase, text, runnable, fileName } of scenarioTemplates()) {
    it(`gives a scenario without problems for ${useCase.name}`, () => {
      const { scenario, problems } = parseScenario(text);
      assert.deepEqual(
        problems.filter(({ severity }) => severity !== 'info'),
        [],
      );
      assert.equal(scenario?.entries[0]?.name, useCase.name);
      assert.equal(notRunnable(scenario) === undefined, runnable);
      assert.match(fileName, /^\w+\.signalr\.yaml$/);
      for (const { name } of useCase.parameters) assert.ok(text.includes(`    ${name}: `), name);
    });
  }
});
