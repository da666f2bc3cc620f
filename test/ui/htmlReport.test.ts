import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { exportRun } from '../../src/run/export/exporters';
import type { Result } from '../../src/results/result';
import { failedResult, mixedStep, sampleResult } from '../unit/results/sampleResult';
import { recordedResult, recordedSnapshots } from '../unit/run/export/recordedResult';

const screens = path.resolve('out/screens');
const markup = '"><script>document.title="run"</script><img src="http://evil.example/x">';

const reports: Readonly<Record<string, [result: Result, seconds: number]>> = {
  done: [recordedResult(), 50],
  hour: [recordedResult(), 1200],
  failed: [failedResult(), 5],
  mix: [sampleResult({ steps: [mixedStep(1)] }), 0],
  hostile: [
    {
      ...recordedResult(),
      id: `2026-11-21T14-02-11-${markup}`,
      errorExamples: [{ errorClass: 'reset', text: markup }],
      verdict: { status: 'fail', reasons: [{ code: 'x', message: markup.repeat(20) }] },
    },
    5,
  ],
};

describe('the report as a page', () => {
  let folder: string;
  let browser: Browser;

  before(async () => {
    const file = pathToFileURL(path.resolve('scripts/vscodeHost.mjs')).href;
    const { launchChromium } = (await import(file)) as { launchChromium: () => Promise<Browser> };
    browser = await launchChromium();
    folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-report-'));
    mkdirSync(screens, { recursive: true });
    for (const [name, [result, seconds]] of Object.entries(reports)) {
      const run = { kind: 'result', path: '/nowhere', result } as const;
      const snapshots = seconds === 0 ? [] : recordedSnapshots(seconds);
      const text = await exportRun(run, 'html', () => Promise.resolve(snapshots));
      writeFileSync(path.join(folder, `${name}.html`), text);
    }
  });

  after(async () => {
    await (browser as Browser | undefined)?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function opened(
    name: string,
    width: number,
    colorScheme: 'light' | 'dark',
  ): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) problems.push(request.url());
    });
    await page.goto(pathToFileURL(path.join(folder, `${name}.html`)).href);
    return { page, problems };
  }

  it('fits every width, loads nothing and reports no problem', async () => {
    for (const name of Object.keys(reports)) {
      const { page, problems } = await opened(name, 1240, 'light');
      for (const [width, colorScheme] of [
        [1240, 'light'],
        [800, 'dark'],
        [360, 'light'],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(wide, width, `${name} at ${width}`);
        // One picture in each theme; a long page costs as much to draw as to lay out ten times.
        if (width === 360) continue;
        const picture = path.join(screens, `report-${name}-${colorScheme}-${width}.png`);
        if (name === 'done' || name === 'mix')
          await page.screenshot({ path: picture, fullPage: true });
      }
      assert.match(await page.title(), / · SignalR Benchmark$/);
      assert.equal(await page.locator('script, img, iframe, link').count(), 0);
      assert.deepEqual(problems, [], name);
      await page.close();
    }
  });

  it('has a chart with lines inside its frame and a table that opens for each', async () => {
    const { page } = await opened('done', 1240, 'dark');
    const charts = page.locator('figure');
    assert.equal(await charts.count(), 4);
    for (const chart of await charts.all()) {
      const frame = (await chart.locator('.chart svg').boundingBox())!;
      const lines = await chart.locator('.chart svg path').all();
      assert.ok(lines.length > 0);
      for (const line of lines) {
        const box = (await line.boundingBox())!;
        assert.ok(box.width > 100 && box.x >= frame.x && box.y >= frame.y - 3);
        assert.ok(box.x + box.width <= frame.x + frame.width);
        assert.ok(box.y + box.height <= frame.y + frame.height);
      }
      const table = chart.locator('table');
      assert.equal(await table.isVisible(), false);
      await chart.locator('summary').press('Enter');
      assert.equal(await table.isVisible(), true);
      assert.ok((await table.locator('tbody tr').count()) > 5);
    }
    await page.close();
  });

  it('follows the theme of the system, and is light on paper', async () => {
    const background = 'getComputedStyle(document.body).backgroundColor';
    const { page } = await opened('done', 800, 'dark');
    const dark = await page.evaluate(background);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await page.evaluate(background);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    assert.deepEqual([dark, light], ['rgb(31, 31, 31)', 'rgb(255, 255, 255)']);
    assert.equal(await page.evaluate(background), light);
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type ?\/Page\b/g);
    assert.ok(pages && pages.length <= 3, `${pages?.length} pages`);
    await page.close();
  });
});
