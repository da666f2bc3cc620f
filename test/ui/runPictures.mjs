// Takes pictures of a stored run as the panel draws it: its calls, the server below the latency, and all of it.
// Needs `npx tsc -b`, `node scripts/build.mjs` and Chromium. `node bench/ownersWalk.mjs --pictures docs/pictures` takes those of the documents.
//   node test/ui/runPictures.mjs RESULT-FOLDER PICTURES-FOLDER
/* global document */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fill, misfits, openPanelBrowser } from './panelBrowser.mjs';
import { smallPng } from './smallPng.mjs';

const require = createRequire(import.meta.url);
const { storedSource } = require(path.resolve('out/src/extension/panel/panelSession.js'));

const [result, folder] = process.argv.slice(2);
const source = await storedSource(result, {});

/** From the top of the first to the end of the last, with the edge of the page. */
async function around(page, first, last) {
  const [a, b] = await Promise.all([first, last].map((each) => page.locator(each).boundingBox()));
  const edge = 8;
  const [x, y] = [Math.min(a.x, b.x) - edge, a.y - edge];
  const right = Math.max(a.x + a.width, b.x + b.width) + edge;
  return { x, y, width: right - x, height: b.y + b.height + edge - y };
}

/** Leaves the other cards out. */
const keepOnly = (page, kept) =>
  page.evaluate((selector) => {
    for (const card of document.querySelectorAll('.card')) card.hidden ||= !card.matches(selector);
  }, kept);

const pictures = [
  {
    name: 'run',
    theme: 'light',
    width: 1000,
    kept: '.chart-latency, .observed *, .calls, .server',
  },
  { name: 'observed', theme: 'light', width: 1200, parts: ['.chart-latency', '.observed'] },
  { name: 'calls', theme: 'dark', width: 1060, parts: ['.calls', '.calls'] },
];

const browser = await openPanelBrowser();
try {
  for (const { name, theme, width, kept, parts } of pictures) {
    const { page, problems } = await browser.open({ theme, width });
    await fill(page, source);
    if (kept !== undefined) await keepOnly(page, kept);
    const clip = parts && (await around(page, ...parts));
    const png = smallPng(await page.screenshot({ fullPage: true, ...(clip && { clip }) }));
    writeFileSync(path.join(folder, `${name}.png`), png);
    process.stdout.write(`  ${name}.png  ${(png.length / 1024).toFixed(1)} KB\n`);
    problems.push(...(await misfits(page)));
    browser.leave(page);
    for (const problem of problems) process.stderr.write(`${name}: ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  await browser.close();
}
