import assert from 'node:assert/strict';
import type { Result } from '../../src/results/result';
import { withFolder } from '../load/cliFolder';
import { sideBySide } from '../fakes/sideBySide';
import { assertConsistent, loadRun, onlyStep } from '../load/loadRun';
import { MadeRecording } from '../unit/record/analyse/madeRecording';
import { sharedAspNetServer } from './aspnetServer';

const connections = 4;
const ended = /^the server closed the connection and allows no reconnect$/;

describe('a hub in ASP.NET Core that ends connections by Context.Abort()', function () {
  const server = sharedAspNetServer();
  const ownHub = (): string => new URL('/own', server.url).href;
  /** One call of each: it is closed long before its next one, and before the step ends. */
  const once = { sendingInterval: '2s' };
  const config = {
    ...{ connections, skipNegotiation: false, repair: true, reconnectPolicy: 'atOnce' },
    ...{ singleStepDuration: '5s', warmup: 0, drain: '300ms' },
  };

  const beside = sideBySide();

  for (const transport of ['Websockets', 'ServerSentEvents', 'LongPolling'])
    for (const driver of ['native', 'sdk'])
      beside(`ends each once and for good, over ${transport}, driver ${driver}`, async () => {
        const run = await loadRun({
          ...{ target: ownHub(), useCase: 'invoke', keepGoing: true },
          parameters: { ...once, messageSize: undefined, method: 'Leave', reply: 'none' },
          config: { ...config, transport, driver },
        });
        assert.deepEqual(run.errors, { closed: connections });
        const { connected, dropped, reconnected } = run.connections;
        assert.deepEqual([connected, dropped, reconnected], [connections, connections, 0]);
        for (const { text } of run.errorExamples) assert.match(text, ended);
        assert.equal(onlyStep(run).sent, connections);
        assertConsistent(run);
      });

  beside('breaks off the session of each, which is not begun again', async () => {
    const steps = [{ call: 'Slow', arguments: [1] }, { call: 'Leave' }];
    const run = await loadRun({
      ...{ target: ownHub(), useCase: 'session', keepGoing: true },
      parameters: {
        ...{ messageSize: undefined, sendingInterval: undefined },
        ...{ sessionInterval: '2s', steps },
      },
      config,
    });
    assert.deepEqual(run.errors, { closed: connections });
    const { sessions, calls } = onlyStep(run);
    assert.deepEqual([sessions!.started, sessions!.brokenOff, sessions!.completed], [4, 4, 0]);
    assert.deepEqual(
      calls!.map(({ sent, received }) => [sent, received]),
      [
        [connections, connections],
        [connections, 0],
      ],
    );
    assertConsistent(run);
  });

  it(
    'ends the clients of a replay, with the words of the server',
    withFolder(async (folder) => {
      const made = new MadeRecording();
      made.open(1, { path: '/own' }).at(10).call(1, 'Slow', [1], { result: 1 });
      made.at(40).call(1, 'Leave', [], { result: null });
      // Late enough that a busy machine has seen the end before.
      made.at(3000).call(1, 'Slow', [2], { result: 2 });
      const { header, events } = made.recording;
      const lines = [header, ...(events as readonly object[])].map((line) => JSON.stringify(line));
      folder.write('own.recording.jsonl', `${lines.join('\n')}\n`);
      const run = ['run', 'own.recording.jsonl', '--target', ownHub(), '--clients', 'x5', '--json'];
      const { stdout, stderr } = await folder.run([...run, '--set', 'slo.p99=1m']);
      assert.notEqual(stdout, '', stderr);
      const result = JSON.parse(stdout) as Result;
      assert.equal(result.connections.dropped, 5);
      assert.deepEqual(result.errors, { closed: 5 });
      for (const { text } of result.errorExamples) assert.match(text, ended);
      const [step] = result.steps;
      assert.deepEqual(
        step!.calls!.map(({ name, sent, received }) => [name, sent, received]),
        [
          ['Slow', 5, 5],
          ['Leave', 5, 0],
        ],
      );
    }),
  );
});
