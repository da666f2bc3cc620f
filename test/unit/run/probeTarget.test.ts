import assert from 'node:assert/strict';
import type { Scenario } from '../../../src/scenario/scenario';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { probeTarget, readHubCode } from '../../../src/run/probeTarget';
import type { ServiceProbe, TargetContext } from '../../../src/targets/target';
import path from 'node:path';
import { contractMethods } from '../../../src/usecases/registry';

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

describe('the C# of a hub', () => {
  const script = path.resolve('dist', 'cli.js');

  for (const classic of [false, true])
    for (const dialect of ['recordLatency', 'measure'] as const)
      it(`has all methods of ${dialect}${classic ? ' but streams, in ASP.NET SignalR' : ''}`, () => {
        const methods = readHubCode(script, dialect, classic).matchAll(
          /public (?:async )?(?!override)[\w<>, ]+ (\w+)\(/g,
        );
        const { streams, ...contract } = contractMethods();
        assert.ok(streams.includes('StreamingEcho'));
        assert.deepEqual(
          [...methods].map(([, name]) => name!),
          contract[dialect].filter((name) => !classic || !streams.includes(name)),
        );
      });

  it('sends to whom each method is for, under the name that scenarios have', () => {
    const code = readHubCode(script, 'recordLatency', true);
    for (const part of [
      '[HubName("signalrbench")]',
      'Clients.Caller.RecordLatency(message);',
      'Clients.All.RecordLatency(message);',
      'Clients.Client(message["information.ConnectionId"].ToString()).RecordLatency(message);',
      'Clients.Group(message["information.GroupName"].ToString()).RecordLatency(message);',
      'await Groups.Add(Context.ConnectionId, group);',
      'await Groups.Remove(Context.ConnectionId, group);',
      'await Clients.Caller.OnConnected(Context.ConnectionId);',
    ])
      assert.ok(code.includes(part), part);
    const measured = readHubCode(script, 'measure', true);
    assert.ok(measured.includes('Clients.Group(receiver).Measure(ticks, payload);'));
    assert.ok(!measured.includes('OnConnected'));
  });
});
