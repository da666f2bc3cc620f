import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import type { DeclareTest } from '../fakes/sideBySide';
import { describeCommands } from './commands';
import { livePercentiles } from './widgets';
import { startWorkbench, type Workbench } from './workbench';

const runTitle = 'Run SignalR Benchmark';

/** Opens the hover of a key, which comes with the estimate. */
async function hoverConnections({ page }: Workbench): Promise<void> {
  // Hovers open for what is right under the mouse.
  const word = page.locator('.view-line span:not(:has(span))', { hasText: 'connections' }).first();
  const hover = page.locator('.monaco-hover:visible', { hasText: 'Unit 10' });
  for (let attempt = 1; !(await hover.isVisible()); attempt++) {
    await page.mouse.move(0, 0);
    await word.hover();
    try {
      await hover.waitFor({ timeout: 10_000 });
    } catch (error) {
      // One that opens while the extension is still starting does not ask it later.
      if (attempt === 5) throw error;
    }
  }
}

const treeRow = ({ page }: Workbench, text: string | RegExp): Locator =>
  page.locator('.part.sidebar .monaco-list-row', { hasText: text }).first();

async function openSidebar({ page }: Workbench): Promise<void> {
  const view = page.locator('.part.sidebar .pane-header', { hasText: 'Results' });
  if (!(await view.isVisible())) {
    await page.locator('.activitybar .action-item', { has: sidebarLabel(page) }).click();
  }
  await view.waitFor();
}

/** The panel draws again one frame after its size or its colours have changed. */
const drawn = (workbench: Workbench): Promise<void> =>
  workbench
    .panel()
    .locator('body')
    .evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

const sidebarLabel = (page: Workbench['page']): Locator =>
  page.locator('a[aria-label*="SignalR Benchmark"]');

// One workbench for all of them: each start of one costs as much as ten of its tests.
describe('the extension', () => {
  let workbench: Workbench;
  let failed = false;

  before(async () => {
    // No question at the start: that is VS Code's, the refusal is ours.
    const settings = { 'security.workspace.trust.startupPrompt': 'never' };
    workbench = await startWorkbench({ trusted: false, settings });
  });

  after(() => (workbench as Workbench | undefined)?.close(failed));

  describe('as a user meets it', () =>
    firstTests(
      () => workbench,
      () => (failed = true),
    ));
  describeCommands(
    () => workbench,
    () => (failed = true),
  );

  // Last, since it leaves other colours behind.
  describe('in other colours', () => {
    it('is drawn anew at once, in a narrow window too', async () => {
      const { page } = workbench;
      await openSidebar(workbench);
      await treeRow(workbench, /p99/).click();
      const looks = [
        ['light', 'Default Light Modern', 'vs', 800],
        ['high-contrast', 'Default High Contrast', 'hc-black', 1400],
      ] as const;
      for (const [name, theme, className, width] of looks) {
        await page.setViewportSize({ width, height: 900 });
        workbench.change({ 'workbench.colorTheme': theme });
        await page.locator(`.monaco-workbench.${className}`).waitFor();
        await workbench.panel().locator(`body.vscode-${name} canvas`).first().waitFor();
        await drawn(workbench);
      }
      await workbench.openHere('tooSmall.signalr.yaml');
      await hoverConnections(workbench);
    });
  });
});

function firstTests(bench: () => Workbench, fail: () => void): void {
  let workbench: Workbench;
  let failed = false;

  before(() => {
    workbench = bench();
  });

  // Each goes on where the one before it ended, and fails with it.
  const next: DeclareTest = (title, body) =>
    it(title, async () => {
      assert.ok(!failed, 'a test before this one, on which it goes on, has failed');
      await body();
    });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    failed = true;
    fail();
    await workbench.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-')}`);
  });

  next('helps to edit in a folder that is not trusted', async () => {
    await workbench.open('broken.signalr.yaml');
    await workbench.page.locator('.squiggly-error').first().waitFor();
  });

  next('refuses to run there, and says why', async () => {
    await workbench.command(runTitle);
    const reason = workbench.page.locator('.notification-toast, .monaco-dialog-box', {
      hasText: /trust/i,
    });
    await reason.first().waitFor();
    assert.equal(existsSync(path.join(workbench.workspace, '.signalr-bench')), false);
    await workbench.command('Notifications: Clear All Notifications');
  });

  next('draws the run button and the estimate above a scenario once it is trusted', async () => {
    await workbench.page.locator('.statusbar-item a', { hasText: 'Restricted Mode' }).click();
    const trust = workbench.page.locator('.workspace-trust-editor .workspace-trust-buttons');
    await trust.locator('.monaco-button', { hasText: 'Trust' }).first().click();
    await workbench.page.locator('.workspace-trust-editor.trusted').waitFor();
    await workbench.openHere('tooSmall.signalr.yaml');
    const lenses = workbench.page.locator('.codelens-decoration');
    await lenses.filter({ hasText: runTitle }).waitFor();
    await lenses.filter({ hasText: 'Unit 10' }).waitFor();
  });

  next(
    'runs a scenario by the line above it, draws its numbers, and says the verdict and the Units',
    async () => {
      await workbench.openHere('watched.signalr.yaml');
      const lenses = workbench.page.locator('.codelens-decoration');
      await lenses.locator('a', { hasText: runTitle }).click();
      const panel = workbench.panel();
      await panel.locator('canvas').first().waitFor();
      // The window of a busy machine may draw its first numbers when the run is over.
      await panel
        .getByText(/Step \d of 2|passed/i)
        .first()
        .waitFor();
      await livePercentiles(workbench).waitFor();
      await panel
        .getByText(/passed/i)
        .first()
        .waitFor();
      await panel
        .getByText(/Unit \d+/)
        .first()
        .waitFor();
    },
  );

  next('lists the result in the sidebar', async () => {
    await openSidebar(workbench);
    await treeRow(workbench, /watched/).waitFor();
  });
}
