import {
  lstat,
  open,
  realpath,
  type FileHandle,
  rename,
  unlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';

/** Files that a scenario or a tool names: judged by where they lie, not by how they are written. */

const isInside = (way: string): boolean => !/^\.\.(?:[\\/]|$)/.test(way) && !path.isAbsolute(way);

/** The way to a file of a folder without links and dots; undefined when it lies elsewhere. @throws what the system says */
export async function relativePathInside(
  folder: string,
  name: string,
): Promise<string | undefined> {
  const [root, file] = await Promise.all([realpath(folder), realpath(path.resolve(folder, name))]);
  const way = path.relative(root, file);
  return isInside(way) ? way : undefined;
}

/**
 * A name below the folder has to lead there: a folder from somebody else may hold a link to any file of its reader.
 * @throws ExpectedError `scenario-file` for such a link, else what the system says
 */
export async function openInFolder(folder: string, name: string): Promise<FileHandle> {
  const file = path.resolve(folder, name);
  const handle = await open(file, 'r');
  try {
    if (isInside(path.relative(folder, file)) && !(await liesInside(handle, folder, name)))
      throw new ExpectedError(
        'scenario-file',
        `${file} cannot be read: a link leads out of the folder of the scenario. Put the file itself there.`,
      );
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** By what was opened: the link may lead elsewhere by now. */
async function liesInside(handle: FileHandle, folder: string, name: string): Promise<boolean> {
  const way = await relativePathInside(folder, name);
  if (way === undefined) return false;
  const [opened, there] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(path.join(folder, way), { bigint: true }),
  ]);
  return opened.dev === there.dev && opened.ino === there.ino;
}

/** Files that are written: whole or not at all, and through no link that somebody has put there. */

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
