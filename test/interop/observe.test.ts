import assert from 'node:assert/strict';
import { openObserver } from '../../src/session/observe/openObserver';
import { english } from '../../src/base/text';
import { until } from '../fakes/until';
import { withFolder } from '../load/cliFolder';
import { loadRun, scenarioText } from '../load/loadRun';
import { sharedAspNetServer } from './aspnetServer';

describe('metrics of a real ASP.NET Core server', function () {
  const server = sharedAspNetServer();

  it('are read beside the load', async () => {
    const url = new URL('/metrics', server.url).href;
    const warnings: string[] = [];
    const context = {
      reference: () => undefined,
      readFile: () => Promise.reject(new Error('none')),
    };
    const observe = [{ kind: 'prometheus', url, series: [] }] as const;
    const observer = await openObserver({ observe, insecureTls: false }, context, {
      warn: (text) => warnings.push(text),
      t: english,
    });
    try {
      await loadRun({ useCase: 'echo', target: server.url });
      // Rates need two answers.
      await until('a rate is known', () => observer.values()['cpu'] !== undefined);
      const { cpu, gcPause, gcCollections, memory, heap, queue, threads } = observer.values();
      assert.ok(cpu! >= 0 && cpu! <= 1.1 && gcPause! >= 0 && gcPause! <= 1, `${cpu} ${gcPause}`);
      assert.ok(memory! > 10e6 && heap! > 1e5 && heap! < memory!, `${memory} ${heap}`);
      assert.ok(queue! >= 0 && threads! >= 1 && gcCollections! >= 0, `${queue} ${threads}`);
      assert.deepEqual(warnings, []);
    } finally {
      observer.close();
    }
  });

  it(
    'have its connections, and the verdict says that a method which blocks threads made their queue grow',
    withFolder(async (folder) => {
      const callers = 240;
      const block = { call: 'Block', arguments: [20], reply: 'completion' };
      folder.write(
        'blocked.signalr.yaml',
        scenarioText({
          target: new URL('/own', server.url).href,
          useCase: 'session',
          parameters: {
            ...{ messageSize: undefined, sendingInterval: undefined },
            // One caller after the other joins those that wait for a thread: how fast the machine is does not matter.
            ...{ sessionInterval: '10s', steps: [{ repeat: 1000, steps: [block] }] },
          },
          config: {
            ...{ connections: callers, singleStepDuration: '10s', warmup: 0 },
            observe: [{ prometheus: new URL('/metrics', server.url).href }],
          },
        }),
      );
      const { stdout, stderr } = await folder.run(['run', 'blocked.signalr.yaml', '--out', 'runs']);
      const { observed, steps } = folder.result('runs');
      const [queue, connections] = ['queue', 'connections'].map((wanted) =>
        observed!.series.find(({ name }) => name === wanted),
      );
      assert.match(
        `${stdout}${stderr}`,
        /the server's thread-pool queue grew from second \d on/,
        JSON.stringify(queue),
      );
      assert.deepEqual([steps[0]!.lost, steps[0]!.errors, observed!.problems], [0, {}, []]);
      assert.equal(connections!.steps[0]!.max, callers);
    }),
  );
});
