import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { sampleResult } from '../unit/results/sampleResult';
import { widgetsOf, type Widgets } from './widgets';
import { startLimitMs, type Workbench } from './workbench';

interface StoredResult {
  readonly ending: string;
  readonly scenario: {
    readonly connections: number;
    readonly baseSending: number;
    readonly step: number;
    readonly singleStepDurationMs: number;
  };
}

const scenario = (target: string): string =>
  [
    'config:',
    `  ${target}`,
    '  connections: 1900',
    '  baseSending: 1900',
    '  singleStepDuration: 10s',
    'scenario:',
    '  name: echo',
    '',
  ].join('\n');

/** Files a test needs beside those of the fixture. */
function addFiles(workspace: string): void {
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
    writeFileSync(path.join(workspace, name), text);
  };
  mkdirSync(path.join(workspace, '.git'));
  write('elsewhere.signalr.yaml', scenario('target: http://signalr.example:5050/hub'));
  write('.signalr-bench/2026-01-02T03-04-05-broken/result.json', '{"schema": 1, "id":');
  write(
    '.signalr-bench/2026-01-02T03-04-06-future/result.json',
    '{"schema":"signalr-bench-result/3"}',
  );
  const id = '2026-01-02T03-04-07-stored';
  const startedAt = '2026-01-02T03:04:07.000Z';
  const stored = { ...sampleResult(), id, startedAt };
  write(`.signalr-bench/${id}/result.json`, JSON.stringify(stored));
  write(`.signalr-bench/${id}/scenario.yaml`, scenario('target: local'));
}

/**
 * Tests of the commands in a workbench that is there already, in a folder that is trusted.
 *
 * @param bench gives it once tests run
 * @param failed is called when a test has failed
 */
export function describeCommands(bench: () => Workbench, failed: () => void): void {
  describe('the commands as a user meets them', () => commandTests(bench, failed));
}

function commandTests(bench: () => Workbench, failed: () => void): void {
  let workbench: Workbench;
  let widgets: Widgets;

  const page = (): Workbench['page'] => workbench.page;
  const resultsFolder = (): string => path.join(workbench.workspace, '.signalr-bench');

  /** Folders of a scenario's results. */
  function foldersOf(name: string): readonly string[] {
    if (!existsSync(resultsFolder())) return [];
    return readdirSync(resultsFolder()).filter((folder) => folder.endsWith(`-${name}`));
  }

  /** Calls `act`, which runs that scenario, and waits for the result. */
  async function resultOf(name: string, act: () => Promise<void>): Promise<StoredResult> {
    const before = foldersOf(name);
    await act();
    const deadline = Date.now() + 30_000;
    for (;;) {
      const [file] = foldersOf(name)
        .filter((folder) => !before.includes(folder))
        .map((folder) => path.join(resultsFolder(), folder, 'result.json'))
        .filter((each) => existsSync(each));
      if (file !== undefined) return JSON.parse(readFileSync(file, 'utf8')) as StoredResult;
      if (Date.now() > deadline) throw new Error(`no result of ${name} after 30 s`);
      await page().waitForTimeout(100);
    }
  }

  /** Closes all tabs, so that no scenario is the one that commands take without asking. */
  async function closeEditors(): Promise<void> {
    await workbench.command('View: Close All Editors');
    await page().locator('.tabs-container .tab').first().waitFor({ state: 'detached' });
  }

  /** Runs a scenario by choosing it. */
  async function run(name: string): Promise<void> {
    await closeEditors();
    await workbench.command('Run SignalR Benchmark');
    await widgets.pick(name).click();
  }

  /** A run that measures: before, the editor or its panel may still be coming. */
  async function runs(name: string): Promise<void> {
    await run(name);
    await page().locator('.statusbar-item', { hasText: 'step 1/1' }).waitFor();
  }

  /** The stored result, whatever it is called; its group closes when the only result of it comes or goes. */
  async function storedRow(text: string | RegExp = 'p99'): Promise<Locator> {
    await widgets.showSidebar();
    const group = widgets.row(/^\s*stored/);
    const result = page()
      .locator('.part.sidebar .monaco-list-row[aria-label^="stored, "]', { hasText: text })
      .first();
    for (const deadline = Date.now() + 60_000; !(await result.isVisible());) {
      if (Date.now() > deadline) throw new Error(`no ${String(text)} in the group after 60 s`);
      const closed = group.and(page().locator('[aria-expanded=false]'));
      if (await closed.isVisible()) await closed.click();
      await page().waitForTimeout(200);
    }
    return result;
  }

  before(async () => {
    workbench = bench();
    widgets = widgetsOf(workbench);
    addFiles(workbench.workspace);
    await workbench.open('long.signalr.yaml');
    const lens = page().locator('.codelens-decoration', { hasText: 'Run SignalR' });
    await lens.waitFor({ timeout: startLimitMs });
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    failed();
    await workbench.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-')}`);
    // Whatever it left open, or running, is not to fail the ones after it.
    for (let count = 0; count < 3; count++) await page().keyboard.press('Escape');
    const running = page().locator('.statusbar-item[id$="signalrBenchmark.run"]');
    if (await running.isVisible()) await workbench.command('Stop Run');
    await workbench.command('Notifications: Clear All Notifications');
  });

  it('explain the estimate where it is clicked', async () => {
    await page().locator('.codelens-decoration a', { hasText: 'Unit 1' }).click();
    await page().locator('.monaco-hover:visible', { hasText: 'Unit 1' }).first().waitFor();
    await page().keyboard.press('Escape');
  });

  it('ask for target, steps, time and connections', async () => {
    const result = await resultOf('long', async () => {
      await workbench.command('Run With');
      await widgets.pick('As in the file').waitFor();
      await widgets.pick('As in the file').click();
      await widgets.fill('senders in the first step', '5');
      await widgets.fill('senders added per step', '15');
      await widgets.type('measured time', 'soon');
      await widgets.quickInput().filter({ hasText: 'duration with its unit' }).waitFor();
      await widgets.fill('measured time', '1s');
      await widgets.fill('connections', '20');
      await widgets.notice('long.signalr.yaml').waitFor();
    });
    assert.equal(result.ending, 'completed');
    const { connections, baseSending, step, singleStepDurationMs } = result.scenario;
    assert.deepEqual([connections, baseSending, step, singleStepDurationMs], [20, 5, 15, 1000]);
  });

  it('offer to keep results out of version control, once', async () => {
    const offer = widgets.notice('version control');
    await offer.waitFor();
    await widgets.button(offer, 'Add to .gitignore').click();
    await offer.waitFor({ state: 'detached' });
    await page().locator('.explorer-folders-view', { hasText: '.gitignore' }).waitFor();
    const text = readFileSync(path.join(workbench.workspace, '.gitignore'), 'utf8');
    assert.equal(text, '.signalr-bench/\n');
  });

  it('let a run go on without its panel, cancel it, and say what became of it', async () => {
    const result = await resultOf('long', async () => {
      await runs('long.signalr.yaml');
      const status = page().locator('.statusbar-item', { hasText: 'step 1/1' });
      // Beside its panel the notification is only at the start.
      await widgets.notice('long.signalr.yaml').waitFor({ state: 'detached' });
      await closeEditors();
      await widgets.notice(/long\.signalr\.yaml.*left/).waitFor();
      await status.click();
      await workbench.panel().getByText('Step 1 of 1').first().waitFor();
      await closeEditors();
      await widgets.button(widgets.notice(/long\.signalr\.yaml.*left/), 'Cancel').click();
    });
    assert.equal(result.ending, 'stopped');
    const outcome = widgets.notice(/long\.signalr\.yaml: /);
    await outcome.waitFor();
    await widgets.button(outcome, 'Open Result').click();
    await workbench
      .panel()
      .getByText(/stopped/i)
      .first()
      .waitFor();
  });

  it('show results of every kind in the sidebar', async () => {
    await widgets.showSidebar();
    for (const name of ['broken', 'future', 'stored']) {
      await widgets.row(new RegExp(`^\\s*${name}`)).waitFor();
    }
    // The one that was run last is open.
    await widgets.row(/p99.*incomplete/).waitFor();
    await widgets.row(/^\s*broken/).click();
    await widgets.row(/^\s*future/).click();
    await widgets.row('damaged').waitFor();
    await widgets.row('newer version').waitFor();
    await widgets.row('damaged').click();
    await widgets.notice('result.json').waitFor();
  });

  it('copy a summary', async () => {
    await widgets.menu(await storedRow(), 'Copy Summary');
    await page().locator('.statusbar-item', { hasText: 'Summary copied' }).waitFor();
    const text = await page().evaluate<string>('navigator.clipboard.readText()');
    assert.match(text, /^### SignalR Benchmark: .*-stored\n/);
    assert.match(text, /\| Step \|/);
  });

  it('keep the tab of a result that is renamed, deleted and brought back', async () => {
    await (await storedRow()).click();
    const tabs = page().locator('.tab', { hasText: /^stored · / });
    await tabs.first().waitFor();
    await widgets.menu(await storedRow(), 'Rename Result');
    await widgets.fill('Rename Result', 'before the change');
    await storedRow('before the change');
    const folder = path.join(resultsFolder(), 'before the change');
    assert.ok(existsSync(folder));
    // Its tab goes on under the new path, closes with the result, and comes back with it.
    await tabs.first().waitFor();
    await workbench
      .panel()
      .getByText(/passed/i)
      .first()
      .waitFor();
    await widgets.menu(await storedRow('before the change'), 'Delete Result');
    const offer = widgets.notice('deleted');
    await offer.waitFor();
    await widgets.row('before the change').waitFor({ state: 'detached' });
    await tabs.first().waitFor({ state: 'detached' });
    assert.equal(existsSync(folder), false);
    await widgets.button(offer, 'Undo').click();
    await storedRow('before the change');
    assert.ok(existsSync(folder));
    await tabs.first().waitFor();
    assert.equal(await tabs.count(), 1);
  });

  it('add, test and remove a hub', async () => {
    await widgets.showSidebar();
    await workbench.command('Add Target');
    await widgets.pick('Hub URL').waitFor();
    await widgets.pick('Hub URL').click();
    await widgets.fill('Add Target', 'http://127.0.0.1:9/signalrbench');
    const hub = widgets.row('127.0.0.1:9');
    await hub.waitFor();
    await widgets.menu(hub, 'Test Connection');
    await widgets.notice('127.0.0.1:9/signalrbench: no server listens there').waitFor();
    await widgets.menu(hub, 'Remove Target');
    await hub.waitFor({ state: 'detached' });
  });

  it('show the load in numbers before it leaves this machine', async () => {
    await run('elsewhere.signalr.yaml');
    await widgets.dialog().waitFor();
    const text = await widgets.dialog().innerText();
    for (const part of ['signalr.example:5050', '1,900 connections', '1,900 msg/s']) {
      assert.ok(text.includes(part), text);
    }
    await widgets.button(widgets.dialog(), 'Cancel').click();
    await widgets.dialog().waitFor({ state: 'detached' });
    assert.deepEqual(foldersOf('elsewhere'), []);
  });

  it('begin a scenario, and show the walkthrough', async () => {
    await closeEditors();
    await workbench.command('New Scenario');
    await widgets.pick('sendToGroup').waitFor();
    await widgets.pick(/^\s*sendToGroup/).click();
    await page().locator('.codelens-decoration', { hasText: 'Unit' }).waitFor();
    await workbench.command('View: Revert and Close Editor');
    await workbench.command('Open Walkthrough');
    await page().locator('.tab.active', { hasText: 'Welcome' }).waitFor();
    await page().locator('.gettingStartedContainer', { hasText: 'Units' }).first().waitFor();
    // The words beside the steps are a page of their own, and its picture comes last.
    const picture = workbench.panel().locator('img').first();
    await picture.waitFor();
    await picture.evaluate('(image) => image.decode()');
  });

  it('offer what the closing of the window broke off', async () => {
    const result = await resultOf('long', async () => {
      await runs('long.signalr.yaml');
      await workbench.open();
    });
    assert.equal(result.ending, 'interrupted');
    const offer = widgets.notice('interrupted');
    await offer.waitFor();
    await widgets.button(offer, 'Open Result').click();
    await workbench
      .panel()
      .getByText(/interrupted/i)
      .first()
      .waitFor();
  });
}
