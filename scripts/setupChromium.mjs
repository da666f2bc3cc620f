// Finds a Chromium for the suites that show pages, or installs Debian's, as root.
import path from 'node:path';
import { apt, hasApt } from './apt.mjs';
import { root } from './nodeProgram.mjs';
import { conclude } from './outcome.mjs';
import { findChromium } from './vscodeHost.mjs';

const byHand = 'install Chromium, or name its program in CHROMIUM_PATH';

await conclude('Chromium', path.join(root, 'out', 'chromium.ready'), async () => {
  if (findChromium() !== undefined) return { ready: findChromium() };
  if (!(await hasApt())) return { missing: `there is none, nor apt: ${byHand}` };
  if (process.getuid?.() !== 0) return { missing: `there is none, and apt needs root: ${byHand}` };
  console.log('Chromium: installing by apt (420 MB, once) …');
  const problem = await apt(['install', '--yes', '--no-install-recommends', 'chromium']);
  if (problem !== undefined) return { failed: `apt could not install it: ${byHand}\n${problem}` };
  const ready = findChromium();
  return { ready, failed: `apt has installed no program of it: ${byHand}` };
});
