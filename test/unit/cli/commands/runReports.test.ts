import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ExpectedError } from '../../../../src/base/expectedError';
import type { CommandDeps } from '../../../../src/cli/program';
import type { Result } from '../../../../src/results/result';
import { sampleStep, sampleSummary } from '../../results/sampleResult';
import { commandLine, type CommandLine } from '../commandLine';
import { fakeRun } from '../fakeDeps';

describe('reports of a run', () => {
  let at: CommandLine;
  let file: string;
  beforeEach(async () => {
    at = await commandLine();
    file = await at.file('chat-room.yaml', 'mode: simple\n');
  });
  afterEach(() => at.dispose());

  const names = ['--html', 'out/report.html', '--md', 'out/comment.md', '--junit', 'junit.xml'];
  const text = (name: string): Promise<string> => readFile(path.join(at.folder, name), 'utf8');

  it('are written whatever the verdict, into folders that are made', async () => {
    const missed = sampleSummary({ steps: [sampleStep(1, { lost: 30_000 })] });
    for (const [summary, code] of [
      [sampleSummary(), 0],
      [missed, 1],
    ] as const) {
      const deps = { startRun: () => Promise.resolve(fakeRun({ summary })) };
      const run = await at.run(['run', file, ...names, '--json'], { deps });
      assert.equal(run.code, code);
      assert.equal((JSON.parse(run.out) as Result).steps.length, summary.steps.length);
      assert.match(
        run.err,
        /\nreport {4}out\/report\.html\nreport {4}out\/comment\.md\nreport {4}junit\.xml\n$/,
      );
      assert.match(
        await text('out/report.html'),
        code === 0 ? /class="verdict pass"/ : /verdict fail/,
      );
      assert.match(await text('out/comment.md'), /^### SignalR Benchmark: /);
      assert.equal(/<failure /.test(await text('junit.xml')), code === 1);
    }
  });

  it('say why there is no result, whatever kept the run from one, in place of those of the run before', async () => {
    const refuse = (code: string) => () =>
      Promise.reject(new ExpectedError(code, 'Nobody is at home: <b>call</b> again.'));
    const problem = { offset: 0, length: 1, severity: 'error', code: 'x', message: 'y' } as const;
    const cases: readonly (readonly [string[], Partial<CommandDeps>, number, RegExp])[] = [
      [['run', 'none.yaml'], {}, 2, /none\.yaml/],
      [['run', file, '--seed', 'x'], {}, 2, /option .*--seed.* Expected a whole number/],
      [['run', file, '--unheard-of'], {}, 2, /unknown option/],
      [
        ['run', file],
        { parseScenario: () => ({ problems: [problem] }) },
        2,
        /has 1 error to correct/,
      ],
      [['run', file], { openTarget: refuse('target-unreachable') }, 3, /Nobody is at home/],
      [['run', file], { openTarget: refuse('identities-unreachable') }, 3, /Nobody is at home/],
      [['run', file], { startRun: () => Promise.reject(new Error('a defect')) }, 5, /a defect/],
      [['run', file, '--baseline', 'nowhere'], {}, 2, /no result at/],
      [['run', file, '--tolerance', '5%'], {}, 2, /--tolerance belongs to/],
    ];
    for (const [words, deps, code, why] of cases) {
      for (const name of ['out/report.html', 'out/comment.md', 'junit.xml'])
        await at.file(name, 'of the job before').catch(() => undefined);
      const run = await at.run([...words, ...names], { deps });
      assert.equal(run.code, code, words.join(' '));
      assert.match(run.err, /\nreport {4}junit\.xml\n$/);
      const [html, md, xml] = await Promise.all(
        ['out/report.html', 'out/comment.md', 'junit.xml'].map(text),
      );
      assert.match(
        xml!,
        new RegExp(
          `<testcase[^>]*name="the run came to its end"[^>]*>\\s*<error type="interrupted" message="[^"]*${why.source}`,
        ),
      );
      assert.match(xml!, / errors="1"/);
      assert.match(md!, new RegExp(`^\\*\\*■ no result: .*`, 'm'));
      assert.match(html!, /class="verdict incomplete">.*<strong>no result: /);
      assert.doesNotMatch(html! + md!, /<b>call/);
    }
  });

  it('are those of a run without a result from its beginning on, for a process that dies', async () => {
    await at.file('junit.xml', 'of the job before');
    let meanwhile = '';
    const deps: Partial<CommandDeps> = {
      startRun: async () => {
        meanwhile = await text('junit.xml');
        return fakeRun({ summary: sampleSummary() });
      },
    };
    const { code, err } = await at.run(['run', file, ...names], { deps });
    assert.equal(code, 0);
    assert.match(meanwhile, /<error type="interrupted" message="the run ended without a result"/);
    assert.doesNotMatch(await text('junit.xml'), /interrupted/);
    assert.equal(err.split('report    junit.xml').length, 2);
  });

  it('are those of the options, not of a scenario whose name looks like one', async () => {
    await at.file('junit.xml', 'of the job before');
    const { code, err } = await at.run(['run', '--', '--junit=junit.xml']);
    assert.equal(code, 2);
    assert.match(err, /^There is no file --junit=junit\.xml/);
    assert.equal(await text('junit.xml'), 'of the job before');
  });

  it('are left alone where nothing is run', async () => {
    await at.file('junit.xml', 'of the job before');
    const { code } = await at.run(['run', '--help', '--junit', 'junit.xml']);
    assert.equal(code, 0);
    assert.equal(await text('junit.xml'), 'of the job before');
  });

  it('are a warning where they cannot be written: the verdict is the exit code', async () => {
    const { code, out, err } = await at.run([
      'run',
      file,
      '--html',
      file + '/x.html',
      '--junit',
      'a.xml',
    ]);
    assert.equal(code, 0);
    assert.match(out, /✓ passed/);
    assert.match(
      err,
      /\nwarning: \S+chat-room\.yaml\/x\.html cannot be written \(.+\)\.\nreport {4}a\.xml\n$/,
    );
  });

  it('are files of an export too, which fails where it cannot write', async () => {
    await at.run(['run', file]);
    const [id] = await readdir(path.join(at.folder, '.signalr-bench'));
    const folder = path.join(at.folder, '.signalr-bench', id!);
    const done = await at.run(['export', folder, '--format', 'html', '--out', 'a/b.html']);
    assert.deepEqual([done.code, done.out, done.err], [0, '', '']);
    assert.match(await text('a/b.html'), /^<!doctype html>/);
    const refused = await at.run(['export', folder, '--format', 'csv', '--out', `${file}/x.csv`]);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /x\.csv cannot be written/);
  });

  it('are pushed and served while it goes on', async () => {
    const pushes: string[] = [];
    const server = createServer((message, response) => {
      pushes.push(message.url ?? '');
      message.resume().on('end', () => response.writeHead(200).end());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const { code, err } = await at.run(['run', file, '--metrics-port', '0', '--otlp', url]);
    assert.equal(code, 0);
    assert.match(err, /^metrics {3}http:\/\/127\.0\.0\.1:\d+\/metrics\n/);
    assert.deepEqual(pushes, ['/v1/metrics']);
    const taken = await at.run(['run', file, '--metrics-port', String(port)]);
    assert.deepEqual([taken.code, taken.calls.runs.length], [2, 0]);
    assert.match(taken.err, /Choose another --metrics-port/);
    server.close();
  });

  it('take no address that is none, and no keys in it', async () => {
    for (const [url, said] of [
      ['localhost:4318', /--otlp wants a URL/],
      ['ftp://host', /--otlp wants a URL/],
      ['http://me:key@host', /OTEL_EXPORTER_OTLP_HEADERS/],
    ] as const) {
      const { code, err } = await at.run(['run', file, '--otlp', url]);
      assert.equal(code, 2);
      assert.match(err, said);
      assert.doesNotMatch(err, /me:key/);
    }
  });
});
