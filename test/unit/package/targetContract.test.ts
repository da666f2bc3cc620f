import assert from 'node:assert/strict';
import path from 'node:path';
import type * as agreedDialectModule from '../../../src/run/askTarget';
import type * as openTargetModule from '../../../src/targets/openTarget';
import type * as emulatedModule from '../../../src/results/result';
import type * as targetKindsModule from '../../../src/scenario/target/targetKinds';
import type * as doctorCommandModule from '../../../src/cli/commands/doctorCommand';
import type * as keysCommandModule from '../../../src/cli/commands/keysCommand';
import type * as analyseScenarioModule from '../../../src/extension/language/analyseScenario';
import type * as completionsAtModule from '../../../src/extension/language/completionsAt';
import type * as hoverAtModule from '../../../src/extension/language/hoverAt';
import type * as buildPlanModule from '../../../src/plan/buildPlan';
import type * as startRunModule from '../../../src/engine/lead/startRun';
import type * as schemaModule from '../../../src/scenario/keys/schema';
import type * as parseScenarioModule from '../../../src/scenario/parseScenario';
import type * as benchHubModule from '../../../src/servers/hub/benchHub';
import type { Scenario } from '../../../src/scenario/scenario';
import { fakeDeps } from '../cli/fakeDeps';
import { fakeIo } from '../cli/fakeIo';
import { madeUpKind, madeUpTarget } from '../../fakes/madeUpTarget';
import { withLines } from '../../fakes/withLines';

/* As in contracts.test.ts: what is made up here stands in the registries, and nothing else is changed. */

describe('a target', () => {
  const load = withLines(
    ['src/scenario/target/targetKinds', 'targetKinds', madeUpKind],
    ['src/targets/openTarget', 'targets', madeUpTarget],
  );
  const { parseScenario } = load('src/scenario/parseScenario') as typeof parseScenarioModule;
  const file = (target: string): string =>
    `config:\n  target: ${target}\n  connections: 4\n  arrivingRate: 100\n  baseSending: 2\n  step: 0\n` +
    '  sendingSteps: 1\n  singleStepDuration: 1s\n  warmup: 0\nscenario:\n  name: echo\n';
  const context = {
    reference: () => undefined,
    serverScript: 'none',
    readFile: () => Promise.reject(new Error('nothing is read')),
  };
  const scenarioOf = (target: string): Scenario => {
    const { scenario, problems } = parseScenario(file(target));
    assert.deepEqual(problems, []);
    assert.ok(scenario);
    return scenario;
  };

  it('is read from the file, checked, and in the schema', () => {
    assert.deepEqual(scenarioOf('port 5050').target, { kind: 'port', port: '5050' });
    const { scenarioSchema } = load('src/scenario/keys/schema') as typeof schemaModule;
    assert.ok(JSON.stringify(scenarioSchema()).includes(JSON.stringify(madeUpKind.pattern)));
    const rest = parseScenario(file('port 5050').replace('echo', 'restBroadcast'));
    assert.deepEqual(
      rest.problems.filter(({ severity }) => severity === 'error').map(({ code }) => code),
      ['connection-string-needed'],
    );
  });

  it('is offered in the editor', () => {
    const { analyseScenario } = load(
      'src/extension/language/analyseScenario',
    ) as typeof analyseScenarioModule;
    const { completionsAt } = load(
      'src/extension/language/completionsAt',
    ) as typeof completionsAtModule;
    const text = 'config:\n  target: ';
    const names = { environment: [], secrets: [], hubs: [] };
    const offered = completionsAt(analyseScenario(text), text.length, names);
    assert.ok(offered.some(({ label }) => label === 'port 5050'));
  });

  it('is explained where the key is: in the hover and by `keys`', () => {
    const { analyseScenario } = load(
      'src/extension/language/analyseScenario',
    ) as typeof analyseScenarioModule;
    const { hoverAt } = load('src/extension/language/hoverAt') as typeof hoverAtModule;
    const { keysCommand } = load('src/cli/commands/keysCommand') as typeof keysCommandModule;
    const text = file('port 5050');
    const hover = hoverAt(analyseScenario(text), text.indexOf('target') + 1, { estimate: false });
    assert.match(hover!.markdown, /or the port of a hub on this machine\./);
    const io = fakeIo();
    keysCommand('config.target', {}, io);
    assert.match(io.out(), /or\s+the\s+port\s+of\s+a\s+hub\s+on\s+this\s+machine\./);
  });

  it('is asked by doctor in a way of its own, or as a hub is', async () => {
    const { doctorCommand } = load('src/cli/commands/doctorCommand') as typeof doctorCommandModule;
    const { openTarget, probeByKind } = load('src/targets/openTarget') as typeof openTargetModule;
    const asked: string[] = [];
    const deps = {
      ...fakeDeps(),
      ...{ parseScenario, openTarget, probeByKind },
      probeHub: ({ urls }: { readonly urls: readonly string[] }) => {
        asked.push(...urls);
        return Promise.resolve({ reachable: true as const, methods: [], connectMs: 5 });
      },
    };
    const own = fakeIo();
    assert.equal(await doctorCommand({ target: 'port 5050' }, own, deps), 0);
    assert.match(own.out(), /127\.0\.0\.1:5050\S+: answers within 5\.0 ms and takes the key/);
    assert.deepEqual(asked, []);
    const asHub = fakeIo();
    assert.equal(await doctorCommand({ target: 'port 1', yes: true }, asHub, deps), 0);
    assert.match(asHub.out(), /127\.0\.0\.1:1\S+: connected within 5\.0 ms/);
    assert.deepEqual(asked, ['http://127.0.0.1:1/signalrbench']);
  });

  it('is known by what stands behind it, its hosts and its addresses', () => {
    const { addressCount, behindOf, hostsOf, targetWords } = load(
      'src/scenario/target/targetKinds',
    ) as typeof targetKindsModule;
    const { target } = scenarioOf('port 5050');
    assert.equal(behindOf(target), 'userHub');
    assert.deepEqual(hostsOf(target), ['127.0.0.1']);
    assert.equal(addressCount(target), 1);
    assert.equal(targetWords(target), 'http://127.0.0.1:5050/signalrbench');
    const { emulatedBy } = load('src/results/result') as typeof emulatedModule;
    assert.equal(emulatedBy({ kind: 'port', emulated: true }, 'hub'), 'embeddedHub');
  });

  it('is opened, asked for its dialect and run against', async () => {
    const { startBenchHub } = load('src/servers/hub/benchHub') as typeof benchHubModule;
    const { openTarget } = load('src/targets/openTarget') as typeof openTargetModule;
    const { agreedDialect } = load('src/run/askTarget') as typeof agreedDialectModule;
    const { buildPlan } = load('src/plan/buildPlan') as typeof buildPlanModule;
    const { startRun } = load('src/engine/lead/startRun') as typeof startRunModule;
    const hub = await startBenchHub();
    try {
      const scenario = scenarioOf(`port ${new URL(hub.url).port}`);
      const target = await openTarget(scenario, context);
      const asked: string[] = [];
      const plan = await agreedDialect(
        buildPlan(scenario, { workers: 1, seed: 1, runId: 7 }),
        target,
        ({ urls }) => {
          asked.push(...urls);
          return Promise.resolve({ dialect: 'measure', lacks: [] });
        },
      );
      assert.deepEqual([asked, plan.dialect], [[hub.url], 'measure']);
      const workerScript = path.resolve(__dirname, '../../../src/engine/workerMain.js');
      const { ending, steps } = await startRun(plan, target, { workerScript }).finished;
      assert.equal(ending, 'completed');
      assert.ok(steps[0]!.sent > 0);
      assert.equal(steps[0]!.received, steps[0]!.sent);
      await target.dispose();
    } finally {
      await hub.dispose();
    }
  });
});
