import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Ends the process of a preparation by what came of it. What cannot be had on this machine is said and succeeds, so that tests can be
 * skipped, but for CI=true; what was tried and went wrong is a failure everywhere.
 *
 * @param {string} name of what is prepared, as people read it
 * @param {string} readyFile is there where it worked out
 * @param {() => Promise<{ ready?: string, missing?: string, failed?: string }>} prepare gives what the file holds, or why there is none
 */
export async function conclude(name, readyFile, prepare) {
  rmSync(readyFile, { force: true });
  const { ready, missing, failed } = await prepare();
  if (ready !== undefined) {
    mkdirSync(path.dirname(readyFile), { recursive: true });
    writeFileSync(readyFile, ready);
    console.log(`${name}: ${ready}.`);
    return;
  }
  const isFailure = failed !== undefined || process.env.CI === 'true';
  console.log(`${name}: ${isFailure ? 'FAILED' : 'skipped'}, ${failed ?? missing}.`);
  process.exitCode = isFailure ? 1 : 0;
}
