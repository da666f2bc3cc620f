// The panel's page outside VS Code: its own HTML, bundle and style sheets, served on loopback, with a
// stand-in for the editor. Needs `npx tsc -b`, `node scripts/build.mjs` and Chromium.
/* global document, getComputedStyle, MutationObserver, requestAnimationFrame */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { launchChromium } from '../../scripts/vscodeHost.mjs';
import { themes } from './themes.mjs';

const require = createRequire(import.meta.url);
const { panelHtml } = require(path.resolve('out/src/extension/panel/panelSession.js'));
const { hydrateMessage } = require(path.resolve('out/src/extension/panel/panelSession.js'));

const files = {
  '/panel.js': ['dist/panel.js', 'text/javascript'],
  '/panel.css': ['media/panel.css', 'text/css'],
  '/uPlot.css': ['media/uPlot.css', 'text/css'],
};

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
      name: ['/comparison', '/overview'].includes(request.url) ? request.url.slice(1) : 'run',
      scriptUri: `${origin}/panel.js`,
      styleUris: [`${origin}/uPlot.css`, `${origin}/panel.css`],
      cspSource: origin,
      nonce: 'picture',
    });
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Stands in for the editor: theme, messages, what the policy refused, and how long each frame took. */
function beEditor({ bodyClass, colours }) {
  globalThis.sent = [];
  globalThis.refused = [];
  globalThis.frameMs = [];
  globalThis.acquireVsCodeApi = () => ({
    postMessage: (message) => globalThis.sent.push(message),
    setState: (state) => (globalThis.kept = state),
  });
  const nextFrame = requestAnimationFrame;
  globalThis.requestAnimationFrame = (draw) =>
    nextFrame((time) => {
      const start = performance.now();
      draw(time);
      // The charts draw in microtasks of their own, which come before this one.
      globalThis.queueMicrotask(() => globalThis.frameMs.push(performance.now() - start));
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

/**
 * @returns {Promise<{ open: Function, leave: Function, close: Function }>} `open({ theme, width, zoom })`
 *   gives a page that waits to be filled, and the list of what went wrong in it so far; a window of
 *   `width` pixels at a zoom of 2 has half as many to lay out; `leave(page)` lends it to who opens the next one like it,
 *   which costs far less than another
 */
export async function openPanelBrowser() {
  const server = await servePanel();
  const browser = await launchChromium();
  /** Pages that nobody looks at, with the options they were made with. */
  const idle = [];
  const known = new Map();

  /** A page whose problems go to the list of whoever has it. */
  async function newPage(options, theme) {
    const page = await browser.newPage(options);
    const report = (problem) => known.get(page).problems.push(problem);
    page.on('pageerror', (error) => report(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') report(message.text());
    });
    await page.addInitScript(beEditor, themes[theme]);
    return page;
  }

  const open = async ({ theme = 'dark', width = 1400, zoom = 1, of = '' } = {}) => {
    const key = `${theme} ${zoom}`;
    const at = idle.findIndex((each) => known.get(each).key === key);
    const options = { deviceScaleFactor: zoom, reducedMotion: 'no-preference' };
    const page = at < 0 ? await newPage(options, theme) : idle.splice(at, 1)[0];
    const problems = [];
    known.set(page, { key, problems });
    await page.setViewportSize({ width: Math.round(width / zoom), height: Math.round(900 / zoom) });
    await page.goto(`http://127.0.0.1:${server.address().port}/${of}`);
    await page.waitForFunction(() => globalThis.sent.some(({ type }) => type === 'ready'));
    return { page, problems };
  };
  const leave = (page) => idle.push(page);
  const close = async () => {
    await browser.close();
    server.close();
  };
  return { open, leave, close };
}

/** Sends the page a message as a text: the browser's driver takes long for an object of thousands of values. */
export function post(page, message) {
  const send = (text) => globalThis.postMessage(JSON.parse(text), '*');
  return page.evaluate(send, JSON.stringify(message));
}

/** Sends the page a run and waits until it is drawn. */
export async function fill(page, recording) {
  await post(page, hydrateMessage(recording));
  await page.waitForSelector('.tile');
  // The charts take their width one frame after their place has one.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** How large the picture in the clipboard is. */
export function copiedImageBytes(page) {
  return page.evaluate(async () => {
    const [item] = await globalThis.navigator.clipboard.read();
    return (await item.getType('image/png')).size;
  });
}

/** Sends the page of results what it lists and waits until it is drawn. */
export async function fillOverview(page, message) {
  await post(page, message);
  await page.waitForSelector('.overview tbody');
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** Sends the page of comparisons what it shows and waits until it is drawn. */
export async function fillComparison(page, message) {
  await post(page, message);
  await page.waitForSelector('.verdict');
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** What does not fit: a page wider than its window, texts that are cut, boxes that lie on each other. */
export function misfits(page) {
  return page.evaluate(() => {
    const found = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.push(`${scrollWidth} px wide in ${clientWidth}`);
    const name = (node) => `${node.className || node.tagName} "${node.textContent.slice(0, 30)}"`;
    const seen = (node) => node.checkVisibility() && !node.closest('.unseen');
    const texts = 'h1, h2, p, dt, dd, b, button, select, summary, li, label';
    // In the narrowest of windows a table may be scrolled.
    const kinds = clientWidth < 480 ? texts : `${texts}, .scroll`;
    const boxes = [...document.querySelectorAll(kinds)].filter(seen);
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0)
        found.push(`${name(box)} is cut`);
      if (box.getBoundingClientRect().right > clientWidth + 0.5)
        found.push(`${name(box)} leaves the window`);
    }
    const families = [
      '.title > *',
      '.tiles > *',
      '.grid > *',
      '.grid .card',
      '.below > *',
      '.legend li',
    ];
    families.push('.tile > *', '.card > *', '.body > *', 'header > *', '.orders > *');
    for (const family of families) {
      const members = [...document.querySelectorAll(family)].filter(seen);
      for (const [at, one] of members.entries()) {
        const [a, next] = [one.getBoundingClientRect(), members[at + 1]];
        if (!next || next.parentElement !== one.parentElement) continue;
        const b = next.getBoundingClientRect();
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 1) found.push(`${name(one)} lies on ${name(next)}`);
      }
    }
    return found;
  });
}

/** Waits until the page has drawn what has just changed, and what it drew for that one frame later. */
export function drawn(page) {
  const frame = 'new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))';
  return page.evaluate(`${frame}.then(() => ${frame})`);
}

/** Sends snapshots like `last` that follow it by a second each, and waits until each is drawn. */
export function sendMore(page, last, count) {
  return page.evaluate(
    async ([snapshot, more]) => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      for (let at = 1; at <= more; at++) {
        const next = { ...snapshot, atMs: snapshot.atMs + at * 1000 };
        globalThis.postMessage({ type: 'snapshot', snapshot: next }, '*');
        await frame();
        await frame();
      }
    },
    [last, count],
  );
}

/** What the stand-in for the editor knows: orders, refusals, what the page had kept, milliseconds of frames. */
export function toldEditor(page) {
  return page.evaluate(() => {
    const { sent, refused, kept, frameMs } = globalThis;
    return { orders: sent.map(({ type }) => type), refused, kept, frameMs };
  });
}

/** Makes a tile lie on the next one, whose label is cut. */
export function squeezeTiles(page) {
  return page.evaluate(() => {
    const [tile, next] = document.querySelectorAll('.tile');
    tile.style.marginRight = '-40px';
    next.querySelector('dt').style.cssText = 'width: 10px; overflow: hidden';
  });
}

/** Goes through the controls by the tab key; the colour of each one's ring, or what had none. */
export async function focusRings(page) {
  const controls = 'button, select, summary, [tabindex]';
  const count = await page
    .locator(controls)
    .evaluateAll((all) => all.filter((each) => each.checkVisibility()).length);
  const rings = [];
  for (let at = 0; at < count; at++) {
    await page.keyboard.press('Tab');
    const ring = await page.evaluate((wanted) => {
      const focused = document.activeElement;
      const { outlineStyle, outlineColor, outlineWidth } = getComputedStyle(focused);
      const seen = outlineStyle === 'solid' && parseFloat(outlineWidth) >= 1;
      return focused.matches(wanted) && seen ? outlineColor : `none: ${focused.className}`;
    }, controls);
    rings.push(ring);
  }
  return rings;
}

/** Counts how often the live region changes while `during` goes on. */
export async function spokenTimes(page, during) {
  await page.evaluate(() => {
    globalThis.spoken = 0;
    const options = { childList: true, characterData: true, subtree: true };
    const region = document.querySelector('[role=status].unseen');
    new MutationObserver(() => globalThis.spoken++).observe(region, options);
  });
  await during();
  return page.evaluate(() => globalThis.spoken);
}

/** Seconds in which the progress bar moves to its place. */
export function progressMotion(page) {
  return page.locator('.progress i').evaluate((bar) => getComputedStyle(bar).transitionDuration);
}
