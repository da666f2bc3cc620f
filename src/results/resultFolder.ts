import { mkdir, open, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { trimEndCharacters } from '../base/text';
import type { Snapshot } from '../measure/snapshot';
import { dropAgents } from '../measure/snapshotHistory';
import { createFile, replaceFile } from './safeFiles';
import type { Result } from './result';

export const resultFile = 'result.json';
export const scenarioFile = 'scenario.yaml';
export const samplesFile = 'samples.jsonl';

interface ResultFolderOptions {
  readonly directory: string;
  readonly scenarioName: string;
  /** Text of `scenario.yaml`, without secrets. */
  readonly scenarioText: string;
  readonly startedAt: Date;
  /** Called once when samples can no longer be written, and when the result cannot be. */
  onWarning(message: string): void;
}

/** Written while the run goes on; a disk that fills up during it is a warning, not an end. */
export class ResultFolder {
  private lastTick = -1;
  private lastStepOver = 0;
  private broken = false;
  private writing: Promise<void> = Promise.resolve();

  private constructor(
    readonly path: string,
    private readonly samples: FileHandle,
    private readonly onWarning: (message: string) => void,
  ) {}

  get id(): string {
    return path.basename(this.path);
  }

  /** @throws ExpectedError `result-folder` when it cannot be made or written */
  static async create(options: ResultFolderOptions): Promise<ResultFolder> {
    try {
      const folder = await makeUnique(options);
      await createFile(path.join(folder, scenarioFile), options.scenarioText);
      const samples = await open(path.join(folder, samplesFile), 'ax');
      return new ResultFolder(folder, samples, (message) => options.onWarning(message));
    } catch (error) {
      throw new ExpectedError(
        'result-folder',
        `The result cannot be written below ${options.directory} (${describeFileError(error)}).`,
        { cause: error },
      );
    }
  }

  /** Adds a line for each tick, and one for the end of each step, which lies between ticks; returns at once. */
  appendSample(snapshot: Snapshot): void {
    const { tick, step } = snapshot;
    const stepEnds = step?.over === true && step.index > this.lastStepOver;
    if (this.broken || (tick <= this.lastTick && !stepEnds)) return;
    this.lastTick = tick;
    if (stepEnds) this.lastStepOver = step.index;
    const line = `${JSON.stringify(dropAgents(snapshot))}\n`;
    this.writing = this.writing.then(async () => {
      if (this.broken) return;
      try {
        await this.samples.appendFile(line);
      } catch (error) {
        this.broken = true;
        this.onWarning(
          `Samples can no longer be written to ${this.path} (${describeFileError(error)}); the run goes on.`,
        );
      }
    });
  }

  /** Writes `result.json` in one go: it is either whole or not there. Returns whether it is there. */
  async writeResult(result: Result): Promise<boolean> {
    await this.writing;
    try {
      const text = `${JSON.stringify(result, undefined, 2)}\n`;
      await replaceFile(path.join(this.path, resultFile), text);
      return true;
    } catch (error) {
      this.onWarning(`The result cannot be written to ${this.path} (${describeFileError(error)}).`);
      return false;
    }
  }

  async dispose(): Promise<void> {
    await this.writing;
    await this.samples.close().catch(() => undefined);
  }
}

async function makeUnique(options: ResultFolderOptions): Promise<string> {
  await makeFolders(path.resolve(options.directory));
  const name = resultFolderName(options.startedAt, options.scenarioName);
  for (let number = 1; number <= 1000; number++) {
    const folder = path.resolve(options.directory, number === 1 ? name : `${name}-${number}`);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`there are 1,000 folders named ${name} already`);
}

/** Not by mkdir's `recursive`, which never returns where a folder answers "does not exist" below one that does, as in /proc. */
export async function makeFolders(folder: string): Promise<void> {
  const missing: string[] = [];
  let above = folder;
  while (!(await isFolder(above))) {
    missing.unshift(above);
    // A drive that is not there is its own parent.
    if (path.dirname(above) === above) break;
    above = path.dirname(above);
  }
  for (const each of missing) {
    try {
      await mkdir(each);
    } catch (error) {
      // Another run may have made it meanwhile.
      if (!(await isFolder(each))) throw error;
    }
  }
}

async function isFolder(location: string): Promise<boolean> {
  try {
    return (await stat(location)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** `2026-11-21T14-02-11-chat-room` (UTC): sorts by time, and is a file name on every system. */
export function resultFolderName(startedAt: Date, scenarioName: string): string {
  const time = startedAt.toISOString().slice(0, 19).replaceAll(':', '-');
  const name = path
    .basename(scenarioName)
    .replace(/(\.signalr)?\.ya?ml$/i, '')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .slice(0, 60)
    .replace(/^[-.]+/, '');
  return `${time}-${trimEndCharacters(name, '-.') || 'scenario'}`;
}

const fileProblems: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'read-only file system',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than this process may write (ulimit -f)',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file of that name is in the way',
  ENAMETOOLONG: 'the path is too long',
  EMFILE: 'too many open files',
  ENOENT: 'there is no such folder, and none can be made there',
  EISDIR: 'it is a folder',
};

export function describeFileError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return fileProblems[code ?? ''] ?? code ?? message;
}
