import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runProgram, type CommandDeps } from '../../../src/cli/program';
import { fakeDeps, type Calls } from './fakeDeps';
import { fakeIo, type FakeOptions, type FakeIo } from './fakeIo';

export interface CommandLine {
  readonly folder: string;
  file(name: string, content: string | Uint8Array): Promise<string>;
  run(
    args: readonly string[],
    options?: FakeOptions & { readonly deps?: Partial<CommandDeps> },
  ): Promise<{ code: number; out: string; err: string; calls: Calls; process: FakeIo }>;
  dispose(): Promise<void>;
}

export async function commandLine(): Promise<CommandLine> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalr-bench-cli-'));
  return {
    folder,
    async file(name, content) {
      const file = path.join(folder, name);
      await writeFile(file, content);
      return file;
    },
    async run(args, { deps: change, ...options } = {}) {
      const process = fakeIo({ cwd: folder, ...options });
      const deps = fakeDeps(change);
      const code = await runProgram(args, process, deps);
      return { code, out: process.out(), err: process.err(), calls: deps.calls, process };
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}
