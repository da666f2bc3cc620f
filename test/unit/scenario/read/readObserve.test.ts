import assert from 'node:assert/strict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { redactScenario } from '../../../../src/results/completeResult';
import { scenarioCopy } from '../../../../src/results/scenarioCopy';

const text = (observe: string): string =>
  `config:\n  target: local\n  observe:\n${observe}\nscenario:\n  name: echo\n`;

const resource =
  '/subscriptions/0/resourceGroups/g/providers/Microsoft.SignalRService/SignalR/chat';

describe('config.observe', () => {
  it('is a list of endpoints and resources', () => {
    const { scenario, problems } = parseScenario(
      text(
        `    - { prometheus: 'http://localhost:5000/metrics', authorization: 'Bearer \${secret:metrics}', series: 'orders_*, cache' }\n    - { azureMonitor: ${resource}, region: westeurope }`,
      ),
    );
    assert.deepEqual(
      problems.filter(({ severity }) => severity === 'error'),
      [],
    );
    assert.deepEqual(scenario?.observe, [
      {
        ...{ kind: 'prometheus', url: 'http://localhost:5000/metrics' },
        ...{ authorization: 'Bearer ${secret:metrics}', series: ['orders_*', 'cache'] },
      },
      { kind: 'azureMonitor', resource, region: 'westeurope' },
    ]);
  });

  for (const [name, observe, why] of [
    ['no list', '    prometheus: http://a/', /must be a list/],
    ['something else than maps', '    - http://a/', /Each entry of observe is a map/],
    ['nothing to observe', '    - { series: a }', /needs one of prometheus or azureMonitor/],
    [
      'two things in one',
      `    - { prometheus: 'http://a/', azureMonitor: ${resource} }`,
      /has both prometheus and azureMonitor/,
    ],
    ['no URL', '    - prometheus: localhost', /not a URL of an endpoint/],
    ['a file', "    - prometheus: 'file:///etc/passwd'", /not a URL of an endpoint/],
    [
      'no pattern',
      "    - { prometheus: 'http://a/', series: 'a{b}' }",
      /series holds at most 20 names/,
    ],
    ['no resource', '    - { azureMonitor: chat, region: westeurope }', /not a resource of Azure/],
    ['no region', `    - azureMonitor: ${resource}`, /needs the region/],
    ['an unknown key', "    - { prometheus: 'http://a/', header: b }", /header/],
  ] as const)
    it(`with ${name} is refused with the reason`, () => {
      const { problems } = parseScenario(text(observe));
      const [first] = problems.filter(({ severity }) => severity === 'error');
      assert.match(first?.message ?? '', why);
      assert.ok(first!.offset > 0 && first!.length > 0, 'a place');
    });

  it('leaves no key in what is stored', () => {
    const written = text(
      "    - { prometheus: 'http://user:pass-word@a/metrics?key=hidden1', authorization: 'Bearer hidden-token' }",
    );
    const { scenario } = parseScenario(written);
    for (const stored of [JSON.stringify(redactScenario(scenario!)), scenarioCopy(written)]) {
      assert.doesNotMatch(stored, /hidden|pass-word/);
      assert.match(stored, /a\/metrics/);
    }
  });
});
