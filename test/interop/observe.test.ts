import assert from 'node:assert/strict';
import { withFolder } from '../load/cliFolder';
import { scenarioText } from '../load/loadRun';
import { requireAspNet, startAspNetServer, type AspNetServer } from './aspnetServer';

describe('metrics of a real ASP.NET Core server', function () {
  // Alone with it: it counts the connections of others, too.
  let server: AspNetServer | undefined;

  before(async function () {
    requireAspNet(this);
    // More threads of its own accord would empty the queue again, sooner or later.
    server = await startAspNetServer({}, '0x8');
  });

  after(() => server?.dispose());

  it(
    'are read beside the load, and the verdict says that a method which blocks threads made their queue grow',
    withFolder(async (folder) => {
      const callers = 240;
      const block = { call: 'Block', arguments: [20], reply: 'completion' };
      folder.write(
        'blocked.signalr.yaml',
        scenarioText({
          target: new URL('/own', server!.url).href,
          useCase: 'session',
          parameters: {
            ...{ messageSize: undefined, sendingInterval: undefined },
            // One caller after the other joins those that wait for a thread: how fast the machine is does not matter.
            ...{ sessionInterval: '10s', steps: [{ repeat: 1000, steps: [block] }] },
          },
          config: {
            ...{ connections: callers, singleStepDuration: '10s', warmup: 0 },
            observe: [{ prometheus: new URL('/metrics', server!.url).href }],
          },
        }),
      );
      const { stdout, stderr } = await folder.run(['run', 'blocked.signalr.yaml', '--out', 'runs']);
      const { observed, steps } = folder.result('runs');
      const seen = new Map(observed!.series.map((series) => [series.name, series.steps[0]!]));
      assert.match(
        `${stdout}${stderr}`,
        /the server's thread-pool queue grew from second \d on/,
        JSON.stringify(observed!.series.find(({ name }) => name === 'queue')),
      );
      assert.deepEqual([steps[0]!.lost, steps[0]!.errors, observed!.problems], [0, {}, []]);
      assert.equal(seen.get('connections')!.max, callers);
      const [cpu, gcPause, gcCollections, memory, heap, threads] = (
        ['cpu', 'gcPause', 'gcCollections', 'memory', 'heap', 'threads'] as const
      ).map((name) => seen.get(name)!.max) as [number, number, number, number, number, number];
      assert.ok(cpu >= 0 && cpu <= 1.1 && gcPause >= 0 && gcPause <= 1, `${cpu} ${gcPause}`);
      assert.ok(memory > 10e6 && heap > 1e5 && heap < memory, `${memory} ${heap}`);
      assert.ok(threads >= 1 && gcCollections >= 0, `${threads} ${gcCollections}`);
    }),
  );
});
