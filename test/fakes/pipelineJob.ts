import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export interface Step {
  readonly name?: string;
  readonly displayName?: string;
  readonly run?: string;
  readonly bash?: string;
  readonly uses?: string;
  readonly task?: string;
  readonly publish?: string;
  readonly artifact?: string;
  readonly if?: string;
  readonly condition?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
  readonly inputs?: Readonly<Record<string, string>>;
}

/** The first YAML block of a document that has the word. */
export function blockOf(file: string, word: string): unknown {
  const text = readFileSync(file, 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const found = blocks.find((block) => block.includes(word));
  assert.ok(found, word);
  return parse(found);
}

/** What a runner of GitHub or Azure does with steps, for those that the pipelines of the documents have. */
export class PipelineJob {
  /** What the steps have written to the log. */
  log = '';

  constructor(
    private readonly places: {
      /** The clone that the steps run in. */
      readonly repository: string;
      /** What outlives a job: the cache, or the artefacts of the main branch. */
      readonly kept: string;
      readonly environment: NodeJS.ProcessEnv;
    },
  ) {}

  /** Steps after a failure run only when they say so. Returns the names of those that failed, each with code and last words. */
  async run(
    steps: readonly Step[],
    values: Readonly<Record<string, string>>,
    env: NodeJS.ProcessEnv,
    of: 'main' | 'pullRequest' = 'pullRequest',
  ): Promise<string[]> {
    const { repository, environment } = this.places;
    const filled = (text: string): string =>
      text.replace(/\$\{\{ *([^}]+?) *\}\}|\$\(([^)]+)\)/g, (_all, one: string, two: string) => {
        const name = one || two;
        assert.ok(name in values, name);
        return values[name]!;
      });
    const failed: string[] = [];
    for (const step of steps) {
      const { name = '', displayName = name, run, bash = run } = step;
      const when = `${step.if ?? ''}${step.condition ?? ''}`;
      if (failed.length > 0 && !/always\(\)|succeededOrFailed\(\)/.test(when)) continue;
      if (otherBranch(when, of) || emptyInput(when, values)) continue;
      if (this.keeps(step, filled)) continue;
      const { report_paths: cases, path: kept } = step.with ?? {};
      const { testResultsFiles } = step.inputs ?? {};
      for (const needed of [cases, kept, testResultsFiles, step.publish])
        if (needed !== undefined) assert.ok(existsSync(path.join(repository, needed)), needed);
      if (bash === undefined) continue;
      const own = Object.entries(step.env ?? {}).map(([key, value]) => [key, filled(value)]);
      const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', bash], {
        cwd: repository,
        env: { ...environment, ...env, ...(Object.fromEntries(own) as NodeJS.ProcessEnv) },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number];
      if (code !== 0) failed.push(`${displayName} ${code}: ${said.trim().split('\n').at(-1)}`);
    }
    return failed;
  }

  /** Whether the step fetches or keeps results, which is done here. */
  private keeps(step: Step, filled: (text: string) => string): boolean {
    const { repository, kept } = this.places;
    const { uses = '', task, publish, artifact } = step;
    const fetches = uses.startsWith('actions/cache/restore@') || task?.startsWith('Download');
    const keeps = uses.startsWith('actions/cache/save@') || artifact === 'results';
    if (!fetches && !keeps) return false;
    const named = filled(step.with?.['path'] ?? step.inputs?.['path'] ?? publish ?? '');
    const here = path.join(repository, named);
    if (keeps) {
      rmSync(kept, { recursive: true, force: true });
      cpSync(here, kept, { recursive: true });
    } else if (existsSync(kept)) cpSync(kept, here, { recursive: true });
    return true;
  }
}

/** Whether a condition asks for the other of the two. */
function otherBranch(condition: string, of: 'main' | 'pullRequest'): boolean {
  const main = /refs\/heads\/main|!= 'pull_request'/.test(condition);
  const pullRequest = /== 'pull_request'|'PullRequest'/.test(condition);
  return of === 'main' ? pullRequest : main;
}

function emptyInput(condition: string, values: Readonly<Record<string, string>>): boolean {
  const [, filledIn] = /(inputs\.\w+) != ''/.exec(condition) ?? [];
  const [, switchedOn] = /(inputs\.\w+) == 'true'/.exec(condition) ?? [];
  return (
    (filledIn !== undefined && !values[filledIn]) ||
    (switchedOn !== undefined && values[switchedOn] !== 'true')
  );
}
