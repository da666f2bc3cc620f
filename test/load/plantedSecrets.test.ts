import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { hydrateMessage, storedSource } from '../../src/extension/panel/panelSession';
import { exporters } from '../../src/run/export/exporters';
import { exitCode } from '../../src/cli/exitCode';
import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import type { CliProcess, CliResult } from '../fakes/loadCli';
import { answering, Planted, plantScenario, textsBelow } from '../fakes/planted';
import { startRepeatingHub } from '../fakes/repeatingHub';
import { closedPort } from '../fakes/loadPeers';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { assertRan, CliFolder } from './cliFolder';

/** Arguments and environment of all processes below a process, as others on the machine see them. */
class Children {
  args = '';
  environment = '';
  /** How many were seen. */
  readonly seen = new Set<number>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly top: number) {
    this.timer = setInterval(() => this.look(), 50);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const parents = new Map<number, number>();
    for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
      const stat = this.read(name, 'stat');
      parents.set(Number(name), Number(/\) \S (\d+)/.exec(stat)?.[1]));
    }
    for (const pid of parents.keys()) {
      let at: number | undefined = pid;
      while (at !== undefined && at !== this.top) at = parents.get(at);
      if (at === undefined || pid === this.top) continue;
      const args = this.read(String(pid), 'cmdline');
      // Until it has become a program of its own, it has what its parent has.
      if (args === this.read(String(parents.get(pid)), 'cmdline')) continue;
      this.seen.add(pid);
      this.args += args;
      this.environment += this.read(String(pid), 'environ');
    }
  }

  private read(pid: string, name: string): string {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'latin1');
    } catch {
      return '';
    }
  }
}

const load = { connections: 4, baseSending: 4, step: 0, singleStepDuration: '400ms', warmup: 0 };
const crashes = [
  ['cli.js', 'throws', 1],
  ['thread', 'throws', 1],
  ['worker.js', 'SIGSEGV', 2],
  ['cli.js', 'SIGABRT', 1],
] as const;

interface Crash {
  /** Script of the process, or `thread`. */
  readonly program: string;
  /** A signal, or `throws`. */
  readonly how: string;
  /** Where the result is written to. */
  readonly out: string;
  /** Folder for a diagnostic report of Node. */
  readonly reports: string;
  readonly text: string;
}

/** Code for a process that reports on itself and dies as soon as something is kept of its run. */
const crashScript = (crash: Crash): string => `
  const { isMainThread } = require('node:worker_threads');
  const { existsSync, mkdirSync, readdirSync, statSync } = require('node:fs');
  const path = require('node:path');
  const { program, how, out, reports, text } = ${JSON.stringify(crash)};
  const samples = () => (existsSync(out) ? readdirSync(out) : [])
    .map((run) => path.join(out, run, 'samples.jsonl'));
  const isKept = (file) => existsSync(file) && statSync(file).size > 0;
  const die = () => {
    mkdirSync(reports, { recursive: true });
    process.report.directory = reports;
    process.report.writeReport();
    if (how === 'throws') throw new TypeError(text);
    process.kill(process.pid, how);
  };
  if (program === (isMainThread ? path.basename(process.argv[1] ?? '') : 'thread'))
    setInterval(() => samples().some(isKept) && die(), 50).unref();
`;

const echo = { name: 'echo', parameters: { sendingInterval: '100ms' } };

describe('planted secrets', function () {
  let folder: CliFolder;
  let hub: HubHere;

  beforeEach(async () => {
    folder = new CliFolder();
    hub = await startHubHere();
  });
  afterEach(async () => {
    await hub.dispose();
    folder.dispose();
  });

  /** Runs to the end. @returns what it said, and what was seen of its children */
  async function ran(args: readonly string[], env = {}): Promise<[CliResult, Children]> {
    const started: CliProcess = folder.start(args, env);
    const children = new Children(started.child.pid!);
    const result = await started.finished;
    children.stop();
    return [result, children];
  }

  /** What is kept of a run, and all that can be made of it. */
  async function madeOf(out: string): Promise<string> {
    const result = folder.onlyResult(out);
    const at = path.join(folder.path, result);
    const texts = [textsBelow(at)];
    for (const { name } of exporters) {
      const { stdout, stderr } = await folder.run(['export', result, '--format', name]);
      texts.push(`export ${name}\n`, stdout, stderr);
    }
    for (const args of [
      ['show', result],
      ['show', '--summary', result],
      ['compare', result, result],
    ]) {
      const { stdout, stderr } = await folder.run(args);
      texts.push(args[0]!, stdout, stderr);
    }
    const nothing = (): void => undefined;
    const orders = {
      runAgain: nothing,
      stop: nothing,
      openScenario: nothing,
      copySummary: nothing,
    };
    // All that a page gets; what it draws is a part of it.
    texts.push(JSON.stringify(hydrateMessage(await storedSource(at, orders))));
    return texts.join('\n');
  }

  it('in a scenario, in rows, and in the environment stay where they are when all goes well', async () => {
    const collector = await answering((_request, response) => response.writeHead(403).end('no'));
    const planted = await plantScenario(hub.url);
    const { scenario, comment, rows, env, literal, given } = planted;
    try {
      folder.write('rows.csv', rows);
      folder.write(
        's.yaml',
        comment + stringify({ ...scenario, config: { ...scenario.config, processes: 2 } }),
      );
      const args = ['run', 's.yaml', '--out', 'out', '--otlp', collector.url];
      const OTEL_EXPORTER_OTLP_HEADERS = `x-key=${encodeURIComponent(given.at('otlp header'))}`;
      const [run, children] = await ran(args, { ...env, OTEL_EXPORTER_OTLP_HEADERS });
      assertRan(run);
      assert.match(run.stderr, /warning: \S+ does not take metrics/);
      planted.assertArrived(collector.requests);
      const all = [run.stdout, run.stderr, await madeOf('out')].join('\n');
      assert.deepEqual(literal.foundIn(all), []);
      assert.deepEqual(given.foundIn(all), []);
      if (process.platform === 'linux') {
        assert.ok(children.seen.size >= 2);
        for (const each of [literal, given])
          assert.deepEqual(each.foundIn(children.args + children.environment), []);
      }
    } finally {
      await Promise.all([planted.dispose(), collector.dispose()]);
    }
  });

  it('are no argument and in no environment of the servers that a run starts', async () => {
    const planted = new Planted('run');
    const started = [
      ['default', startAzureSignalr, 'app-server'],
      ['pubsub', startWebPubSubEmulator, 'upstream'],
    ] as const;
    await Promise.all(
      started.map(async ([name, start, server]) => {
        const emulator = await start({ accessKeys: [planted.at(`access key of ${name}`)] });
        try {
          const config = {
            ...{ ...load, connectionString: '${env:SERVICE}', skipNegotiation: false },
            service: name === 'pubsub' ? 'webpubsub' : 'signalr',
            headers: { 'X-Gate': planted.at(`header of ${name}`) },
          };
          folder.write(`${name}.yaml`, stringify({ config, scenario: echo, slo: { p99: '60s' } }));
          const env = {
            SERVICE: emulator.connectionString,
            SIGNALR_BENCH_SECRET_OTHER: planted.at(`another secret of ${name}`),
          };
          const [run, children] = await ran(['run', `${name}.yaml`, '--out', name], env);
          assertRan(run);
          const kept = textsBelow(path.join(folder.path, name));
          assert.deepEqual(planted.foundIn(run.stdout + run.stderr + kept), []);
          if (process.platform === 'linux') {
            assert.ok(children.args.includes(server), children.args);
            assert.deepEqual(planted.foundIn(children.args + children.environment), [], name);
          }
        } finally {
          await emulator.dispose();
        }
      }),
    );
  });

  it('stay where they are when the hub says them back, refuses, or is not there', async () => {
    const planted = new Planted('bad');
    /** Repeats in its answer all that it was sent to get in. */
    const repeating = await answering((request, response) => {
      const said = [request.url, ...Object.values(request.headers)].join(' ');
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ error: said }));
    });
    const failing = await startRepeatingHub();
    const peers = [repeating.url, failing.url, await closedPort()];
    const one = async (url: string, index: number): Promise<void> => {
      const at = (place: string): string => planted.at(`${place} ${index}`);
      const config = {
        ...load,
        target: `${url}?code=${encodeURIComponent(at('query'))}`,
        accessToken: at('token'),
        headers: { 'X-Gate': at('header'), Cookie: `a=${at('cookie')}` },
        skipNegotiation: url === failing.url,
      };
      folder.write(`f${index}.yaml`, stringify({ config, scenario: echo }));
      const [run, children] = await ran(['run', `f${index}.yaml`, '--out', `out${index}`]);
      assert.notEqual(run.code, 0);
      const asked = await folder.run(['doctor', `f${index}.yaml`]);
      const all = [run, asked].flatMap(({ stdout, stderr }) => [stdout, stderr]);
      const out = `out${index}`;
      all.push(index === 0 ? await madeOf(out) : textsBelow(path.join(folder.path, out)));
      assert.deepEqual(planted.foundIn(all.join('\n')), [], url);
      // Not by saying nothing.
      if (index < 2) assert.match(run.stdout, /\(redacted\)/);
      assert.deepEqual(planted.foundIn(children.args + children.environment), []);
    };
    try {
      await Promise.all(peers.map(one));
    } finally {
      await Promise.all([repeating, failing].map((each) => each.dispose()));
    }
  });

  it('are in nothing that is left of a crash', async () => {
    const planted = new Planted('die');
    const env = { PLANTED: planted.at('env reference') };
    const target = `${hub.url}?code=${encodeURIComponent(planted.at('query'))}`;
    const accessToken = planted.at('token');
    const config = {
      ...{ ...load, singleStepDuration: '5s', target, accessToken },
      headers: { 'X-Gate': planted.at('header'), 'X-Env': '${env:PLANTED}' },
    };
    const one = async ([program, how, processes]: (typeof crashes)[number]): Promise<void> => {
      const name = `${program}-${how}`.replace('.', '-');
      const reports = path.join(folder.path, `${name}-reports`);
      folder.write(`${name}.yaml`, stringify({ config: { ...config, processes }, scenario: echo }));
      const text = `made to fail at ${target} with Bearer ${accessToken}`;
      const out = path.join(folder.path, name);
      const script = folder.write(`${name}.cjs`, crashScript({ program, how, out, reports, text }));
      // Worker processes get no variable that is not the product's.
      const NODE_OPTIONS = `--require ${JSON.stringify(path.join(folder.path, script))}`;
      const args = ['run', `${name}.yaml`, '--out', name];
      const { code, signal, stdout, stderr } = await folder.start(args, { ...env, NODE_OPTIONS })
        .finished;
      const said = stdout + stderr;
      if (program === 'cli.js' && how !== 'throws') assert.equal(signal, how, said);
      else {
        assert.equal(code, exitCode.defect, said);
        // Not by saying nothing.
        const why = how === 'throws' ? /made to fail at \S+\(redacted\)/ : `with signal ${how}`;
        assert.match(said, new RegExp(why), name);
      }
      const left = textsBelow(out);
      assert.match(left, /samples\.jsonl/, name);
      assert.deepEqual(planted.foundIn(said + left), [], name);
      const report = textsBelow(reports);
      assert.match(report, /"javascriptHeap"/, name);
      // A worker process has no secret in its environment; others leave it out where Node can.
      const isBare = program === 'worker.js' || 'excludeEnv' in process.report;
      assert.deepEqual(planted.foundIn(report), isBare ? [] : ['env reference'], name);
    };
    await Promise.all(crashes.map(one));
  });

  it('stay where they are with services, buses, baselines and files that are none', async () => {
    const planted = new Planted('svc');
    const connectionString = (at: string): string =>
      `Endpoint=http://127.0.0.1;Port=1;AccessKey=${planted.at(`access key of ${at}`)};Version=1.0;`;
    const service = (name: string, config: object): string =>
      folder.write(
        name,
        stringify({ config: { ...load, connectTimeout: '500ms', ...config }, scenario: echo }),
      );
    const userAt = (place: string): string =>
      `nats://u:${encodeURIComponent(planted.at(place))}@127.0.0.1:1`;
    service('signalr.yaml', {
      connectionString: connectionString('signalr'),
      service: 'signalr',
      hub: 'h',
    });
    service('pubsub.yaml', {
      connectionString: connectionString('pubsub'),
      service: 'webpubsub',
      hub: 'h',
    });
    folder.write('broken.yaml', `config:\n  accessToken: ${planted.at('broken')}\n  target: [\n`);
    const commands: readonly (readonly string[])[] = [
      ['run', 'signalr.yaml', '--out', 'o1', '--set', `config.headers.X-Key=${planted.at('set')}`],
      ['run', 'pubsub.yaml', '--out', 'o2'],
      ['doctor', 'signalr.yaml'],
      ['run', 'broken.yaml'],
      [
        'run',
        'signalr.yaml',
        '--set',
        `config.target=ftp://u:${planted.at('wrong target').replace(/[+/=]/g, '.')}@h`,
      ],
      ['agent', '--bus', userAt('bus of an agent')],
      ['agent', '--bus', `http://u:${encodeURIComponent(planted.at('bus that is none'))}@h`],
      ['run', 'signalr.yaml', '--on', 'hosts', '--agents', '1', '--bus', userAt('bus of a run')],
      ['attach', '3f9a2c1b', '--bus', userAt('bus that is watched')],
      [
        'record',
        '--target',
        `http://127.0.0.1:1/h?code=${encodeURIComponent(planted.at('recorded query'))}`,
        '--port',
        'x',
      ],
    ];
    const said: string[] = [];
    for (const args of commands) {
      const { code, stdout, stderr } = await folder.run(args, {
        SIGNALR_BENCH_BUS_WITHIN: '100ms',
        SIGNALR_BENCH_BUS_PASSWORD: planted.at(`bus password ${said.length}`),
      });
      assert.notEqual(code, 0, args.join(' '));
      said.push(args[0]!, stdout, stderr);
    }
    // All of them, the files that were written by hand left out.
    const kept = ['o1', 'o2'].filter((name) => readdirSync(folder.path).includes(name));
    const all = [...said, ...kept.map((name) => textsBelow(path.join(folder.path, name)))];
    assert.deepEqual(planted.foundIn(all.join('\n')), []);
  });
});
