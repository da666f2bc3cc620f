/** Files that are written: whole or not at all, and through no link that somebody has put there. */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, open, rename, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A link of that name is replaced, and what it leads to stays. @throws what the system says */
export async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (isStream(file, found)) return writeFile(file, content);
  // No name that somebody could have taken before.
  const fresh = path.join(path.dirname(file), `.${randomUUID()}.new`);
  const handle = await open(fresh, 'wx', found?.isFile() ? found.mode : 0o666);
  try {
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (error) {
    await unlink(fresh).catch(() => undefined);
    throw error;
  }
}

/** @throws `EEXIST` where something is, a link too; else what the system says */
export const createFile = (file: string, content: string): Promise<void> =>
  writeFile(file, content, { flag: 'wx' });

/** What is there to be written to, such as /dev/stdout, which is a link, or a pipe. */
function isStream(file: string, found: Stats | undefined): boolean {
  if (/^(?:\/(?:dev|proc)\/(?!shm\/)|\\\\\.\\)/.test(path.resolve(file))) return true;
  return found !== undefined && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory();
}
