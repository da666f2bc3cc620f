import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import type { Found } from '../../src/record/analyse/found';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { withFolder, type CliFolder } from '../load/cliFolder';
import { judgeRerun, RecordedTraffic, rerun } from '../load/recordedTraffic';
import { sharedAspNetServer } from '../interop/aspnetServer';
import { skipAloud } from '../fakes/skipAloud';

interface HostModule {
  readonly findChromium: () => string | undefined;
  readonly launchChromium: () => Promise<Browser>;
}

interface Visit {
  readonly texts: readonly string[];
  readonly everyMs: number;
}

const people = ['ann', 'bob'];
const everyMs = 120;
/** Of a visit: behind all that is done, and half a visit later, too. */
const whenNothingIsDone = 0.43;
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
  readonly protocol?: 'messagepack';
}

const cases: readonly Case[] = [
  { title: 'web sockets', page: {}, transport: 'WebSockets' },
  ...['ServerSentEvents', 'LongPolling'].map((transport) => ({
    ...{ title: transport, page: { transport }, transport },
  })),
  {
    title: 'MessagePack, with a page from elsewhere',
    page: { protocol: 'messagepack', plain: '' },
    ...{ transport: 'WebSockets', protocol: 'messagepack' },
  },
];

describe('what two people do in a browser, recorded', function () {
  const server = sharedAspNetServer();
  let hub: HubHere | undefined;
  let browser: Browser | undefined;

  before(async function () {
    const module = pathToFileURL(path.resolve('scripts', 'vscodeHost.mjs')).href;
    const { findChromium, launchChromium } = (await import(module)) as HostModule;
    if (findChromium() === undefined) skipAloud(this, 'there is no Chromium: npm run setup:vscode');
    [browser, hub] = await Promise.all([launchChromium(), startHubHere('')]);
  });
  after(() => Promise.all([browser?.close(), hub?.dispose()]));

  const test = sideBySide();

  const targetOf = ({ protocol }: Case): string =>
    protocol === undefined ? new URL('/chat', server.url).href : hub!.url;

  async function record(folder: CliFolder, each: Case, room: string): Promise<Found> {
    const { page, protocol } = each;
    const args = ['record', '--target', targetOf(each), '--json', '--out', 'chat'];
    const recording = folder.startHere(args);
    const { url } = JSON.parse(await recording.said(/^\{.*\}$/m)) as { url: string };
    const pages = protocol === undefined ? url : server.url;
    const shown = await Promise.all(
      people.map(async (name, at) => {
        const query = new URLSearchParams({ hub: url, room, name, ...page });
        const own = await browser!.newContext();
        try {
          const tab = await own.newPage();
          await tab.goto(new URL(`/pages/chat.html?${query.toString()}`, pages).href);
          // One after the other, as people come.
          await tab.waitForTimeout(100 * at);
          const visit: Visit = { texts: textsOf(name), everyMs };
          return await tab.evaluate(
            (does) =>
              (globalThis as unknown as { visit(does: Visit): Promise<number> }).visit(does),
            visit,
          );
        } finally {
          await own.close();
        }
      }),
    );
    assert.ok(Math.min(...shown) >= textsOf('').length, `${shown.join()} messages were shown`);
    recording.signal('SIGINT');
    const { code, stdout, stderr } = await recording.finished;
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout.slice(stdout.indexOf('\n'))) as { found: Found }).found;
  }

  for (const [at, each] of cases.entries())
    test(
      `becomes a scenario that does the same: ${each.title}`,
      withFolder(async (folder) => {
        const found = await record(folder, each, `a-room-of-people-${at}`);
        assert.deepEqual(found.transports, [each.transport]);
        assert.deepEqual(
          found.kinds.map(({ clients, unfinished }) => [clients, unfinished]),
          [[people.length, 0]],
        );
        const recorded = await RecordedTraffic.of(folder, 'chat.recording.jsonl');
        const again = await rerun(folder, targetOf(each), recorded, whenNothingIsDone);
        judgeRerun(again, recorded);
      }),
    );
});
