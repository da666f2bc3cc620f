// The ways of the owner's walk: what the recorder stands before, and what two people do there in a browser.
// Needs `npx tsc -b`, `npm run build` and, for the chat of ASP.NET Core and its page, `node scripts/buildInterop.mjs`.
import { createRequire } from 'node:module';
import path from 'node:path';
import { startChatServer, startServer } from '../../test/interop/chatServer.mjs';

const require = createRequire(import.meta.url);
const compiled = (file) => require(path.resolve('out', file));

/** Server-sent events carry no bytes: the official client refuses them with MessagePack. */
const hubWays = [
  ...['WebSockets', 'ServerSentEvents', 'LongPolling'].map((transport) => [transport, 'json']),
  ...['WebSockets', 'LongPolling'].map((transport) => [transport, 'messagepack']),
];

/** Transport and protocol of the official client, and the service that sends its clients on, by the words of scenarios. */
export const everyWay = [
  ...['none', 'signalr'].flatMap((service) =>
    hubWays.map(([transport, protocol]) => ({ transport, protocol, service })),
  ),
  { transport: 'WebSockets', protocol: 'json', service: 'webpubsub' },
];

const people = ['ann', 'bob'];
/** As long as the names that a run gives to its rooms, which are its own. */
const room = 'the-round-table-123';
const messages = 10;
/** Nobody types at one pace; their mean is 1. */
const paces = [0.6, 1.3, 0.8, 1.6, 0.7];
const textsOf = (name) =>
  Array.from(
    { length: messages },
    (_, at) => `${name} ${at} ${'writes a line of text '.repeat(4 + (at % 3))}`,
  );

/**
 * What each person does, in a browser of their own. They come one after the other: of two who come at the same moment each may
 * hear that the other has come.
 */
async function each(browser, pageOf, does, hasCome) {
  const pages = await Promise.all(
    people.map(async (name) => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(pageOf(name));
      return page;
    }),
  );
  const visits = [];
  for (const [at, page] of pages.entries()) {
    const visit = does(page, textsOf(people[at])).finally(() => page.context().close());
    visits.push(visit);
    await Promise.race([hasCome(page), visit]);
  }
  return Promise.all(visits);
}

/** @param pages where the page comes from; by default from where the hub is */
function chat({ transport, protocol }, seconds, pages) {
  // Of a visit: people write for a part of it and read for the rest, see `visit` in chat.js.
  const everyMs = (seconds * 1000) / 2.8 / (messages + 1);
  // Neither the embedded hub nor an app server knows who is there and who is typing.
  const more = { later: '', ...(pages !== undefined && { plain: '' }) };
  return (browser, hub) =>
    each(
      browser,
      (name) => {
        const page = new URL('/pages/chat.html', pages ?? hub);
        page.search = new URLSearchParams({ hub, room, name, transport, protocol, ...more });
        return page.href;
      },
      (page, texts) => page.evaluate((visit) => globalThis.visit(visit), { texts, everyMs, paces }),
      (page) => page.locator('#people', { hasText: room }).waitFor(),
    );
}

/** People who read as long as in a visit to the chat, and write texts that are not shorter than the data of a run. */
function publish(seconds) {
  const everyMs = (seconds * 1000) / 2.8 / messages;
  const readMs = (1.8 / 2) * everyMs * messages;
  return (browser, app) =>
    each(
      browser,
      () => new URL('/', app).href,
      (page, texts) =>
        page.evaluate((does) => globalThis.publish(does), {
          ...{ group: room, texts: texts.map((text) => `${text}${text}${text}`), everyMs, readMs },
        }),
      (page) => page.waitForTimeout(everyMs / 10),
    );
}

/** The chat of ASP.NET Core for JSON, the embedded hub for MessagePack. */
async function startHub(way, seconds) {
  const aspNet = await startChatServer();
  const url = new URL('/chat', aspNet.url).href;
  const metrics = new URL('/metrics', url).href;
  if (way.protocol === 'json')
    return { url, metrics, use: chat(way, seconds), stop: () => aspNet.stop() };
  const args = [path.resolve('dist', 'cli.js'), 'serve', 'hub', '--port', '0', '--exit-with-stdin'];
  const hub = await startServer(process.execPath, args);
  return {
    ...{ url: hub.url, use: chat(way, seconds, aspNet.url) },
    stop: () => Promise.all([hub.stop(), aspNet.stop()]),
  };
}

async function startSignalr(way, seconds) {
  const aspNet = await startChatServer();
  const { startBehindService } = compiled('test/fakes/behindService.js');
  const hub = await startBehindService();
  return {
    ...{ url: hub.url, use: chat(way, seconds, aspNet.url) },
    stop: () => Promise.all([hub.dispose(), aspNet.stop()]),
  };
}

async function startPubSub(_way, seconds) {
  const { startWebPubSubEmulator } = compiled('src/servers/webpubsub/webPubSubEmulator.js');
  const { startPubSubApp } = compiled('test/ui/pubSubApp.js');
  const emulator = await startWebPubSubEmulator();
  const app = await startPubSubApp(emulator);
  const [, endpoint] = /Endpoint=([^;]+)/.exec(emulator.connectionString);
  return {
    ...{ url: new URL('/negotiate', app.url).href, use: publish(seconds) },
    ...{ service: new URL('/client/hubs/chat', endpoint).href },
    secret: (front) => emulator.connectionString.replace(endpoint, new URL(front).origin),
    stop: async () => {
      app.dispose();
      await emulator.dispose();
    },
  };
}

const starts = { none: startHub, signalr: startSignalr, webpubsub: startPubSub };

/**
 * @returns `url` to be recorded; `use(browser, url)`, which settles with how many messages each person has seen; `service`,
 * where a run goes that does not go to `url`; `secret(front)`, what stands for the secrets of the scenario when the run goes to
 * `front`; `metrics` of the server; and `stop()`
 */
export const startWay = (way, seconds) => starts[way.service](way, seconds);
