import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Result } from '../../src/results/result';
import { runCli, startCli, type CliProcess, type CliResult } from '../fakes/loadCli';
import { scenarioText, type LoadTest } from './loadRun';

/** A folder of its own to run command lines in, far from the repository. */
export class CliFolder {
  readonly path = mkdtempSync(path.join(tmpdir(), 'signalr-bench-load-'));

  dispose(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Writes a scenario file; returns its name. */
  scenario(name: string, test: LoadTest): string {
    return this.write(name, scenarioText(test));
  }

  write(name: string, content: string | Uint8Array): string {
    writeFileSync(path.join(this.path, name), content);
    return name;
  }

  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliResult> {
    return runCli(args, { cwd: this.path, env });
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
    return startCli(args, { cwd: this.path, env });
  }

  /** Path of the only result folder below `out`, relative to this folder. */
  onlyResult(out: string): string {
    const folders = readdirSync(path.join(this.path, out));
    assert.equal(folders.length, 1, `result folders: ${folders.join(', ')}`);
    return path.join(out, folders[0]!);
  }

  read(...parts: string[]): string {
    return readFileSync(path.join(this.path, ...parts), 'utf8');
  }

  /** The stored result of the only run below `out`. */
  result(out: string): Result {
    return JSON.parse(this.read(this.onlyResult(out), 'result.json')) as Result;
  }
}

/** A test body with a folder of its own, which goes with it. */
export function withFolder(body: (folder: CliFolder) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = new CliFolder();
    try {
      await body(folder);
    } finally {
      folder.dispose();
    }
  };
}
