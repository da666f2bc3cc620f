import assert from 'node:assert/strict';
import type { Scenario } from '../../../src/scenario/scenario';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { probeTarget } from '../../../src/run/probeTarget';
import type { ServiceProbe, TargetContext } from '../../../src/targets/target';

describe('a probe of what is embedded', () => {
  const answer: ServiceProbe = {
    url: 'http://127.0.0.1:1',
    reachable: true,
    signedIn: false,
    connectMs: 1,
  };
  const context = {} as TargetContext;

  for (const service of ['hub', 'signalr', 'webpubsub'] as const) {
    it(`asks the one of ${service}`, async () => {
      const asked: Scenario[] = [];
      const probed = await probeTarget({ text: 'local', service }, context, {
        parseScenario,
        openTarget: () => Promise.reject(new Error('not asked as a hub')),
        probeHub: () => Promise.reject(new Error('not asked as a hub')),
        probeTargetOf: (scenario) => {
          asked.push(scenario);
          return Promise.resolve(answer);
        },
      });
      assert.deepEqual(probed, { of: 'service', probe: answer });
      assert.deepEqual(
        asked.map((scenario) => [scenario.target, scenario.service]),
        [[{ kind: 'local' }, service]],
      );
    });
  }
});
