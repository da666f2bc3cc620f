import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';

interface Modules {
  readonly openPanelBrowser: () => Promise<{
    readonly open: (window: {
      readonly theme?: string;
      readonly width?: number;
      readonly of: string;
    }) => Promise<{ readonly page: Page; readonly problems: readonly string[] }>;
    readonly close: () => Promise<void>;
  }>;
  readonly fillOverview: (page: Page, message: unknown) => Promise<void>;
  readonly misfits: (page: Page) => Promise<string[]>;
  readonly toldEditor: (page: Page) => Promise<{ readonly orders: readonly string[] }>;
  readonly overviews: Readonly<Record<'all' | 'trend', unknown>>;
}

describe('the page of results', () => {
  let modules: Modules;
  let browser: Awaited<ReturnType<Modules['openPanelBrowser']>>;

  before(async () => {
    const [page, data] = await Promise.all(
      ['panelBrowser.mjs', 'overviewData.mjs'].map(
        (name) => import(pathToFileURL(path.resolve('test', 'ui', name)).href) as Promise<Modules>,
      ),
    );
    modules = { ...page!, ...data! };
    browser = await modules.openPanelBrowser();
  });

  after(() => (browser as typeof browser | undefined)?.close());

  const shown = async (state: 'all' | 'trend', width = 1000, theme = 'dark'): Promise<Page> => {
    const { page, problems } = await browser.open({ of: 'overview', width, theme });
    await modules.fillOverview(page, modules.overviews[state]);
    assert.deepEqual(problems, []);
    return page;
  };
  const column = (page: Page, at: number): Promise<string[]> =>
    page.locator(`.overview tbody tr > :nth-child(${at})`).allTextContents();

  it('is sorted by its heads, by mouse and by keys', async () => {
    const page = await shown('all');
    const whens = await column(page, 1);
    assert.equal(whens.length, 40);
    assert.deepEqual(whens, [...whens].sort().reverse());
    await page.locator('[data-sort=when]').click();
    assert.deepEqual(await column(page, 1), [...whens].reverse());
    await page.locator('[data-sort=scenario]').focus();
    await page.keyboard.press('Enter');
    const scenarios = await column(page, 2);
    assert.deepEqual(scenarios, [...scenarios].sort());
    const sorted = page.locator('th[aria-sort=ascending]');
    assert.match((await sorted.textContent()) ?? '', /Scenario/);
    assert.equal(await page.locator('[data-sort=scenario]:focus').count(), 1, 'the focus stays');
    await page.close();
  });

  it('draws the trend of one scenario, with a table of the same numbers', async () => {
    const page = await shown('trend');
    const chart = page.locator('.chart-trend .chart');
    await chart.focus();
    await page.keyboard.press('End');
    const said = (await chart.getAttribute('aria-valuetext')) ?? '';
    const [[when], [p99]] = [await column(page, 1), await column(page, 3)];
    assert.ok(said.startsWith(`${when!}: p99 ${p99!}`), said);
    await page.locator('select').selectOption('');
    assert.equal(await page.locator('.chart-trend:visible').count(), 0);
    assert.equal((await column(page, 1)).length, 40);
    await page.close();
  });

  it('opens a result, and fits into narrow windows of every theme', async () => {
    for (const theme of ['light', 'hc']) {
      const page = await shown('trend', 360, theme);
      assert.deepEqual(await modules.misfits(page), [], theme);
      await page.locator('.overview tbody button').first().click();
      assert.deepEqual((await modules.toldEditor(page)).orders, ['ready', 'open']);
      await page.close();
    }
  });
});
