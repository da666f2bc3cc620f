// Renders the panel outside VS Code, from recorded data, and takes pictures of it: out/screens/panel-*.png.
// Fails on a script error, on anything the page's policy refuses, and on what is cut or overlaps.
// Needs `npx tsc -b`, `node scripts/build.mjs` and Chromium (CHROMIUM_PATH, else `chromium` on the PATH).
// With a word, only pictures with it in their name: `node test/ui/panelPage.mjs light`.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { comparisons } from './comparisonData.mjs';
import { overviews } from './overviewData.mjs';
import { fill, fillComparison, fillOverview, misfits, openPanelBrowser } from './panelBrowser.mjs';
import { recordings } from './panelData.mjs';

const screens = path.resolve('out/screens');

const themeNames = ['dark', 'light', 'hc', 'hc-light'];
const rare = [
  'empty',
  'connecting',
  'errors',
  'invalid',
  'invalid-live',
  'failed',
  'silent',
  'starved',
  'missed-live',
  'missed-for-good-live',
  'stalled-live',
  'unreachable',
  'mix',
  'long',
  'search',
  'search-live',
  'repeats',
  'agents',
  'agents-live',
  'sessions',
  'session-mix',
  'observed',
  'azure',
  'compared',
];
const pictures = [
  ...themeNames.flatMap((theme) =>
    ['live', 'done'].flatMap((state) => [800, 1400].map((width) => ({ theme, state, width }))),
  ),
  ...[...rare, 'silent-live', 'hour'].map((state) => ({ theme: 'dark', state, width: 1400 })),
  ...rare.map((state) => ({ theme: 'light', state, width: 800 })),
  ...[500, 360].map((width) => ({ theme: 'dark', state: 'live', width })),
  { theme: 'light', state: 'done', width: 420 },
  { theme: 'dark', state: 'search', width: 360 },
  { theme: 'hc', state: 'search', width: 1400 },
  { theme: 'hc', state: 'agents', width: 1400 },
  { theme: 'hc', state: 'agents-live', width: 1400 },
  { theme: 'dark', state: 'agents', width: 360 },
  { theme: 'hc', state: 'sessions', width: 1400 },
  { theme: 'hc', state: 'observed', width: 1400 },
  { theme: 'hc', state: 'azure', width: 1400 },
  { theme: 'hc', state: 'missed-live', width: 800 },
  { theme: 'hc', state: 'missed-for-good-live', width: 800 },
  { theme: 'dark', state: 'sessions-live', width: 360 },
  { theme: 'dark', state: 'session-mix-live', width: 360 },
  { theme: 'dark', state: 'mix-live', width: 360 },
  { theme: 'dark', state: 'done', width: 1400, zoom: 2 },
  { theme: 'hc', state: 'live', width: 800, zoom: 2 },
];

const comparisonPictures = [
  ...themeNames.map((theme) => ({ theme, state: 'worse', width: 1400 })),
  ...['same', 'unlike', 'several'].map((state) => ({ theme: 'light', state, width: 800 })),
  ...['worse', 'several'].map((state) => ({ theme: 'dark', state, width: 360 })),
  { theme: 'hc', state: 'worse', width: 800, zoom: 2 },
].map((picture) => ({ ...picture, of: 'comparison' }));

const overviewPictures = [
  ...themeNames.map((theme) => ({ theme, state: 'trend', width: 1400 })),
  { theme: 'light', state: 'all', width: 800 },
  { theme: 'dark', state: 'trend', width: 360 },
].map((picture) => ({ ...picture, of: 'overview' }));

const browser = await openPanelBrowser();
mkdirSync(screens, { recursive: true });
try {
  for (const picture of [...pictures, ...comparisonPictures, ...overviewPictures]) {
    const { theme, state, width, zoom = 1, of } = picture;
    const name = [of ?? 'panel', theme, state, width, ...(zoom === 1 ? [] : [`zoom${zoom}`])].join(
      '-',
    );
    if (!name.includes(process.argv[2] ?? '')) continue;
    const { page, problems } = await browser.open(picture);
    if (of === 'comparison') await fillComparison(page, comparisons[state]);
    else if (of === 'overview') await fillOverview(page, overviews[state]);
    else await fill(page, recordings[state]);
    await page.screenshot({ path: path.join(screens, `${name}.png`), fullPage: true });
    problems.push(...(await page.evaluate(() => globalThis.refused)), ...(await misfits(page)));
    browser.leave(page);
    process.stdout.write(`  ${name}.png\n`);
    for (const problem of problems) process.stderr.write(`${name}: ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  await browser.close();
}
