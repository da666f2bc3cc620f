import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  FrameLocator,
  Page,
} from 'playwright-core';

/** What the suite uses of scripts/vscodeHost.mjs. */
interface Host {
  readonly folder: string;
  install(vsix: string): void;
  start(): Promise<void>;
  url(workspace: string, payload: readonly (readonly [string, string])[]): string;
  uri(file: string): string;
  stop(): Promise<void>;
  remove(): void;
}

interface HostModule {
  readonly createHost: (options: {
    readonly trusted?: boolean;
    readonly settings?: Readonly<Record<string, unknown>>;
    readonly machineSettings?: Readonly<Record<string, unknown>>;
    /** Of the extension host. */
    readonly environment?: Readonly<Record<string, string>>;
  }) => Host;
  readonly launchChromium: (options: { readonly editor: boolean }) => Promise<Browser>;
  readonly stillContext: (
    browser: Browser,
    options: BrowserContextOptions,
  ) => Promise<BrowserContext>;
}

const screens = path.resolve('out', 'screens');

/** Patience with one thing on the page. */
const pageLimitMs = 60_000;

/** Patience with a workbench that starts, and with the extension in it. */
export const startLimitMs = 90_000;

/** Patience with the palette, before it is opened again. */
const paletteLimitMs = 8_000;

/** The packed extension, made anew before the suite. */
export const packedExtension = path.resolve('out', 'signalr-benchmark.vsix');

/** A VS Code with the packed extension in a clean profile, in a browser, on a folder of its own. */
export interface Workbench {
  readonly page: Page;
  /** Copy of test/vscode/workspace. */
  readonly workspace: string;
  /** Opens the workbench (again) with a file of the workspace, or none. */
  open(file?: string): Promise<void>;
  /** Opens a file of the workspace in the workbench as it is. */
  openHere(file: string): Promise<void>;
  /** Runs a command through the palette. */
  command(title: string): Promise<void>;
  /** Changes settings that a user has for each machine. */
  change(settings: Readonly<Record<string, unknown>>): void;
  /** Page of the extension's panel. */
  panel(): FrameLocator;
  /** Saves out/screens/<name>.png. */
  screenshot(name: string): Promise<void>;
  close(failed: boolean): Promise<void>;
}

/** Of the editor in the pictures of README and documents. */
export const pictureSettings = {
  'editor.minimap.enabled': false,
  'workbench.colorTheme': 'Dark Modern',
  'window.autoDetectColorScheme': false,
} as const;

export async function startWorkbench(
  options: Parameters<HostModule['createHost']>[0] = {},
): Promise<Workbench> {
  const module = pathToFileURL(path.resolve('scripts', 'vscodeHost.mjs')).href;
  const { createHost, launchChromium, stillContext } = (await import(module)) as HostModule;
  const workspace = mkdtempSync(path.join(tmpdir(), 'vsw-'));
  cpSync(path.resolve('test', 'vscode', 'workspace'), workspace, { recursive: true });
  mkdirSync(screens, { recursive: true });

  const host = createHost(options);
  let browser: Browser | undefined;
  const close = async (failed: boolean): Promise<void> => {
    await browser?.close();
    await host.stop();
    rmSync(workspace, { recursive: true, force: true, maxRetries: 5 });
    if (failed) process.stderr.write(`The log of the server is in ${host.folder}.\n`);
    else host.remove();
  };
  try {
    host.install(packedExtension);
    await host.start();
    browser = await launchChromium({ editor: true });
    const context = await stillContext(browser, {
      viewport: { width: 1400, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(pageLimitMs);
    return { page, workspace, close, ...controls(page, host, workspace) };
  } catch (error) {
    await close(true);
    throw error;
  }
}

function controls(
  page: Page,
  host: Host,
  workspace: string,
): Omit<Workbench, 'page' | 'workspace' | 'close'> {
  return {
    async open(file) {
      const entry = ['openFile', file && host.uri(path.join(workspace, file))] as const;
      const payload = entry[1] === undefined ? [] : [[entry[0], entry[1]] as const];
      await page.goto(host.url(workspace, payload));
      await page.locator('.monaco-workbench .part.sidebar').waitFor({ timeout: startLimitMs });
    },
    async openHere(file) {
      await page.keyboard.press('Control+P');
      await page.locator('.quick-input-widget input[type=text]').fill(file);
      await page.locator('.quick-input-list .monaco-list-row', { hasText: file }).first().click();
      await page.locator('.tab.active', { hasText: file }).waitFor();
    },
    async command(title) {
      const input = page.locator('.quick-input-widget input[type=text]');
      // The one that Enter takes; the list of all commands is there before it is filtered.
      const chosen = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: title });
      for (let attempt = 1; ; attempt++) {
        try {
          await page.keyboard.press('F1');
          await input.fill(`>${title}`, { timeout: paletteLimitMs });
          await chosen.waitFor({ timeout: paletteLimitMs });
          await input.press('Enter', { timeout: paletteLimitMs });
          return;
        } catch (error) {
          // A panel that opens meanwhile takes the focus, and with it the palette.
          if (attempt === 3) throw error;
        }
      }
    },
    change(settings) {
      const file = path.join(host.folder, 'data', 'Machine', 'settings.json');
      const before = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
      writeFileSync(file, JSON.stringify({ ...before, ...settings }));
    },
    panel: () =>
      page.locator('iframe.webview.ready').last().contentFrame().frameLocator('#active-frame'),
    async screenshot(name) {
      await page.screenshot({ path: path.join(screens, `${name}.png`), animations: 'disabled' });
    },
  };
}
