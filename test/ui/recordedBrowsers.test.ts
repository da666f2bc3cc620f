import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { Findings } from '../../src/record/analyse/findings';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { startBehindService } from '../fakes/behindService';
import type { HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { withFolder, type CliFolder } from '../load/cliFolder';
import { judgePublished, judgeRun } from '../load/recordedTraffic';
import { sharedAspNetServer } from '../interop/aspnetServer';
import { skipAloud } from '../fakes/skipAloud';
import { startPubSubApp } from './pubSubApp';

interface HostModule {
  readonly findChromium: () => string | undefined;
  readonly launchChromium: () => Promise<Browser>;
}

interface Visit {
  readonly texts: readonly string[];
  readonly everyMs: number;
}

interface Publishing {
  readonly group: string;
  readonly texts: readonly string[];
  readonly everyMs: number;
  readonly readMs: number;
}

const people = ['ann', 'bob'];
const everyMs = 120;
/** Of different lengths, none so short that it would be made longer. */
const textsOf = (name: string): string[] =>
  Array.from(
    { length: 5 },
    (_, at) => `${name} ${at} ${'writes a line of text '.repeat(6 + (at % 3))}`,
  );

interface Case {
  readonly title: string;
  /** Further parameters of the page. */
  readonly page: Readonly<Record<string, string>>;
  readonly transport: string;
  /** Whose chat it is: that of ASP.NET Core serves the page too, to the other it comes from elsewhere. */
  readonly hub: 'aspNet' | 'behindService';
}

/** The other ways, also over services: `node bench/ownersWalk.mjs --all`. */
const cases: readonly Case[] = [
  {
    title: 'server-sent events',
    page: { transport: 'ServerSentEvents' },
    transport: 'ServerSentEvents',
    hub: 'aspNet',
  },
  {
    title: 'sent on to Azure SignalR Service, MessagePack over WebSockets, a page from elsewhere',
    page: { protocol: 'messagepack', plain: '', transport: 'WebSockets' },
    transport: 'WebSockets',
    hub: 'behindService',
  },
];

describe('what two people do in a browser, recorded', function () {
  const server = sharedAspNetServer();
  let behindService: HubHere | undefined;
  let browser: Browser | undefined;

  before(async function () {
    const module = pathToFileURL(path.resolve('scripts', 'vscodeHost.mjs')).href;
    const { findChromium, launchChromium } = (await import(module)) as HostModule;
    if (findChromium() === undefined) skipAloud(this, 'there is no Chromium: npm run setup:vscode');
    [browser, behindService] = await Promise.all([launchChromium(), startBehindService()]);
  });
  after(() => Promise.all([browser?.close(), behindService?.dispose()]));

  // They wait for the pauses of people most of the time.
  const test = sideBySide(cases.length + 1);

  const targetOf = ({ hub }: Case): string =>
    hub === 'aspNet' ? new URL('/chat', server.url).href : behindService!.url;

  /** What each person does in a browser of their own, one after the other, as people come. */
  const each = <T>(
    pageOf: (name: string) => string,
    act: (tab: Page, name: string) => Promise<T>,
  ) =>
    Promise.all(
      people.map(async (name, at) => {
        const own = await browser!.newContext();
        try {
          const tab = await own.newPage();
          await tab.goto(pageOf(name));
          await tab.waitForTimeout(100 * at);
          return await act(tab, name);
        } finally {
          await own.close();
        }
      }),
    );

  /** @param act at the address of the recorder; settles with how many messages each person has seen */
  async function record(
    folder: CliFolder,
    target: string,
    act: (url: string) => Promise<readonly number[]>,
  ): Promise<Findings> {
    const args = ['record', '--target', target, '--json', '--out', 'chat'];
    const recording = folder.startHere(args);
    const { url } = JSON.parse(await recording.said(/^\{.*\}$/m)) as { url: string };
    const shown = await act(url);
    assert.ok(Math.min(...shown) >= textsOf('').length, `${shown.join()} messages were shown`);
    recording.signal('SIGINT');
    const { code, stdout, stderr } = await recording.finished;
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout.slice(stdout.indexOf('\n'))) as { found: Findings }).found;
  }

  const chat = ({ page, hub }: Case, room: string, url: string): Promise<number[]> =>
    each(
      (name) => {
        const query = new URLSearchParams({ hub: url, room, name, later: '', ...page });
        const pages = hub === 'aspNet' ? url : server.url;
        return new URL(`/pages/chat.html?${query.toString()}`, pages).href;
      },
      (tab, name) => {
        const visit: Visit = { texts: textsOf(name), everyMs };
        return tab.evaluate(
          (does) => (globalThis as unknown as { visit(does: Visit): Promise<number> }).visit(does),
          visit,
        );
      },
    );

  for (const [at, one] of cases.entries())
    test(
      `becomes a scenario that does the same: ${one.title}`,
      withFolder(async (folder) => {
        const target = targetOf(one);
        const found = await record(folder, target, (url) =>
          chat(one, `a-room-of-people-${at}`, url),
        );
        assert.deepEqual(
          [found.target, found.transports, found.protocols],
          [target, [one.transport], [one.page['protocol'] ?? 'json']],
        );
        assert.deepEqual(
          found.kinds.map(({ clients, unfinished }) => [clients, unfinished]),
          [[people.length, 0]],
        );
        await judgeRun(folder);
      }),
    );

  test(
    'becomes a scenario that does the same: the official client of Azure Web PubSub',
    withFolder(async (folder) => {
      const emulator = await startWebPubSubEmulator();
      const app = await startPubSubApp(emulator);
      try {
        const target = new URL('/negotiate', app.url).href;
        // Not shorter than what a run sends at least.
        const texts = textsOf('somebody').map((text) => text.padEnd(200, '.'));
        const found = await record(folder, target, (url) =>
          each(
            () => new URL('/', url).href,
            (tab) =>
              tab.evaluate(
                (does) =>
                  (globalThis as unknown as { publish(does: Publishing): Promise<number> }).publish(
                    does,
                  ),
                { group: 'room', texts, everyMs, readMs: 2 * everyMs },
              ),
          ),
        );
        assert.deepEqual([found.clients, found.transports], [people.length, ['WebSockets']]);
        await judgePublished(folder, emulator.connectionString);
      } finally {
        app.dispose();
        await emulator.dispose();
      }
    }),
  );
});
