// Renders the panel outside VS Code, from recorded data, and takes pictures of it: out/screens/panel-*.png.
// Fails on a script error, on anything the page's policy refuses, and on a page wider than its window.
// Needs `npx tsc -b`, `node scripts/build.mjs` and Chromium (CHROMIUM_PATH, else `chromium` on the PATH).
// With a word, only pictures with it in their name: `node test/ui/panelPage.mjs light`.
/* global document, requestAnimationFrame */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { recordedRun } from './panelData.mjs';
import { themes } from './themes.mjs';

const require = createRequire(import.meta.url);
const { panelHtml } = require(path.resolve('out/src/extension/panel/panelHtml.js'));
const { hydrateMessage } = require(path.resolve('out/src/extension/panel/panelSession.js'));
const { panelStrings } = require(path.resolve('out/src/protocol/panelStrings.js'));

const screens = path.resolve('out/screens');
const files = {
  '/panel.js': ['dist/panel.js', 'text/javascript'],
  '/panel.css': ['media/panel.css', 'text/css'],
  '/uPlot.css': ['media/uPlot.css', 'text/css'],
};

const recordings = {
  live: recordedRun({ untilS: 112 }),
  done: recordedRun(),
  errors: recordedRun({ errors: true }),
  invalid: recordedRun({ invalid: true }),
  'invalid-live': recordedRun({ invalid: true, untilS: 112 }),
  connecting: recordedRun({ untilS: 7 }),
  hour: recordedRun({ stepS: 1200 }),
  'hour-live': recordedRun({ stepS: 1200, untilS: 3600 }),
};

const pictures = [
  ...['dark', 'light', 'hc'].flatMap((theme) =>
    ['live', 'done'].flatMap((state) => [800, 1400].map((width) => ({ theme, state, width }))),
  ),
  ...['errors', 'invalid', 'invalid-live', 'connecting', 'hour'].map((state) => ({
    theme: 'dark',
    state,
    width: 1400,
  })),
  { theme: 'light', state: 'done', width: 420 },
];

function servePanel() {
  const server = createServer((request, response) => {
    const file = files[request.url ?? ''];
    if (file) {
      response.writeHead(200, { 'content-type': file[1] }).end(readFileSync(file[0]));
      return;
    }
    const origin = `http://${request.headers.host}`;
    const html = panelHtml({
      title: 'panel',
      language: 'en',
      scriptUri: `${origin}/panel.js`,
      styleUris: [`${origin}/uPlot.css`, `${origin}/panel.css`],
      cspSource: origin,
      nonce: 'picture',
    });
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Stands in for the editor: theme, messages, and a list of what went wrong. */
function beEditor({ bodyClass, colours }) {
  globalThis.sent = [];
  globalThis.refused = [];
  globalThis.acquireVsCodeApi = () => ({
    postMessage: (message) => globalThis.sent.push(message),
    setState: () => undefined,
  });
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, sourceFile }) =>
    globalThis.refused.push(`${violatedDirective} in ${sourceFile}`),
  );
  document.addEventListener('DOMContentLoaded', () => {
    document.body.className = bodyClass;
    const { style } = document.documentElement;
    for (const [name, colour] of Object.entries(colours))
      style.setProperty(`--vscode-${name}`, colour);
    style.setProperty('--vscode-font-family', '"Segoe UI", "DejaVu Sans", sans-serif');
  });
}

async function openPage(browser, url, theme, width, problems) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.addInitScript(beEditor, themes[theme]);
  await page.goto(url);
  await page.waitForFunction(() => globalThis.sent.some(({ type }) => type === 'ready'));
  return page;
}

async function takePicture(browser, url, { theme, state, width }) {
  const problems = [];
  const page = await openPage(browser, url, theme, width, problems);
  const message = hydrateMessage(recordings[state], panelStrings);
  const drawnMs = await page.evaluate(async (data) => {
    const start = performance.now();
    globalThis.postMessage(data, '*');
    while (!document.querySelector('.tile')) await new Promise((done) => setTimeout(done, 10));
    return performance.now() - start;
  }, message);
  await page.waitForTimeout(300);
  const name = `panel-${theme}-${state}-${width}`;
  await page.screenshot({ path: path.join(screens, `${name}.png`), fullPage: true });
  problems.push(...(await page.evaluate(() => globalThis.refused)));
  const scrolled = await page.evaluate(() => document.documentElement.scrollWidth);
  if (scrolled > width) problems.push(`${scrolled} px wide in a window of ${width}`);
  await page.close();
  process.stdout.write(`  ${name}.png, filled in ${Math.round(drawnMs)} ms\n`);
  return problems.map((problem) => `${name}: ${problem}`);
}

/** An hour of samples, then one more a frame; the table and the orders by keyboard. */
async function tryLivePanel(browser, url) {
  const problems = [];
  const page = await openPage(browser, url, 'dark', 1400, problems);
  const source = recordings['hour-live'];
  await page.evaluate(
    (data) => globalThis.postMessage(data, '*'),
    hydrateMessage(source, panelStrings),
  );
  await page.waitForSelector('.tile');
  const last = source.snapshots.at(-1);
  const perUpdateMs = await page.evaluate(async (snapshot) => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    const start = performance.now();
    for (let more = 1; more <= 20; more++) {
      const next = { ...snapshot, atMs: snapshot.atMs + more * 1000 };
      globalThis.postMessage({ type: 'snapshot', snapshot: next }, '*');
      await frame();
      await frame();
    }
    return (performance.now() - start) / 20;
  }, last);
  await page.locator('.chart-latency summary').focus();
  await page.keyboard.press('Enter');
  const rows = await page.locator('.chart-latency tbody tr').count();
  if (rows < 60 || rows > 120) problems.push(`the table has ${rows} rows`);
  await page.locator('button', { hasText: 'Stop' }).focus();
  await page.keyboard.press('Enter');
  const orders = await page.evaluate(() => globalThis.sent.map(({ type }) => type));
  if (!orders.includes('stop')) problems.push('Stop was not sent');
  const spoken = await page.locator('[role=status]').textContent();
  if (!spoken?.includes('Step 3 of 3')) problems.push(`the live region says "${spoken}"`);
  await page.close();
  process.stdout.write(`  an hour and one more second: ${perUpdateMs.toFixed(1)} ms, two frames\n`);
  return problems;
}

mkdirSync(screens, { recursive: true });
const executablePath =
  process.env.CHROMIUM_PATH ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
const server = await servePanel();
const browser = await chromium.launch({
  executablePath,
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
const problems = [];
try {
  const url = `http://127.0.0.1:${server.address().port}/`;
  const wanted = process.argv[2] ?? '';
  for (const picture of pictures) {
    if (!Object.values(picture).join('-').includes(wanted)) continue;
    problems.push(...(await takePicture(browser, url, picture)));
  }
  problems.push(...(await tryLivePanel(browser, url)));
} finally {
  await browser.close();
  server.close();
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
