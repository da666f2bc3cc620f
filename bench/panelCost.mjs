// What the live panel costs at one sample a second, over an hour: its page in Chromium is given the samples of an hour one by
// one, each drawn before the next comes, and then some at their real pace. Prints the CPU of all processes of the browser for
// a sample (at one a second that is the share of a core) and the page's heap after a collection. Judges nothing. With --heap it
// prints what the heap has grown by between the first part of the samples and the last, by constructors.
//
//   node bench/panelCost.mjs [--samples 3600] [--real 20] [--heap]      after `npx tsc -b`, `npm run build`; needs Chromium
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fill, openPanelBrowser } from '../test/ui/panelBrowser.mjs';
import { recordings } from '../test/ui/panelData.mjs';
import { growthOf, heapByConstructor } from './heapSnapshot.mjs';

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '3600' },
    real: { type: 'string', default: '20' },
    heap: { type: 'boolean', default: false },
  },
});
const [samples, real] = [values.samples, values.real].map(Number);

const browser = await openPanelBrowser();
try {
  const { page } = await browser.open({ theme: 'dark', width: 1400 });
  const system = await page.context().browser().newBrowserCDPSession();
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');

  /** CPU seconds of all processes of the browser. */
  const cpuSeconds = async () => {
    const { processInfo } = await system.send('SystemInfo.getProcessInfo');
    return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  const heapMegabytes = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize / 1024 / 1024;
  };
  /** Hands one sample over and waits until it is drawn. */
  const give = (snapshot) =>
    page.evaluate(
      (text) =>
        new Promise((done) => {
          globalThis.postMessage(JSON.parse(text), '*');
          globalThis.requestAnimationFrame(() => globalThis.requestAnimationFrame(done));
        }),
      JSON.stringify({ type: 'snapshot', snapshot }),
    );

  const { snapshots, ...recording } = recordings['hour-live'];
  const some = snapshots.slice(0, samples);
  await fill(page, { ...recording, snapshots: some.slice(0, 1) });
  const parts = 6;
  const each = Math.ceil((some.length - real) / parts);
  const heaps = [];
  for (let part = 0; part < parts; part++) {
    const before = await cpuSeconds();
    const given = some.slice(1 + part * each, Math.min(1 + (part + 1) * each, some.length - real));
    for (const snapshot of given) await give(snapshot);
    const used = ((await cpuSeconds()) - before) / given.length;
    console.log(
      `samples up to ${1 + part * each + given.length}: ${(1000 * used).toFixed(1)} ms of CPU each, heap ${(await heapMegabytes()).toFixed(1)} MB`,
    );
    // Each takes some seconds and much memory of its own.
    if (values.heap && (part === 0 || part === parts - 1))
      heaps.push(await heapByConstructor(session));
  }
  if (values.heap) {
    const { all, largest } = growthOf(...heaps, 12);
    const kilobytes = (bytes) => `${(bytes / 1024).toFixed(0).padStart(7)} KB`;
    console.log(`${kilobytes(all)}  in all, between the first of these lines and the last`);
    for (const { name, count, bytes } of largest)
      console.log(`${kilobytes(bytes)}  ${name}, ${count} more`);
  }
  // Handed over by the page itself, so that asking it costs nothing.
  const texts = some.slice(-real).map((snapshot) => JSON.stringify({ type: 'snapshot', snapshot }));
  await page.evaluate((all) => {
    const timer = setInterval(() => {
      globalThis.postMessage(JSON.parse(all.shift()), '*');
      if (all.length === 0) clearInterval(timer);
    }, 1000);
  }, texts);
  const before = await cpuSeconds();
  const startedMs = performance.now();
  await sleep(real * 1000);
  const share = (await cpuSeconds()) - before;
  const tookS = (performance.now() - startedMs) / 1000;
  console.log(
    `${real} samples at one a second, with those before on the charts: ${((100 * share) / tookS).toFixed(1)} % of a core.`,
  );
} finally {
  await browser.close();
}
