import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { openObserver, type Observer, mostBytes } from '../../../../src/run/observe/openObserver';
import type { ObserveSpec } from '../../../../src/scenario/scenario';
import { english } from '../../../../src/base/text';
import { until } from '../../../fakes/until';

const context = {
  reference: (_kind: string, name: string) =>
    name === 'metrics' ? 'key-of-the-metrics' : undefined,
  readFile: () => Promise.reject(new Error('no file')),
  serverScript: '',
};

describe('the observer of a server', () => {
  const servers: http.Server[] = [];
  const observers: Observer[] = [];
  afterEach(() => {
    for (const observer of observers.splice(0)) observer.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(answer: http.RequestListener): Promise<string> {
    const server = http.createServer(answer).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
  }

  async function open(...specs: (Partial<ObserveSpec> & { url: string })[]) {
    const warnings: string[] = [];
    const observe = specs.map(
      (spec) => ({ kind: 'prometheus', series: [], ...spec }) as ObserveSpec,
    );
    const observer = await openObserver({ observe, insecureTls: false }, context, {
      warn: (text) => warnings.push(text),
      t: english,
    });
    observers.push(observer);
    return { observer, warnings };
  }

  it('reads it with the header it needs, from the beginning on', async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve(({ headers }, answer) => {
      seen.push(headers.authorization);
      answer.end('dotnet_thread_pool_queue_length 12\n');
    });
    const { observer, warnings } = await open({ url, authorization: 'Bearer ${secret:metrics}' });
    await until('it is read', () => observer.values()['queue'] === 12);
    assert.equal(seen[0], 'Bearer key-of-the-metrics');
    assert.deepEqual(warnings, []);
  });

  it('names the places of series where there are several', async () => {
    const [a, b] = await Promise.all(
      [1, 2].map((queue) =>
        serve((_, answer) => answer.end(`dotnet_thread_pool_queue_length ${queue}\n`)),
      ),
    );
    const { observer } = await open({ url: a! }, { url: b! });
    await until('it is read', () => Object.keys(observer.values()).length === 2);
    assert.deepEqual(observer.values(), {
      [`queue @ ${new URL(a!).host}`]: 1,
      [`queue @ ${new URL(b!).host}`]: 2,
    });
  });

  it('tells two endpoints of one host apart by their paths', async () => {
    const url = await serve(({ url: path = '' }, answer) =>
      answer.end(`dotnet_thread_pool_queue_length ${path.length}\n`),
    );
    const { observer } = await open({ url }, { url: url.replace('/metrics', '/other/metrics') });
    await until('it is read', () => Object.keys(observer.values()).length === 2);
    const { host } = new URL(url);
    assert.deepEqual(observer.values(), {
      [`queue @ ${host}/metrics`]: 8,
      [`queue @ ${host}/other/metrics`]: 14,
    });
  });

  it('keeps what it has read of one that fails in the middle of the run, and says so once', async () => {
    let answers = 0;
    const url = await serve((_, answer) => {
      answers += 1;
      if (answers === 1) answer.end('dotnet_thread_pool_queue_length 12\n');
      else answer.writeHead(500).end();
    });
    const { observer, warnings } = await open({ url });
    await until('it has failed', () => warnings.length > 0);
    assert.deepEqual(observer.values(), { queue: 12 });
    assert.match(warnings.join(), /^\S+ could not be read \(it answers with status 500\)\. [^,]+$/);
  });

  const failures: [string, http.RequestListener, RegExp][] = [
    ['refuses', (_, answer) => answer.writeHead(401).end('no'), /status 401/],
    [
      'goes elsewhere',
      (_, answer) => answer.writeHead(302, { location: '/a' }).end(),
      /status 302/,
    ],
    [
      'never ends',
      (_, answer) => {
        const part = Buffer.alloc(1024 * 1024, 'a');
        const more = (): void => {
          if (!answer.destroyed) answer.write(part, more);
        };
        more();
      },
      new RegExp(`more than ${mostBytes / 1024 / 1024} MB`),
    ],
    [
      'has a page in its place',
      (_, answer) => answer.end('<!doctype html>\n<title>Chat</title>\n'),
      /none of the metrics/,
    ],
    ['is binary', (_, answer) => answer.end(Buffer.alloc(1000, '\xff\x00')), /none of the metrics/],
    ['breaks off', (_, answer) => answer.write('a 1', () => answer.destroy()), /aborted|hang up/],
  ];
  for (const [name, answer, why] of failures)
    it(`says once of one that ${name} that it is not read`, async () => {
      const url = `${await serve(answer)}?key=hidden-value`;
      const { observer, warnings } = await open({ url });
      await until('it is read', () => warnings.length > 0);
      assert.match(warnings[0]!, why);
      assert.match(warnings[0]!, /The run goes on without what it says\./);
      assert.ok(!warnings[0]!.includes('hidden-value'));
      assert.deepEqual(observer.problems(), warnings);
      assert.deepEqual(observer.values(), {});
    });

  it('says of an absent one that it is not read', async () => {
    const url = await serve((_, answer) => answer.end());
    servers.splice(0)[0]!.close();
    const { warnings } = await open({ url });
    await until('it is read', () => warnings.length > 0);
    assert.match(warnings[0]!, /ECONNREFUSED|no answer/);
  });

  it('wants every secret that it names before the run', async () => {
    await assert.rejects(open({ url: 'http://127.0.0.1:1/', authorization: '${secret:other}' }), {
      code: 'missing-reference',
    });
  });
});
