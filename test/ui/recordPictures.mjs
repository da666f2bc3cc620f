// Takes pictures of a recording: the terminal while people use the chat, and the scenario in VS Code with the packed extension.
// Needs what test/ui/pictures.mjs needs, and `node scripts/packageVsix.mjs out/signalr-benchmark.vsix`.
// `node bench/ownersWalk.mjs --pictures docs/pictures` takes those of the documents.
//   node test/ui/recordPictures.mjs WALK-FOLDER PICTURES-FOLDER
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { launchChromium } from '../../scripts/vscodeHost.mjs';
import { smallPng } from './smallPng.mjs';

const require = createRequire(import.meta.url);
const { pictureSettings, startWorkbench } = require(path.resolve('out/test/ui/workbench.js'));

const [walk, folder] = process.argv.slice(2);
const scenario = 'chat.signalr.yaml';

function save(name, png) {
  const small = smallPng(png);
  writeFileSync(path.join(folder, `${name}.png`), small);
  process.stdout.write(`  ${name}.png  ${(small.length / 1024).toFixed(1)} KB\n`);
}

/** Bold and dim, as the command line writes them. */
const drawn = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('\x1b[1m', '<span class="bold">')
    .replaceAll('\x1b[2m', '<span class="dim">')
    .replaceAll('\x1b[0m', '</span>');

async function pictureOfTerminal() {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    await page.setContent(`<!doctype html><style>
      body { margin: 0; background: #181818; color: #ccc }
      pre { margin: 0; padding: 12px 16px; width: max-content; min-width: 80ch; font: 13px/18px 'DejaVu Sans Mono', monospace }
      .bold { color: #fff; font-weight: bold } .dim { color: #8b8b8b }
    </style><pre>${drawn(readFileSync(path.join(walk, 'terminal.txt'), 'utf8').trimEnd())}</pre>`);
    save('terminal', await page.locator('pre').screenshot());
  } finally {
    await browser.close();
  }
}

async function pictureOfScenario() {
  const workbench = await startWorkbench({ settings: pictureSettings });
  let failed = true;
  try {
    const { page, workspace } = workbench;
    cpSync(path.join(walk, scenario), path.join(workspace, scenario));
    await page.setViewportSize({ width: 1150, height: 1150 });
    await workbench.open(scenario);
    await page.locator('.codelens-decoration', { hasText: 'Unit' }).waitFor();
    await workbench.command('Notifications: Toggle Do Not Disturb Mode');
    await workbench.command('View: Toggle Primary Side Bar Visibility');
    await page.mouse.move(5, 5);
    await page.waitForTimeout(1200);
    save('recorded', await page.locator('.editor-instance').first().screenshot());
    failed = false;
  } finally {
    await workbench.close(failed);
  }
}

await pictureOfTerminal();
await pictureOfScenario();
