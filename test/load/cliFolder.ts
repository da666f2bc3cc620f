import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Result } from '../../src/results/result';
import {
  cliScript,
  startCli,
  startHere,
  type CliHere,
  type CliProcess,
  type CliResult,
} from '../fakes/loadCli';
import { scenarioText, type LoadTest } from './loadRun';

type Environment = Readonly<Record<string, string>>;

/** It came to its end: on a busy machine its load is late, and what was sent is judged all the same. */
export const assertRan = ({ code, stdout, stderr }: CliResult): void =>
  assert.ok(code === 0 || code === 4, stderr + stdout);

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

  /** In this process: what comes of the arguments and the files. */
  run(args: readonly string[], env: Environment = {}): Promise<CliResult> {
    return this.startHere(args, env).finished;
  }

  /** @param script of the servers that it starts */
  startHere(args: readonly string[], env: Environment = {}, script = cliScript): CliHere {
    // A process reads files where it runs.
    const inFolder = args.map((word) => path.join(this.path, word));
    const found = args.map((word, at) => (existsSync(inFolder[at]!) ? inFolder[at]! : word));
    return startHere(found, { cwd: this.path, env, script });
  }

  /** In a process of its own: exit codes, signals, streams, and what is bundled. */
  start(args: readonly string[], env: Environment = {}): CliProcess {
    return startCli(args, { cwd: this.path, env });
  }

  /** Takes out what a first try has left there, so that a second one leaves the only result. */
  empty(out: string): void {
    rmSync(path.join(this.path, out), { recursive: true, force: true });
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

  /** Settles when the samples below `out`, which come each second, hold the pattern; fails when the run is over. */
  async sampled(out: string, pattern: RegExp, finished: Promise<CliResult>): Promise<void> {
    let over: CliResult | undefined;
    void finished.then((result) => (over = result));
    const folder = path.join(this.path, out);
    for (;;) {
      const samples = (existsSync(folder) ? readdirSync(folder) : [])
        .map((name) => path.join(folder, name, 'samples.jsonl'))
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, 'utf8'));
      if (samples.some((text) => pattern.test(text))) return;
      if (over !== undefined) throw new Error(`no sample holds ${String(pattern)}: ${over.stderr}`);
      await setTimeout(50);
    }
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
