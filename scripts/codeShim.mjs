#!/usr/bin/env node
// Takes the arguments that @vscode/test-electron gives the desktop program, runs the tests in the server
// of .vscode-host with its workbench in Chromium, and ends with their exit code.
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { createHost, launchChromium, stillContext } from './vscodeHost.mjs';

/** Exit codes of our own; tests end with 0 or 1. */
const exitCodes = { pageCrashed: 96, failed: 97, timedOut: 98 };
const limitMs = Number(process.env.VSCODE_TEST_LIMIT_MS ?? 600_000);
/** What every start of the workbench says, tests or not. */
const noise =
  /^(Resolv(ing|ed) connection|Creating a socket|\[reconnection|\[Service Worker|Ignoring fetching|\[AgentHost|\[AccountPolicy|Updating additional|\[ChatModel|Timed out waiting for authentication provider)|bindings file\. Tried|native-watchdog|\[LocalProcessExtensionHost/;

/** @returns {{ extensions: string[], tests: string, folder: string | undefined }} */
function readArguments(words) {
  const extensions = [];
  let tests;
  let folder;
  for (const word of words) {
    const option = /^--([A-Za-z-]+)(?:=(.*))?$/s.exec(word);
    if (option === null) folder ??= word;
    else if (option[1] === 'extensionDevelopmentPath') extensions.push(option[2]);
    else if (option[1] === 'extensionTestsPath') tests = option[2];
    // The rest describes a window there is none of, and a profile the host makes itself.
  }
  if (tests === undefined || extensions.length === 0) {
    throw new Error('--extensionDevelopmentPath and --extensionTestsPath are needed');
  }
  return { extensions, tests, folder };
}

/** Settles with the exit code of the tests that the page runs. */
async function testsIn(page, host, { extensions, tests, folder }) {
  const ended = new Promise((resolve) => {
    page.once('crash', () => resolve(exitCodes.pageCrashed));
    // The workbench calls these two: what the extension host prints, and its end.
    void page.exposeFunction('codeAutomationExit', (code) => resolve(code));
  });
  await page.exposeFunction('codeAutomationLog', (type, words) => {
    if (process.env.VSCODE_TEST_VERBOSE === undefined && noise.test(String(words[0]))) return;
    const print = type === 'error' || type === 'warn' ? console.error : console.log;
    print(...words);
  });
  const payload = extensions.map((one) => ['extensionDevelopmentPath', host.uri(one)]);
  payload.push(['extensionTestsPath', host.uri(tests)], ['skipWelcome', 'true']);
  await page.goto(host.url(folder, payload));

  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs, exitCodes.timedOut);
  });
  const code = await Promise.race([ended, late]);
  clearTimeout(timer);
  if (code === exitCodes.timedOut) {
    const file = path.join(host.folder, 'timeout.png');
    await page.screenshot({ path: file });
    console.error(`The tests had not ended after ${limitMs} ms; ${file} shows the workbench.`);
  }
  return code;
}

async function main() {
  const wanted = readArguments(process.argv.slice(2));
  // In a browser files are saved a second after an edit: what one test types would be what the next one runs.
  const host = createHost({ forTests: true, settings: { 'files.autoSave': 'off' } });
  let browser;
  let code = exitCodes.failed;
  try {
    await host.start();
    browser = await launchChromium({ editor: true });
    // No larger than what the tests need: every pixel is drawn without a GPU.
    const context = await stillContext(browser, { viewport: { width: 800, height: 600 } });
    code = await testsIn(await context.newPage(), host, wanted);
  } catch (error) {
    console.error(error);
  } finally {
    await browser?.close();
    await host.stop();
  }
  const keptLog = process.env.VSCODE_TEST_SERVER_LOG;
  if (keptLog !== undefined) copyFileSync(host.serverLog, keptLog);
  if (code === 0 || code === 1) host.remove();
  else console.error(`The log of the server is ${host.serverLog}.`);
  return code;
}

process.exit(await main());
