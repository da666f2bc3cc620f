import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { sideBySide } from '../fakes/sideBySide';

/** What the tests use of panelBrowser.mjs and panelData.mjs. */
interface PanelBrowser {
  readonly open: (window?: {
    readonly theme?: string;
    readonly width?: number;
    readonly zoom?: number;
  }) => Promise<{ readonly page: Page; readonly problems: readonly string[] }>;
  readonly leave: (page: Page) => void;
  readonly close: () => Promise<void>;
}
interface Recording {
  readonly snapshots: readonly { readonly atMs: number }[];
}
interface Modules {
  readonly openPanelBrowser: () => Promise<PanelBrowser>;
  readonly fill: (page: Page, recording: Recording | undefined) => Promise<void>;
  readonly drawn: (page: Page) => Promise<void>;
  readonly misfits: (page: Page) => Promise<string[]>;
  readonly sendMore: (page: Page, last: unknown, count: number) => Promise<void>;
  readonly toldEditor: (page: Page) => Promise<{
    readonly orders: readonly string[];
    readonly refused: readonly string[];
    readonly kept: unknown;
    readonly frameMs: readonly number[];
  }>;
  readonly copiedImageBytes: (page: Page) => Promise<number>;
  readonly squeezeTiles: (page: Page) => Promise<void>;
  readonly focusRings: (page: Page) => Promise<string[]>;
  readonly spokenTimes: (page: Page, during: () => Promise<void>) => Promise<number>;
  readonly progressMotion: (page: Page) => Promise<string>;
  readonly recordings: Readonly<Record<string, Recording>>;
}

async function load(): Promise<Modules> {
  const [browser, data] = await Promise.all(
    ['panelBrowser.mjs', 'panelData.mjs'].map(
      (name) => import(pathToFileURL(path.resolve('test', 'ui', name)).href) as Promise<Modules>,
    ),
  );
  return { ...browser!, ...data! };
}

describe('the page of the panel', () => {
  let modules: Modules;
  let browser: PanelBrowser;

  before(async () => {
    modules = await load();
    browser = await modules.openPanelBrowser();
  });

  after(() => (browser as PanelBrowser | undefined)?.close());

  const shown = async (state: string, window: Parameters<PanelBrowser['open']>[0] = {}) => {
    const { page, problems } = await browser.open(window);
    await modules.fill(page, modules.recordings[state]);
    return { page, problems };
  };

  const beside = sideBySide(2);
  const everyState = ['live', 'done', 'long'];
  const rareStates = [
    ...['empty', 'connecting', 'errors', 'failed', 'silent', 'unreachable'],
    ...['silent-live', 'invalid-live'],
  ];
  for (const state of [...everyState, ...rareStates]) {
    // The narrowest of each layout of the style sheet, where it is tightest, and one with room.
    const widths = rareStates.includes(state)
      ? [1251, 701, 360]
      : [1400, 1251, 1001, 701, 381, 360];
    beside(`fits into windows of every width: ${state}`, async () => {
      const { page, problems } = await shown(state);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        // The charts take their new width one frame later.
        await modules.drawn(page);
        assert.deepEqual(await modules.misfits(page), [], `at ${width} px`);
      }
      const { refused } = await modules.toldEditor(page);
      assert.deepEqual([problems, refused], [[], []]);
      browser.leave(page);
    });
  }

  for (const [state, width] of [
    ['live', 1400],
    ['done', 500],
  ] as const) {
    it(`moves nothing when a chart is pointed at: ${state} at ${width} px`, async () => {
      const { page } = await shown(state, { width });
      const places = async (): Promise<unknown[]> =>
        Promise.all((await page.locator('.card:visible').all()).map((card) => card.boundingBox()));
      for (const chart of ['latency', 'rates', 'connections']) {
        const plot = page.locator(`.chart-${chart} .u-over`);
        await plot.scrollIntoViewIfNeeded();
        const before = await places();
        const { width: across = 0 } = (await plot.boundingBox()) ?? {};
        for (const share of [0.05, 0.55]) {
          await plot.hover({ position: { x: across * share, y: 20 } });
          assert.match((await page.locator(`.chart-${chart} .at`).textContent()) ?? '', /^\d+:/);
          assert.deepEqual(await places(), before, `${chart} at ${share}`);
        }
      }
      browser.leave(page);
    });
  }

  it('marks the same moment in every chart, and names what it is beside the pointer', async () => {
    const { page } = await shown('done');
    const plot = page.locator('.chart-latency .u-over');
    const { width = 0 } = (await plot.boundingBox()) ?? {};
    await plot.hover({ position: { x: width * 0.3, y: 20 } });
    const visible = page.locator('.cursor:visible');
    // Three charts over time and the heat map; the spectrum has another axis.
    assert.equal(await visible.count(), 4);
    const moments = await page.locator('.grid .at span').allTextContents();
    assert.deepEqual(new Set(moments.slice(0, 3)).size, 1);
    const tip = page.locator('.tip:visible');
    assert.equal(await tip.count(), 1);
    assert.match((await tip.textContent()) ?? '', /^\d+:\d\dp50.*ms.*p99.*ms/);
    await page.mouse.move(2, 2);
    assert.deepEqual([await visible.count(), await tip.count()], [0, 0]);
    browser.leave(page);
  });

  it('shows a part of the run in every chart by dragging, and all of it by a double click', async () => {
    const { page } = await shown('done');
    const box = await page.locator('.chart-latency .u-over').boundingBox();
    assert.ok(box);
    const rests = (): Promise<string[]> => page.locator('.grid .at span').allTextContents();
    const whole = await rests();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 4 });
    await page.mouse.up();
    const backs = page.locator('.at button:visible');
    assert.equal(await backs.count(), 4);
    await page.mouse.move(2, 2);
    assert.match((await rests())[0] ?? '', /^worst second, \d+:\d\d to \d+:\d\d$/);
    await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 40);
    await page.mouse.move(2, 2);
    assert.deepEqual([await backs.count(), await rests()], [0, whole]);
    browser.leave(page);
  });

  it('is read and zoomed by keys', async () => {
    const { page } = await shown('done');
    const chart = page.locator('.chart-latency .chart');
    await chart.focus();
    await page.keyboard.press('End');
    const last = await chart.getAttribute('aria-valuetext');
    assert.match(last ?? '', /^\d+:\d\d: p50 .*, p99 \d/);
    await page.keyboard.press('ArrowLeft');
    assert.notEqual(await chart.getAttribute('aria-valuetext'), last);
    assert.equal(await page.locator('.cursor:visible').count(), 4);
    const backs = page.locator('.at button:visible');
    await page.keyboard.press('+');
    assert.equal(await backs.count(), 4);
    await page.keyboard.press('0');
    assert.equal(await backs.count(), 0);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.cursor:visible').count(), 0);
    browser.leave(page);
  });

  it('leaves a line alone by a click in the legend, and shows all by another', async () => {
    const { page } = await shown('done');
    const lines = page.locator('.chart-latency .legend button');
    const count = await lines.count();
    await lines.nth(2).click();
    assert.equal(await lines.nth(2).getAttribute('aria-pressed'), 'true');
    assert.equal(await page.locator('.chart-latency .legend .away').count(), count - 1);
    await page.locator('.chart-latency .u-over').hover({ position: { x: 200, y: 20 } });
    assert.equal(await page.locator('.chart-latency .tip p').count(), 1);
    await lines.nth(2).click();
    assert.equal(await page.locator('.chart-latency .legend .away').count(), 0);
    browser.leave(page);
  });

  it('puts a chart into the clipboard as a picture', async () => {
    const { page } = await shown('done');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = page.locator('.chart-latency .below > button');
    await button.click();
    await page.locator('.chart-latency .below > button', { hasText: 'copied' }).waitFor();
    assert.equal(await button.textContent(), 'copied');
    const size = await modules.copiedImageBytes(page);
    assert.ok(size > 1000, `${size} bytes`);
    await page.close();
  });

  it('shows the result of an hour at once, and says how long that takes', async () => {
    const { page, problems } = await browser.open({ width: 1400 });
    const { snapshots } = modules.recordings['hour']!;
    assert.ok(snapshots.length >= 3600);
    const start = performance.now();
    await modules.fill(page, modules.recordings['hour']);
    const words = `${(performance.now() - start).toFixed(0)} ms with what the test waits for`;
    const frames = (await modules.toldEditor(page)).frameMs.filter((ms) => ms > 0.5);
    const drawn = frames.map((ms) => ms.toFixed(1)).join(', ');
    process.stdout.write(`      ${snapshots.length} samples: frames of ${drawn} ms, ${words}\n`);
    // One frame for what came first, one for what the layout changed about the widths.
    assert.ok(frames.length <= 3, `${frames.length} frames`);
    assert.equal(await page.locator('.chart:visible canvas').count(), 5);
    assert.deepEqual(problems, []);
    browser.leave(page);
  });

  it('shows what went wrong, not empty charts, where no connection was opened', async () => {
    const { page } = await shown('unreachable');
    assert.match(
      (await page.locator('.verdict').textContent()) ?? '',
      /Could not connect: nothing listens on/,
    );
    assert.equal(await page.locator('.chart:visible').count(), 0);
    assert.match((await page.locator('.grid .errors').textContent()) ?? '', /ECONNREFUSED/);
    browser.leave(page);
  });

  it('has its numbers in what a screen reader says of each chart', async () => {
    const { page } = await shown('done');
    const charts = await page.locator('.chart:visible').all();
    for (const chart of charts)
      assert.match((await chart.getAttribute('aria-label')) ?? '', /: .*\d.*\. The table below/);
    browser.leave(page);
  });

  it('notices what does not fit', async () => {
    const { page } = await shown('live');
    await modules.squeezeTiles(page);
    const found = (await modules.misfits(page)).join('\n');
    assert.match(found, /lies on/);
    assert.match(found, /"Sent" is cut/);
    browser.leave(page);
  });

  const ringColours = { dark: '0, 120, 212', 'hc-light': '0, 107, 189' };
  for (const [theme, colour] of Object.entries(ringColours)) {
    it(`shows at each control that it has the focus: ${theme}`, async () => {
      const { page } = await shown('done', { theme, width: 800 });
      const rings = await modules.focusRings(page);
      assert.ok(rings.length >= 10, `${rings.length} controls`);
      assert.deepEqual([...new Set(rings)], [`rgb(${colour})`]);
      browser.leave(page);
    });
  }

  it('has the numbers of every chart in a table, opened by a key', async () => {
    const { page } = await shown('done');
    const charts = page.locator('section:has(.chart):visible');
    assert.equal(await charts.count(), 5);
    for (const chart of await charts.all()) {
      await chart.locator('summary').focus();
      await page.keyboard.press('Enter');
      await chart.locator('.twin tbody tr').first().waitFor();
      const rows = await chart.locator('.twin tbody tr').count();
      assert.ok(rows >= 5 && rows <= 120, `${rows} rows`);
    }
    browser.leave(page);
  });

  it('takes orders by keyboard, and keeps what finds its run again', async () => {
    const { page } = await shown('live');
    await page.locator('button', { hasText: 'Stop' }).focus();
    await page.keyboard.press('Enter');
    const { orders, kept } = await modules.toldEditor(page);
    assert.deepEqual(orders, ['ready', 'stop']);
    assert.deepEqual(kept, { runId: '2026-11-21T14-02-11-chat-room' });
    browser.leave(page);
  });

  it('moves nothing, and speaks politely, not with each second', async () => {
    const { page } = await shown('live');
    // What moves would be drawn sixty times a second.
    assert.equal(await modules.progressMotion(page), '0s');
    const region = page.locator('[role=status].unseen');
    assert.equal(await region.getAttribute('aria-live'), 'polite');
    assert.match((await region.textContent()) ?? '', /Step 2 of 3/);
    const last = modules.recordings['live']!.snapshots.at(-1);
    const times = await modules.spokenTimes(page, () => modules.sendMore(page, last, 10));
    assert.ok(times <= 1, `${times} times`);
    browser.leave(page);
  });
});
