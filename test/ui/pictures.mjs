// Takes the pictures of README and walkthrough from the real product: the packed extension in a clean
// profile of VS Code, a run on the embedded hub. Writes media/screenshots and media/walkthrough.
// Needs what the ui suite needs: `npm run setup:vscode`, `npx tsc -b`, `node scripts/build.mjs`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { smallPng } from './smallPng.mjs';

const require = createRequire(import.meta.url);
const { pictureSettings, startWorkbench } = require(path.resolve('out/test/ui/workbench.js'));

const scenarioFile = 'chat-room.signalr.yaml';
const scenario = `# Rooms of ten people who all write once a second.
config:
  target: local
  unit: 2
  connections: 300
  arrivingRate: 100
  baseSending: 100
  step: 100
  singleStepDuration: 10s
  warmup: 2s
scenario:
  name: sendToGroup
  parameters:
    messageSize: 2KB
    sendingInterval: 1s
    groupCount: 30
slo:
  p99: 1s
`;

function save(file, png) {
  const small = smallPng(png);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, small);
  process.stdout.write(`  ${file}  ${(small.length / 1024).toFixed(1)} KB\n`);
}

/** The workbench at rest: what moves has come to its place, and the pointer points at nothing. */
async function settle(page, idle = true) {
  if (idle) await page.mouse.move(5, 5);
  await page.waitForTimeout(1200);
}

/** Without the title bar, which shows the name of a temporary folder; some versions of VS Code have none. */
async function below(page, width, height) {
  const y = (await page.locator('.part.titlebar:visible').all()).length > 0 ? 36 : 0;
  return { x: 0, y, width, height: height - y };
}

async function hoverConnections({ page }) {
  await page.mouse.move(5, 5);
  const word = page.locator('.view-line span:not(:has(span))', { hasText: 'connections' }).first();
  await word.hover();
  await page.locator('.monaco-hover:visible', { hasText: 'Unit 2' }).waitFor();
  await settle(page, false);
}

async function picturesOfEditor(workbench) {
  const { page } = workbench;
  // So high, because the editor caps hovers at a quarter of its height.
  await page.setViewportSize({ width: 1000, height: 2200 });
  await workbench.open(scenarioFile);
  await page.locator('.codelens-decoration', { hasText: 'Unit 2' }).waitFor();
  await workbench.command('Notifications: Toggle Do Not Disturb Mode');
  await workbench.command('View: Toggle Primary Side Bar Visibility');
  await settle(page);
  await hoverConnections(workbench);
  const clip = { ...(await below(page, 1000, 690)), x: 48, width: 952 };
  const editor = await page.screenshot({ clip });
  save('media/screenshots/hover.png', editor);
  await page.setViewportSize({ width: 1000, height: 760 });
  await settle(page);
  await quickInput(workbench, () => page.keyboard.press('F1'), 'Run SignalR', 'run');
  await quickInput(workbench, () => workbench.command('SignalR Benchmark: Add Target'), '', 'hub');
}

/** The input at the top, as it is after `open` and, if given, with something typed into it. */
async function quickInput({ page }, open, typed, name) {
  await open();
  const input = page.locator('.quick-input-widget input[type=text]');
  await input.waitFor();
  if (typed !== '') await input.fill(`>${typed}`);
  await settle(page);
  const { x, width } = await page.locator('.quick-input-widget').boundingBox();
  const clip = { x: x - 8, y: 0, width: width + 16, height: 260 };
  save(`media/walkthrough/${name}.png`, await page.screenshot({ clip }));
  await page.keyboard.press('Escape');
}

async function picturesOfRun(workbench) {
  const { page } = workbench;
  await page.setViewportSize({ width: 1140, height: 840 });
  await workbench.command('Run SignalR Benchmark');
  const panel = workbench.panel();
  await panel
    .getByText(/Step 3 of 3/)
    .first()
    .waitFor({ timeout: 90_000 });
  await panel
    .getByText(/[1-4] s left/)
    .first()
    .waitFor();
  await page.mouse.move(5, 5);
  save(
    'media/screenshots/panel.png',
    await page.screenshot({ clip: await below(page, 1140, 840) }),
  );
  await panel.getByText('Passed.').first().waitFor({ timeout: 60_000 });
  await settle(page);
  save('media/walkthrough/read.png', await panel.locator('.chart-latency').screenshot());
  save('media/walkthrough/units.png', await panel.locator('.units').screenshot());
}

async function pictureOfResults(workbench) {
  const { page } = workbench;
  await page.setViewportSize({ width: 1140, height: 620 });
  const ours = page.locator('a[aria-label*="SignalR Benchmark"]');
  await page.locator('.activitybar .action-item', { has: ours }).click();
  await page.locator('.part.sidebar .pane-header', { hasText: 'Results' }).waitFor();
  // Pictures of its parts have scrolled the panel.
  await workbench
    .panel()
    .locator('body')
    .evaluate((body) => body.ownerDocument.defaultView.scrollTo(0, 0));
  const rows = page.locator('.part.sidebar .monaco-list-row');
  await rows
    .filter({ hasText: /chat-room/ })
    .first()
    .waitFor();
  const result = rows.filter({ hasText: /p99/ }).first();
  if (!(await result.isVisible()))
    await rows
      .filter({ hasText: /chat-room/ })
      .first()
      .click();
  await result.waitFor();
  const edge = await page.locator('.part.sidebar').boundingBox();
  await page.mouse.move(edge.x + edge.width, 300);
  await page.mouse.down();
  await page.mouse.move(edge.x + edge.width + 90, 300, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  save(
    'media/screenshots/results.png',
    await page.screenshot({ clip: await below(page, 1140, 588) }),
  );
}

const workbench = await startWorkbench({ settings: pictureSettings });
let failed = true;
try {
  writeFileSync(path.join(workbench.workspace, scenarioFile), scenario);
  await picturesOfEditor(workbench);
  await picturesOfRun(workbench);
  await pictureOfResults(workbench);
  failed = false;
} finally {
  if (failed) await workbench.screenshot('failed-pictures');
  await workbench.close(failed);
}
