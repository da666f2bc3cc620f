import assert from 'node:assert/strict';
import { analyseScenario, diagnosticsOf } from '../../../../src/extension/language/analyseScenario';
import { templateText } from '../../../../src/extension/language/wholeScenarios';
import { notRunnable } from '../../../../src/scenario/check/notRunnable';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { useCases } from '../../../../src/usecases/registry';

describe('templateText', () => {
  for (const useCase of useCases) {
    it(`gives a scenario without problems for ${useCase.name}`, () => {
      const text = templateText(useCase);
      const { scenario } = parseScenario(text);
      assert.deepEqual(diagnosticsOf(analyseScenario(text)), []);
      assert.equal(scenario?.entries[0]?.name, useCase.name);
      assert.equal(notRunnable(scenario), undefined);
      assert.match(useCase.name, /^\w+$/);
      for (const { name, optional } of useCase.parameters) {
        const { starting } = useCase;
        const begins = starting === undefined ? optional !== true : starting[name] !== undefined;
        assert.equal(text.includes(`    ${name}: `), begins, name);
      }
    });
  }
});
