import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClusterRun } from '../../../src/agents/kubernetes/manifest';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { prepareClusterRun, type ScenarioForCluster } from '../../../src/run/runInCluster';

const text = `config:
  target: http://10.0.0.1/hub
  connections: 4
  agents: 2
scenario: { name: echo }
`;

describe('what goes to a cluster of a scenario', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-bundle-'));
  before(() => {
    for (const name of [
      'cli',
      'sharedStart',
      'commands',
      'sharedRun',
      'sharedLater',
      'worker',
      'jsonPath',
      'sdk',
      'optional',
    ])
      writeFileSync(path.join(folder, `${name}.js`), '');
  });
  after(() => rmSync(folder, { recursive: true }));

  const clusterOf = (more: Partial<ScenarioForCluster>): Promise<ClusterRun> => {
    const { scenario } = parseScenario(text);
    const asked = { run: 'r1', scenario: scenario!, title: 'a.yaml', text, overrides: [], ...more };
    const wishes = { image: 'node', busImage: 'nats' };
    return prepareClusterRun(asked, wishes, {
      context: { reference: () => 'value', readFile: () => Promise.resolve('') },
      workerScript: path.join(folder, 'worker.js'),
      notRunnable: () => undefined,
      otherwise: () => '',
    });
  };

  const flagsOf = async (more: Partial<ScenarioForCluster>): Promise<readonly string[]> => {
    const given = await clusterOf(more);
    assert.deepEqual([given.agents, given.files], [2, { 'a.yaml': text }]);
    return given.flags;
  };

  it('lets its agents have the variables that it refers to, and no others', async () => {
    const asked = text.replace('http', '${env:HUB}http').replace('hub\n', 'hub?a=${secret:one}\n');
    const overrides = [{ path: 'config.accessToken', value: '${env:TOKEN}${env:HUB}' }];
    assert.deepEqual((await clusterOf({ text: asked, overrides })).environment, ['HUB', 'TOKEN']);
    assert.deepEqual((await clusterOf({})).environment, []);
  });

  it('has what was asked of its coordinator in the words of its command line', async () => {
    assert.deepEqual(await flagsOf({}), []);
    const overrides = [{ path: 'config.connections', value: '8' }];
    const asked = { overrides, keepGoing: true, joinWithinMs: 90_000, agentTimeoutMs: 6000 };
    assert.deepEqual(await flagsOf(asked), [
      ...['--set', 'config.connections=8', '--keep-going'],
      ...['--join-within', '90000ms', '--agent-timeout', '6000ms'],
    ]);
  });
});
