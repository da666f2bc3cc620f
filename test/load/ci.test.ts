import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { blockOf, PipelineJob, type Step } from '../fakes/pipelineJob';
import { sideBySide } from '../fakes/sideBySide';

const loadTest = 'load/chat-room.signalr.yaml';

const scenario = (slo: string, duration = '2s'): string => `config:
  connections: 20
  arrivingRate: 200
  baseSending: 20
  singleStepDuration: ${duration}
  warmup: 0s
scenario:
  name: echo
  parameters: { sendingInterval: 200ms }
slo: { ${slo} }
`;

const named = (failed: readonly string[]): string[] => failed.map((each) => each.split(':')[0]!);

/** A job with its own repository and the tools from `packed`. */
class Job {
  readonly repository: string;
  private readonly runner: PipelineJob;

  constructor(tools: string, packed: string) {
    const home = mkdtempSync(path.join(tools, 'job-'));
    this.repository = path.join(home, 'repository');
    mkdirSync(path.join(this.repository, 'tools'), { recursive: true });
    mkdirSync(path.join(this.repository, 'load'));
    mkdirSync(path.join(home, 'bin'), { recursive: true });
    copyFileSync(packed, path.join(this.repository, 'tools', path.basename(packed)));
    this.write('package.json', '{}');
    this.write(loadTest, scenario('p99: 60s'));
    const gh = path.join(home, 'bin', 'gh');
    writeFileSync(gh, `#!/bin/sh\necho "$@" > gh.txt\ncp reports/comment.md gh.md\n`);
    chmodSync(gh, 0o755);
    const environment = {
      PATH: `${path.join(home, 'bin')}${path.delimiter}${process.env['PATH']}`,
      HOME: home,
      TMPDIR: tools,
      npm_config_prefix: home,
      npm_config_offline: 'true',
      npm_config_cache: path.join(home, 'cache'),
    };
    const { repository } = this;
    this.runner = new PipelineJob({ repository, kept: path.join(home, 'kept'), environment });
  }

  read(name: string): string {
    return readFileSync(path.join(this.repository, name), 'utf8');
  }

  write(name: string, text: string): void {
    writeFileSync(path.join(this.repository, name), text);
  }

  results(): string[] {
    return readdirSync(path.join(this.repository, '.signalr-bench'));
  }

  clean(): void {
    for (const left of ['.signalr-bench', 'reports', 'signalr-bench-reports'])
      rmSync(path.join(this.repository, left), { recursive: true, force: true });
  }

  /** @returns of each step that failed its name and code, and its last words */
  run(...args: Parameters<PipelineJob['run']>): Promise<string[]> {
    return this.runner.run(...args);
  }

  /** Runs of main, then of a pull request: the second is compared with the first, whatever comes of it. */
  async compares(
    steps: readonly Step[],
    values: Readonly<Record<string, string>>,
    env: NodeJS.ProcessEnv,
  ): Promise<void> {
    // Less than 10 s cannot be compared.
    this.write(loadTest, scenario('p99: 60s', '12s'));
    assert.deepEqual(await this.run(steps, values, env, 'main'), []);
    const skipped =
      /name="not worse than the baseline" [^>]*>\s*<skipped>there is no earlier result/;
    assert.match(this.read('reports/junit.xml'), skipped);
    this.clean();
    const failed = named(await this.run(steps, values, env));
    assert.ok(['', 'Run 1'].includes(failed.join()), failed.join());
    assert.match(this.read('reports/junit.xml'), /name="not worse than the baseline"/);
    assert.doesNotMatch(this.read('reports/junit.xml'), skipped);
    const row = /^### [^]*\| p50 \| [\d.]+ [mµ]s \| [\d.]+ [mµ]s \|/;
    assert.match(this.read('reports/comment.md'), row);
  }
}

describe('the pipelines of docs/ci.md', () => {
  let tools: string;
  let packed: string;

  before(async () => {
    tools = mkdtempSync(path.join(tmpdir(), 'signalr-bench-ci-'));
    const file = pathToFileURL(path.resolve('scripts/npmCommand.mjs')).href;
    const { npmCommand } = (await import(file)) as {
      npmCommand: () => { program: string; args: string[]; shell: boolean };
    };
    const npm = npmCommand();
    const args = [...npm.args, 'pack', '--json', '--ignore-scripts', '--pack-destination', tools];
    const answer = spawnSync(npm.program, args, { encoding: 'utf8', shell: npm.shell });
    assert.equal(answer.status, 0, answer.stderr);
    const [entry] = JSON.parse(answer.stdout) as [{ filename: string }];
    packed = path.join(tools, entry.filename);
  });

  after(() => {
    rmSync(tools, { recursive: true, force: true });
  });

  const itBeside = sideBySide();

  itBeside(
    'on GitHub run, publish cases and comment, also when an objective is missed',
    async () => {
      const job = new Job(tools, packed);
      const { jobs } = blockOf('docs/ci.md', 'runs-on:') as {
        jobs: { load: { env: Record<string, string>; steps: Step[] } };
      };
      const { env, steps } = jobs.load;
      const values = { 'github.token': 'key', 'github.event.pull_request.number': '7' };
      assert.deepEqual(await job.run(steps, values, env, 'main'), []);
      assert.match(job.read('reports/junit.xml'), /failures="0"/);
      assert.match(job.read('reports/chat-room.html'), /class="verdict pass"/);
      job.clean();
      job.write(loadTest, scenario('rate: 1000000, p99: 60s'));
      assert.deepEqual(named(await job.run(steps, values, env)), ['Run 1']);
      assert.match(job.read('reports/junit.xml'), /<failure type="slo-rate"/);
      assert.match(job.read('gh.md'), /\*\*✗ failed; /);
      assert.equal(
        job.read('gh.txt'),
        'pr comment 7 --body-file reports/comment.md --edit-last --create-if-none\n',
      );
      assert.equal(job.results().length, 2, 'that of main was there');
    },
  );

  itBeside('on Azure run, publish cases and comment', async () => {
    const job = new Job(tools, packed);
    const bodies: { url: string; key: string; body: string }[] = [];
    const server = createServer((message, response) => {
      let body = '';
      message.on('data', (chunk: Buffer) => (body += chunk.toString()));
      message.on('end', () => {
        const key = message.headers.authorization ?? '';
        bodies.push({ url: message.url ?? '', key, body });
        response.end('{}');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { variables, steps } = blockOf('docs/ci.md', 'vmImage:') as {
      variables: Record<string, string>;
      steps: Step[];
    };
    const env = {
      ...variables,
      SYSTEM_COLLECTIONURI: `http://127.0.0.1:${port}/`,
      SYSTEM_TEAMPROJECTID: 'project',
      BUILD_REPOSITORY_ID: 'repository',
      SYSTEM_PULLREQUEST_PULLREQUESTID: '7',
    };
    const values = { 'System.AccessToken': 'key' };
    await job.compares(steps, values, env);
    const comment = job.read('reports/comment.md');
    server.close();
    const [thread] = bodies;
    assert.equal(
      thread?.url,
      '/project/_apis/git/repositories/repository/pullRequests/7/threads?api-version=7.1',
    );
    assert.equal(thread.key, 'Bearer key');
    const { comments } = JSON.parse(thread.body) as { comments: { content: string }[] };
    assert.equal(comments[0]?.content, comment);
  });

  itBeside('can be one step by action.yml, which sums up and hands on the exit code', async () => {
    const job = new Job(tools, packed);
    const action = parse(readFileSync('action.yml', 'utf8')) as {
      inputs: Record<string, { default?: string }>;
      runs: { steps: Step[] };
    };
    const defaults = Object.entries(action.inputs).map(([name, input]) => [name, input.default]);
    const given = {
      ...(Object.fromEntries(defaults) as Record<string, string>),
      ...{ scenario: 'load/chat-room.signalr.yaml', target: 'local' },
      arguments: '--set\nscenario.parameters.messageSize=4 KB\n',
    };
    const values: Record<string, string> = {
      ...{ 'github.token': 'key', 'github.repository': 'owner/name' },
      'github.event.pull_request.number': '7',
      ...Object.fromEntries(
        Object.entries(given).map(([name, value]) => [`inputs.${name}`, value]),
      ),
    };
    const env = {
      GITHUB_ACTION_PATH: process.cwd(),
      GITHUB_STEP_SUMMARY: path.join(job.repository, 'summary.md'),
      GITHUB_OUTPUT: path.join(job.repository, 'output.txt'),
    };
    assert.deepEqual(await job.run(action.runs.steps, values, env), []);
    assert.equal(job.read('output.txt'), 'exit-code=0\n');
    assert.match(job.read('summary.md'), /load: echo, 4 KB /);
    assert.equal(job.read('summary.md'), job.read('signalr-bench-reports/comment.md'));
    assert.match(job.read('signalr-bench-reports/junit.xml'), /failures="0"/);
    const missing = { ...values, 'inputs.scenario': 'none.yaml' };
    assert.deepEqual(named(await job.run(action.runs.steps, missing, env)), ['Run 2']);
    assert.match(job.read('output.txt'), /exit-code=2\n$/);
    assert.equal(job.read('summary.md').split('load: echo, 4 KB ').length, 2);
  });

  it('find what they use in the example with the action', () => {
    const [step] = blockOf('docs/ci.md', 'uses: OWNER') as [Step];
    const { inputs } = parse(readFileSync('action.yml', 'utf8')) as { inputs: object };
    assert.deepEqual(
      Object.keys(step.with ?? {}).filter((name) => !(name in inputs)),
      [],
    );
  });
});
