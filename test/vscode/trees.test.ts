import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { EditorState } from '../../src/extension/editorState';
import { ResultCommands } from '../../src/extension/run/resultCommands';
import { ResultPlaces, ResultsIndex, ResultsTree } from '../../src/extension/results/resultsTree';
import { RunPanels } from '../../src/extension/panel/runPanel';
import type { RunController, ScenarioToRun } from '../../src/extension/run/runController';
import { SecretStore, TargetsTree } from '../../src/extension/targets/targetsTree';
import type { Services } from '../../src/extension/services';
import { sampleResult, sampleSnapshot } from '../unit/results/sampleResult';
import { until, workspaceFolder } from './editor';
import { memento } from '../fakes/memento';

function secretStorage(): vscode.SecretStorage {
  const values = new Map<string, string>();
  return {
    get: (key) => Promise.resolve(values.get(key)),
    store: (key, value) => Promise.resolve(void values.set(key, value)),
    delete: (key) => Promise.resolve(void values.delete(key)),
    onDidChange: () => new vscode.Disposable(() => undefined),
  };
}

describe('the Results view', () => {
  const storage = mkdtempSync(path.join(tmpdir(), 'signalr-bench-'));
  const state = new EditorState(memento(), memento());
  const places = new ResultPlaces(vscode.Uri.file(storage), state);
  let index: ResultsIndex;
  let tree: ResultsTree;

  before(() => {
    index = new ResultsIndex(places, state);
    tree = new ResultsTree(index);
    write(path.join(storage, 'results'), '2026-01-03T00-00-00-older', storedText(3));
    write(path.join(storage, 'results'), '2026-01-04T00-00-00-listed', storedText(4));
    write(path.join(storage, 'results'), '2026-01-05T00-00-00-listed', storedText(5));
    write(path.join(storage, 'results'), '2026-01-06T00-00-00-listed', '{');
    write(path.join(storage, 'results'), '2026-01-07T00-00-00-listed', newerText);
    const started = write(path.join(storage, 'results'), '2026-01-08T00-00-00-listed', undefined);
    writeFileSync(path.join(started, 'samples.jsonl'), `${JSON.stringify(sampleSnapshot(1, 1))}\n`);
  });
  after(() => {
    index.dispose();
    rmSync(storage, { recursive: true });
  });

  const newerText = JSON.stringify({ schema: 'signalr-bench-result/3' });

  function storedText(day: number): string {
    const startedAt = `2026-01-0${day}T00:00:00.000Z`;
    const id = `2026-01-0${day}T00-00-00-${day === 3 ? 'older' : 'listed'}`;
    return JSON.stringify({ ...sampleResult(), id, startedAt });
  }

  function write(place: string, name: string, text: string | undefined): string {
    const folder = path.join(place, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'scenario.yaml'), 'scenario:\n  name: echo\n');
    if (text !== undefined) writeFileSync(path.join(folder, 'result.json'), text);
    return folder;
  }

  async function groupItems(name: string): Promise<vscode.TreeItem[] | undefined> {
    const group = (await tree.getChildren()).find(
      (node) => node.kind === 'group' && node.group.scenario === name,
    );
    if (!group) return undefined;
    return Promise.all((await tree.getChildren(group)).map((node) => tree.getTreeItem(node)));
  }

  it('groups by scenario, newest first, and shows what cannot be read', async () => {
    const items = (await groupItems('listed')) ?? [];
    const last = items.map(({ contextValue }) => contextValue);
    // What was written a moment ago and has no result may still be running elsewhere.
    assert.match(last[0]!, /^result\.(running|interrupted)$/);
    assert.deepEqual(last.slice(1, 3), ['result.newer', 'result.damaged']);
    const [passed] = items.slice(-1);
    assert.ok(passed?.iconPath instanceof vscode.ThemeIcon);
    assert.match(String(passed.description), /p99 .*Unit \d+/);
    const nodes = await tree.getChildren();
    const shown = await Promise.all(nodes.map((node) => tree.getTreeItem(node)));
    const groups = shown.map(({ label }) => label);
    assert.ok(groups.indexOf('listed') < groups.indexOf('older'));
  });

  it('knows the run of a result whose folder was renamed', async () => {
    const folder = write(path.join(storage, 'results'), 'given by hand', storedText(2));
    const log = { warn: () => undefined };
    const services = { places, index, log } as unknown as Services;
    const controller = { find: () => undefined } as unknown as RunController;
    const panels = new RunPanels(vscode.Uri.file('/'), {
      warn: () => undefined,
      error: () => undefined,
    });
    const commands = new ResultCommands(services, controller, panels);
    index.refresh(0);
    const found = await until('the renamed one', () => commands.find('2026-01-02T00-00-00-listed'));
    assert.equal(found.run.startedAt, '2026-01-02T00:00:00.000Z');
    assert.equal(await commands.find('2026-01-01T00-00-00-listed'), undefined);
    rmSync(folder, { recursive: true });
  });

  it('runs a scenario again in the cluster where it ran', async () => {
    const folder = path.join(storage, 'results', '2026-01-03T00-00-00-older');
    const cluster = { context: 'aks', namespace: 'load' };
    await state.setClusterRun({ folder, run: 'a1', cluster });
    const started: ScenarioToRun[] = [];
    const controller = { run: (scenario: ScenarioToRun) => void started.push(scenario) };
    const commands = new ResultCommands(
      { places, index, state } as unknown as Services,
      controller as unknown as RunController,
      undefined as unknown as RunPanels,
    );
    await commands.runAgain(folder);
    assert.deepEqual(
      started.map(({ title, cluster: place }) => [title, place]),
      [['older.yaml', cluster]],
    );
  });

  it('follows the disk', async () => {
    await tree.getChildren();
    const place = path.join(workspaceFolder().fsPath, '.signalr-bench');
    const folder = write(place, '2026-01-09T00-00-00-arrived', newerText);
    await until('the new result', () => groupItems('arrived'));
    rmSync(folder, { recursive: true });
    await until('it goes', async () => ((await groupItems('arrived')) ? undefined : true));
  });
});

describe('the Targets view', () => {
  it('lists the local hub, the emulators, hubs and names of secrets, and hears of new ones', async () => {
    const state = new EditorState(memento(), memento());
    const secrets = new SecretStore(secretStorage(), state);
    const tree = new TargetsTree(state, secrets);
    let changes = 0;
    const subscription = tree.onDidChangeTreeData(() => changes++);
    await state.rememberHub('http://127.0.0.1:5050/hub');
    await secrets.set('production', 'value');
    assert.equal(changes, 2);
    const items = tree.getChildren().map((node) => tree.getTreeItem(node));
    const kinds = items.map(({ contextValue }) => contextValue);
    assert.deepEqual(kinds, [
      ...Array<string>(3).fill('target.local'),
      'target.hub',
      'target.secret',
    ]);
    assert.equal(items[4]?.label, 'production');
    assert.ok(!JSON.stringify(items).includes('value"'));
    await secrets.delete('production');
    assert.equal(tree.getChildren().length, 4);
    subscription.dispose();
  });
});
