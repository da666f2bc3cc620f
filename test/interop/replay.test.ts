import assert from 'node:assert/strict';
import type { Result } from '../../src/results/result';
import { withFolder } from '../load/cliFolder';
import { MadeRecording } from '../unit/record/analyse/madeRecording';
import { sharedAspNetServer } from './aspnetServer';

describe('a replay against a real ASP.NET Core hub', function () {
  const server = sharedAspNetServer();

  it(
    'gets the answers, streams and errors that its clients got',
    withFolder(async (folder) => {
      const made = new MadeRecording();
      const down = { type: 2, invocationId: '9' };
      const broken = { invocationId: 'broken', target: 'Broken', arguments: [2] };
      const endless = { invocationId: 'endless', target: 'Counter', arguments: [1000, 20] };
      made.open(1, { path: '/own' }).at(10).call(1, 'Slow', [10], { result: 10 });
      made.at(20).stream(1, 'Counter', [3, 1], [0, 1, 2]);
      made.at(30).out(1, { type: 4, ...broken });
      for (const item of [0, 1]) made.in(1, { type: 2, invocationId: 'broken', item });
      made.in(1, { type: 3, invocationId: 'broken', error: 'the machine is out of order' });
      made
        .at(40)
        .out(1, { type: 4, ...endless })
        .at(60);
      made.in(1, { type: 2, invocationId: 'endless', item: 0 });
      made.at(100).out(1, { type: 5, invocationId: 'endless' });
      made.at(110).in(1, { type: 3, invocationId: 'endless' });
      const upload = { type: 1, invocationId: '7', target: 'Upload', arguments: [] };
      made.at(120).out(1, { ...upload, streamIds: ['8'] });
      const text = 'x'.repeat(40);
      for (const number of [0, 1, 2])
        made.wait(10).out(1, { type: 2, invocationId: '8', item: { number, text } });
      made.wait(1).out(1, { type: 3, invocationId: '8' });
      made.wait(1).in(1, { type: 3, invocationId: '7', result: null });
      // Up and down at once; the hub gives each word back with the mark.
      const shout = { type: 4, invocationId: '9', target: 'Shout', arguments: ['!'] };
      made.at(160).out(1, { ...shout, streamIds: ['10'] });
      for (const item of ['a', 'b'])
        made.out(1, { type: 2, invocationId: '10', item }).in(1, { ...down, item: `${item}!` });
      made.out(1, { type: 3, invocationId: '10' }).in(1, { type: 3, invocationId: '9' });
      // Items count only while the step is measured: a busy machine has time for those before.
      made.at(2500).call(1, 'Slow', [0], { result: 0 });
      const { header, events } = made.recording;
      const lines = [header, ...(events as readonly object[])].map((line) => JSON.stringify(line));
      folder.write('own.recording.jsonl', `${lines.join('\n')}\n`);
      const target = new URL('/own', server.url).href;
      const run = ['run', 'own.recording.jsonl', '--target', target, '--clients', 'x5', '--json'];
      const { code, stdout, stderr } = await folder.run([...run, '--set', 'slo.p99=1m']);
      assert.equal(code, 0, stderr);
      const [step] = (JSON.parse(stdout) as Result).steps;
      assert.deepEqual(step!.errors, {});
      const counts = step!.calls!.map(({ name, sent, received, came }) => [
        ...[name, sent, received],
        ...(came === undefined ? [] : [came]),
      ]);
      // How many items come before a stream is cancelled is a matter of time.
      const [counterItems] = counts.splice(
        counts.findIndex(([name]) => name === 'Counter items'),
        1,
      );
      assert.deepEqual(counterItems!.slice(0, 3), ['Counter items', 0, 0]);
      assert.ok(Number(counterItems![3]) >= 3 * 5, String(counterItems![3]));
      assert.deepEqual(counts, [
        ['Slow', 10, 10],
        ['Counter', 10, 10],
        ['Broken', 5, 5],
        ['Upload', 5, 5],
        ['Upload items sent', 15, 0],
        ['Shout', 5, 5],
        ['Shout items sent', 10, 0],
        ['Broken items', 0, 0, 10],
        ['Shout items', 0, 0, 10],
      ]);
    }),
  );
});
