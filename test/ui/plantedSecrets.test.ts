import { english } from '../../src/base/text';
import { Emitter } from '../../src/base/async';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { stringify } from 'yaml';
import { startPanelSession } from '../../src/extension/panel/panelSession';
import { startEditorRun } from '../../src/extension/run/editorRun';
import type { ToPanel } from '../../src/messages/panel';
import { secretVariable } from '../../src/scenario/target/references';
import { editorShell } from '../fakes/editorShell';
import { startHubHere } from '../fakes/loadHub';
import { Planted, plantScenario } from '../fakes/planted';
import { startRepeatingHub } from '../fakes/repeatingHub';

/** What the tests use of panelBrowser.mjs. */
interface PanelBrowser {
  readonly open: () => Promise<{ readonly page: Page; readonly problems: readonly string[] }>;
  readonly close: () => Promise<void>;
}
interface Module {
  readonly openPanelBrowser: () => Promise<PanelBrowser>;
  readonly post: (page: Page, message: object) => Promise<void>;
}

interface Given {
  readonly text: string;
  readonly rows?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What the editor and its panel had of a run. */
interface Shown {
  readonly messages: readonly ToPanel[];
  /** The page after each message, with texts and attributes, and what is beside a chart under the pointer. */
  readonly pages: readonly string[];
  readonly said: readonly string[];
}

describe('secrets of a run in the editor', () => {
  let module: Module;
  let browser: PanelBrowser;
  let folder: string;

  before(async () => {
    const file = pathToFileURL(path.resolve('test', 'ui', 'panelBrowser.mjs')).href;
    module = (await import(file)) as Module;
    browser = await module.openPanelBrowser();
  });
  after(() => (browser as PanelBrowser | undefined)?.close());
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-panel-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a scenario as the editor does, with the panel open from its start on. */
  async function shown({ text, rows = '', env = {} }: Given): Promise<Shown> {
    const { page, problems } = await browser.open();
    const [messages, pages, said]: [ToPanel[], string[], string[]] = [[], [], []];
    const session = await startEditorRun(
      { title: 's.yaml', text, overrides: [], directories: [folder], keepGoing: true },
      editorShell({
        context: {
          reference: (kind, name) => env[kind === 'env' ? name : secretVariable(name)],
          serverScript: path.resolve('dist', 'serve.js'),
          readFile: () => Promise.resolve(rows),
        },
        say: (_what, sentence) => said.push(sentence),
        notCompared: (why) => said.push(why),
      }),
    );
    assert.ok(session);
    const fromPage = new Emitter<unknown>();
    let drawing: Promise<unknown> = Promise.resolve();
    const draw = async (message: ToPanel): Promise<void> => {
      await module.post(page, message);
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
      pages.push(await page.content());
    };
    const port = {
      post: (message: ToPanel) => {
        messages.push(message);
        drawing = drawing.then(() => draw(message));
      },
      onMessage: fromPage.event,
      onVisibility: new Emitter<boolean>().event,
    };
    const log = (sentence: string): void => void said.push(sentence);
    const panel = startPanelSession(port, session, {
      t: english,
      log,
      testConnection: log as () => void,
    });
    fromPage.fire({ type: 'ready' });
    await session.finished;
    await drawing;
    // As it is when a person comes back to it.
    fromPage.fire({ type: 'ready' });
    await drawing;
    for (const chart of await page.locator('.chart:visible').all()) {
      await chart.hover();
      pages.push(await page.content());
    }
    panel.dispose();
    assert.deepEqual(problems, []);
    const kept = await page.evaluate('[globalThis.kept, globalThis.sent, document.title]');
    said.push(JSON.stringify(kept));
    await page.close();
    return { messages, pages, said };
  }

  function assertHidden({ messages, pages, said }: Shown, ...planted: readonly Planted[]): void {
    // While it went on, and when it was over.
    const types = new Set(messages.map(({ type }) => type));
    assert.deepEqual(types, new Set(['hydrate', 'snapshot', 'finished']));
    assert.ok(pages.length > messages.length);
    const texts = [...messages.map((each) => JSON.stringify(each)), ...pages, ...said];
    for (const each of planted)
      assert.deepEqual([...new Set(texts.flatMap((text) => each.foundIn(text)))], []);
  }

  it('are in no message to its panel, and the page draws none, where all goes well', async () => {
    const hub = await startHubHere();
    const planted = await plantScenario(hub.url);
    try {
      const { scenario, comment, rows, env, literal, given } = planted;
      const run = await shown({ text: comment + stringify(scenario), rows, env });
      planted.assertArrived();
      assertHidden(run, literal, given);
      const [last] = run.pages.slice(-1);
      assert.match(last!, /passed/i);
    } finally {
      await Promise.all([planted.dispose(), hub.dispose()]);
    }
  });

  it('are in no message to its panel, and the page draws none, where the hub says them back', async () => {
    const hub = await startRepeatingHub();
    const planted = new Planted('rep');
    try {
      const [user, password] = ['user', 'password'].map((part) =>
        encodeURIComponent(planted.at(part)),
      );
      const config = {
        ...{ connections: 4, baseSending: 4, step: 0, singleStepDuration: '1500ms', warmup: 0 },
        target: `${hub.url.replace('://', `://${user}:${password}@`)}?code=${encodeURIComponent(planted.at('query of target'))}`,
        skipNegotiation: true,
        headers: {
          'X-Gate': planted.at('header'),
          Cookie: `who=${planted.at('cookie')}; other=${planted.at('second cookie')}`,
          'X-Kept': '${secret:kept}',
        },
        query: { sig: planted.at('query') },
        data: { file: 'rows.csv' },
      };
      const scenario = {
        name: 'invoke',
        parameters: {
          method: 'Login',
          arguments: [
            { user: 'ann', password: planted.at('password in arguments') },
            { token: '{data.secret}' },
          ],
          sendingInterval: '200ms',
        },
      };
      const env = { [secretVariable('kept')]: planted.at('secret reference') };
      const rows = `name,secret\nann,${planted.at('row')}\n`;
      const run = await shown({ text: stringify({ config, scenario }), rows, env });
      assertHidden(run, planted);
      // Not by saying nothing.
      assert.ok(run.pages.some((page) => /HubException: refused.*\(redacted\)/.test(page)));
    } finally {
      await hub.dispose();
    }
  });
});
