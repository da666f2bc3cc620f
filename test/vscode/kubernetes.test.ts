import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Result } from '../../src/results/result';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { openFile, until } from './editor';
import { inWorkspace, resultNames, results } from './longRun';
import { recordingMessages } from './messages';

const root = path.resolve(__dirname, '..', '..', '..');
const settings = (): vscode.WorkspaceConfiguration =>
  vscode.workspace.getConfiguration('signalrBenchmark');

/** Accepts whatever question is open, until `over`; `said` is what was shown meanwhile. */
async function answerUntil(over: () => boolean, said: () => string): Promise<void> {
  await until(
    () => `the end of the questions; said: ${said()}`,
    async () => {
      if (over()) return true;
      await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
      await new Promise((resolve) => setTimeout(resolve, 300));
      return undefined;
    },
    60_000,
  );
}

describe('a run in a cluster', () => {
  const test = recordingMessages();
  const said = (): string => test.messages.shown.map(({ text }) => text).join(' | ');
  /** The result that is stored beside those there were. */
  const storedBeside = (before: readonly string[]): Promise<Result> =>
    until(
      () => `a result; said: ${said()}`,
      () => {
        const found = resultNames()
          .filter((each) => !before.includes(each))
          .map((each) => [each, path.join(results(each), 'result.json')] as const)
          .find(([, file]) => existsSync(file));
        if (found === undefined) return undefined;
        const result = JSON.parse(readFileSync(found[1], 'utf8')) as Result;
        assert.equal(result.id, found[0]);
        return result;
      },
      60_000,
    );
  let hub: LoadHub;
  let cluster: string;
  const asked = (): string => readFileSync(path.join(cluster, 'asked.txt'), 'utf8');

  before(async () => {
    const kubectl = path.join(root, 'test', 'machines', 'fakeKubectl.mjs');
    chmodSync(kubectl, 0o755);
    cluster = mkdtempSync(path.join(tmpdir(), 'signalr-bench-cluster-'));
    hub = await startHub();
    process.env['FAKE_CLUSTER'] = cluster;
    process.env['NATS_SERVER'] = readFileSync(path.join(root, 'out', 'nats', 'program'), 'utf8');
    process.env['HUB_OF_CLUSTER'] = hub.url;
    await settings().update('kubectl', kubectl, vscode.ConfigurationTarget.Global);
    const quick = readFileSync(inWorkspace('quick.signalr.yaml'), 'utf8');
    const text = quick.replace('local', '${env:HUB_OF_CLUSTER}\n  agents: 2\n  workers: 1');
    writeFileSync(inWorkspace('cluster.signalr.yaml'), text);
  });
  after(async () => {
    await settings().update('kubectl', undefined, vscode.ConfigurationTarget.Global);
    for (const name of ['FAKE_CLUSTER', 'NATS_SERVER', 'HUB_OF_CLUSTER'])
      Reflect.deleteProperty(process.env, name);
    await hub.dispose();
    rmSync(cluster, { recursive: true, force: true, maxRetries: 5 });
  });

  it('is asked for, shown in a panel, kept as any result, and leaves nothing there', async () => {
    const before = resultNames();
    const { uri } = await openFile('cluster.signalr.yaml');
    test.messages.press = 'Run';
    const isAgreed = (): boolean => test.messages.find(/^Put load on/) !== undefined;
    const run = vscode.commands.executeCommand('signalrBenchmark.runOnKubernetes', uri);
    await answerUntil(isAgreed, said);
    await run;
    const result = await storedBeside(before);
    assert.equal(result.ending, 'completed', JSON.stringify(result.verdict));
    assert.deepEqual(
      result.agents?.map(({ node, status }) => [node, status]),
      [1, 2].map(() => ['node-1', 'done']),
    );
    for (const { received, lost } of result.steps) {
      assert.ok(received > 0);
      assert.equal(lost, 0);
    }
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    assert.ok(tabs.some(({ input }) => input instanceof vscode.TabInputWebview));
    await until(
      'an empty cluster',
      () => !existsSync(path.join(cluster, 'objects.json')) || undefined,
    );
    assert.match(asked(), /^--context other --namespace default delete job\/signalr-bench-\w+ /m);
    assert.ok(!asked().includes(hub.url), 'what is secret stands in no argument');
    assert.doesNotMatch(asked(), /^--context fake /m);
  });

  it('says in a sentence that there is no kubectl', async () => {
    const { uri } = await openFile('cluster.signalr.yaml');
    const known = settings().get<string>('kubectl');
    await settings().update('kubectl', '/nowhere/kubectl', vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('signalrBenchmark.runOnKubernetes', uri);
    await settings().update('kubectl', known, vscode.ConfigurationTarget.Global);
    const { level } = await test.said(
      /^\/nowhere\/kubectl could not be started: install kubectl and log in to the cluster\.$/,
    );
    assert.equal(level, 'error');
  });
});
