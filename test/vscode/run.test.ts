import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { sampleResult } from '../unit/results/sampleResult';
import { openFile, until } from './editor';
import { endingIn, inWorkspace, resultNames, results, store } from './longRun';
import { recordingMessages } from './messages';

interface StoredResult {
  readonly ending: string;
  readonly scenario: { readonly workers?: number };
  readonly verdict: { readonly status: string; readonly reasons: readonly unknown[] };
  readonly steps: readonly {
    readonly received: number;
    readonly lost: number;
    readonly verdict: { readonly status: string };
  }[];
  readonly recommendation: unknown;
  readonly search?: {
    readonly from: number;
    readonly to: number;
  };
}

/** Runs a scenario by the command, as from the palette; settles with its folder once it holds `file`. */
async function runUntil(
  name: string,
  file: string,
  command = 'signalrBenchmark.run',
): Promise<string> {
  const before = resultNames();
  await openFile(name);
  const finished = vscode.commands.executeCommand(command);
  finished.then(undefined, (error: unknown) => {
    console.error(error);
  });
  return until(
    `${file} of ${name}`,
    () =>
      resultNames()
        .filter((each) => !before.includes(each))
        .map((each) => results(each))
        .find((folder) => existsSync(path.join(folder, file))),
    40_000,
  );
}

const resultIn = (folder: string): StoredResult =>
  JSON.parse(readFileSync(path.join(folder, 'result.json'), 'utf8')) as StoredResult;

function openTabs(): readonly vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
}

describe('a run', () => {
  const recorded = recordingMessages();
  const { said } = recorded;
  const keepGoing = (value?: boolean): Thenable<void> =>
    vscode.workspace
      .getConfiguration('signalrBenchmark')
      .update('keepGoing', value, vscode.ConfigurationTarget.Workspace);

  // A step that a busy machine makes invalid does not end it.
  before(() => keepGoing(true));
  after(() => keepGoing());

  /** A stored result of the quick scenario. */
  function quickResult(): string {
    const id = '2026-11-21T10-00-00-quick';
    const folder = store(id, JSON.stringify({ ...sampleResult(), id }));
    cpSync(inWorkspace('quick.signalr.yaml'), path.join(folder, 'scenario.yaml'));
    return folder;
  }

  it('goes to its end beside its panel and leaves a result', async () => {
    const folder = await runUntil('quick.signalr.yaml', 'result.json');
    const result = resultIn(folder);
    assert.equal(result.ending, 'completed', JSON.stringify(result.verdict));
    assert.equal(result.steps.length, 2);
    for (const { received, lost } of result.steps) {
      assert.ok(received > 0);
      assert.equal(lost, 0);
    }
    // Where a busy machine has made all steps invalid there is nothing to recommend by.
    const isValid = result.steps.some(({ verdict }) => verdict.status !== 'invalid');
    assert.equal(result.recommendation !== null, isValid, JSON.stringify(result.verdict));
    assert.ok(existsSync(path.join(folder, 'scenario.yaml')));
    assert.ok(existsSync(path.join(folder, 'samples.jsonl')));
    const labels = openTabs().map(({ label }) => label);
    assert.ok(
      openTabs().some(({ input }) => input instanceof vscode.TabInputWebview),
      labels.join(', '),
    );
  });

  it('searches its capacity by the command, between the bounds of the file', async () => {
    const text = readFileSync(inWorkspace('quick.signalr.yaml'), 'utf8');
    const bounds = 'search: { from: 1, to: 2, budget: 60s }\n';
    writeFileSync(inWorkspace('search.signalr.yaml'), `${text}${bounds}`);
    const folder = await runUntil(
      'search.signalr.yaml',
      'samples.jsonl',
      'signalrBenchmark.findCapacity',
    );
    await until(
      'a value that is tried',
      () =>
        readFileSync(path.join(folder, 'samples.jsonl'), 'utf8').includes('"search"') || undefined,
    );
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    assert.equal(await endingIn(folder), 'stopped');
    const { search } = resultIn(folder);
    assert.deepEqual([search?.from, search?.to], [1, 2]);
  });

  it('is stopped by a command that comes before it has begun, and run again from where it was written', async () => {
    const settings = vscode.workspace.getConfiguration('signalrBenchmark');
    await settings.update('workers', 2, vscode.ConfigurationTarget.Workspace);
    const place = inWorkspace('secured');
    mkdirSync(place);
    // A file that is there and no certificate: a run ends before it begins, with its name.
    writeFileSync(path.join(place, 'authority.pem'), 'not a certificate');
    cpSync(inWorkspace('long.signalr.yaml'), path.join(place, 'hasty.signalr.yaml'));
    const before = resultNames();
    const { uri } = await openFile('secured/hasty.signalr.yaml');
    const started = vscode.commands.executeCommand('signalrBenchmark.run', uri);
    await until('something to stop', async () => {
      recorded.messages.forget();
      await vscode.commands.executeCommand('signalrBenchmark.stop');
      return recorded.messages.find(/^No run is going on/) ? undefined : true;
    });
    assert.deepEqual(resultNames(), before);
    await started;
    await settings.update('workers', undefined, vscode.ConfigurationTarget.Workspace);
    const [name, ...more] = resultNames().filter((each) => !before.includes(each));
    assert.deepEqual(more, []);
    const folder = results(name!);
    assert.equal(await endingIn(folder), 'stopped');
    assert.equal(resultIn(folder).scenario.workers, 2);

    const copy = path.join(folder, 'scenario.yaml');
    const target = 'target: http://127.0.0.1:9/hub\n  caFile: authority.pem';
    writeFileSync(copy, readFileSync(copy, 'utf8').replace('target: local', target));
    await vscode.commands.executeCommand('signalrBenchmark.runAgain', folder);
    await said(/caFile authority\.pem holds no certificate/);
  });

  it('is run again under its own name when its folder has another', async () => {
    const renamed = results('given by hand');
    cpSync(quickResult(), renamed, { recursive: true });
    const before = resultNames();
    void vscode.commands.executeCommand('signalrBenchmark.runAgain', renamed);
    const again = await until('another run', () =>
      resultNames().find((each) => !before.includes(each)),
    );
    assert.match(again, /-quick$/);
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    await endingIn(results(again));
  });

  it('is shown again from its file', async () => {
    const file = vscode.Uri.file(path.join(quickResult(), 'result.json'));
    await vscode.commands.executeCommand('vscode.open', file);
    await until('an editor for the result', () =>
      openTabs().find(
        ({ input }) =>
          input instanceof vscode.TabInputCustom && input.viewType === 'signalrBenchmark.result',
      ),
    );
  });
});
