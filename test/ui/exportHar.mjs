// Makes the HAR files of test/fixtures/har: a person at the chat page of test/interop, and the developer tools of the
// installed Chromium beside it, whose own exporter writes the file, once for each transport.
// Needs what the ui suite needs, and the server: `node scripts/buildInterop.mjs`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium } from '../../scripts/vscodeHost.mjs';
import { startChatServer, startServer } from '../interop/chatServer.mjs';

const folder = path.resolve('test', 'fixtures', 'har');
/** Where a file has it, an import must not. */
const secret = 'hunter2';

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** The developer tools of a page, in a page of their own: what stands below `/devtools` is the browser's. */
async function openTools(browser, port, page) {
  const session = await page.context().newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  const tools = await (await browser.newContext()).newPage();
  const socket = `127.0.0.1:${port}/devtools/page/${targetInfo.targetId}`;
  await tools.goto(
    `http://127.0.0.1:${port}/devtools/devtools_app.html?ws=${socket}&panel=network`,
  );
  await tools.evaluate(async () => {
    const { TargetManager } = await import('./core/sdk/sdk.js');
    const manager = TargetManager.TargetManager.instance();
    while (manager.primaryPageTarget() === null)
      await new Promise((resolve) => setTimeout(resolve, 20));
    // Answered behind what the tools have asked for themselves: from then on nothing is missed.
    await manager.primaryPageTarget().networkAgent().invoke_enable({});
  });
  return tools;
}

/** What the button of the network panel writes; of scripts of the page it would write 200 KB. */
const exportFrom = (tools, sanitize) =>
  tools.evaluate(
    async (options) => {
      const [{ Writer }, { NetworkLog }, { Progress }] = await Promise.all([
        import('./models/har/har.js'),
        import('./models/logs/logs.js'),
        import('./core/common/common.js'),
      ]);
      const requests = NetworkLog.NetworkLog.instance()
        .requests()
        .filter((request) => !/\.js$|favicon/.test(request.url()));
      let text = '';
      const stream = { write: async (part) => (text += part), close: async () => undefined };
      await Writer.Writer.write(stream, requests, options, new Progress.Progress());
      return text;
    },
    { sanitize },
  );

/** On one line, and without the places in the code that each request came from: they are most of it. */
function short(text) {
  const har = JSON.parse(text);
  for (const { _initiator } of har.log.entries) delete _initiator.stack;
  return `${JSON.stringify(har)}\n`;
}

async function visit(browser, port, server, { name, sanitize = false, ...asked }) {
  const context = await browser.newContext();
  await context.addCookies([{ name: 'who', value: secret, url: server.url }]);
  const page = await context.newPage();
  // Of the same origin: a page of another has a process of its own, which the tools would have to follow.
  await page.goto(new URL('/pages/chat.js', server.url).href);
  const tools = await openTools(browser, port, page);
  const url = new URL('/pages/chat.html', server.url);
  url.search = new URLSearchParams({ room: 'a-room', name: 'ann', secret, ...asked });
  await page.goto(url.href);
  await page.evaluate((does) => globalThis.visit(does), {
    texts: ['Good morning, everybody', 'Is the meeting at ten?', 'See you there'],
    everyMs: 200,
  });
  const text = short(await exportFrom(tools, sanitize));
  await tools.context().close();
  await context.close();
  writeFileSync(path.join(folder, `${name}.har`), text);
  process.stdout.write(`  ${name}.har  ${(text.length / 1024).toFixed(1)} KB\n`);
}

mkdirSync(folder, { recursive: true });
const [port, server, hub] = await Promise.all([
  freePort(),
  startChatServer(),
  startServer(process.execPath, [
    'dist/cli.js',
    'serve',
    'hub',
    '--port',
    '0',
    '--exit-with-stdin',
  ]),
]);
// The server in .NET has no MessagePack.
const messagePack = { protocol: 'messagepack', hub: hub.url, plain: '' };
const browser = await chromium.launch({
  executablePath: findChromium(),
  args: [
    ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-web-security'],
    ...[`--remote-debugging-port=${port}`, '--remote-allow-origins=*'],
  ],
});
try {
  for (const each of [
    { name: 'webSockets' },
    { name: 'webSocketsMessagePack', ...messagePack, sanitize: true },
    { name: 'serverSentEvents', transport: 'ServerSentEvents' },
    { name: 'serverSentEventsSanitized', transport: 'ServerSentEvents', sanitize: true },
    { name: 'longPolling', transport: 'LongPolling' },
    { name: 'longPollingMessagePack', transport: 'LongPolling', ...messagePack },
  ])
    await visit(browser, port, server, each);
} finally {
  await browser.close();
  await Promise.all([server.stop(), hub.stop()]);
}
