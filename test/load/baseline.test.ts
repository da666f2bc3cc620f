import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Result } from '../../src/results/result';
import { withHubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { withFolder } from './cliFolder';

describe('signalr-bench run --repeat and --baseline', () => {
  const itBeside = sideBySide();

  itBeside(
    'runs all steps as often as asked, on the same connections',
    withFolder((folder) =>
      withHubHere('', async ({ url }) => {
        folder.scenario('repeat.yaml', {
          target: url,
          config: {
            ...{ connections: 20, baseSending: 10, step: 10, repeat: 3 },
            ...{ singleStepDuration: '1s', warmup: '200ms', drain: '2s' },
          },
          parameters: { sendingInterval: '100ms' },
          slo: { p99: '60s' },
        });
        const done = await folder.run(['run', 'repeat.yaml', '--json', '--repeat', '2']);
        assert.equal(done.code, 0, done.stderr);
        const { steps, repeats, recommendation } = JSON.parse(done.stdout) as Result;
        assert.deepEqual(
          steps.map(({ index, senders, expected }) => [index, senders, expected]),
          [
            [1, 10, 100],
            [2, 20, 200],
            [3, 10, 100],
            [4, 20, 200],
          ],
        );
        for (const step of steps) assert.deepEqual([step.received, step.lost], [step.expected, 0]);
        assert.deepEqual(
          repeats?.map(({ step, of }) => [step, of]),
          [
            [1, [1, 3]],
            [2, [2, 4]],
          ],
        );
        assert.equal(recommendation?.step, 4);
      }),
    ),
  );

  itBeside(
    'fails a run against a hub that answers ten times as late',
    withFolder(async (folder) => {
      const run = (url: string, ...flags: string[]) => {
        folder.scenario('chat.yaml', {
          target: url,
          config: {
            ...{ connections: 10, baseSending: 10, drain: '2s' },
            ...{ singleStepDuration: '10s', warmup: '500ms' },
          },
          parameters: { sendingInterval: '200ms' },
          slo: { p99: '60s' },
        });
        return folder.run(['run', 'chat.yaml', '--baseline', 'last', ...flags]);
      };
      let port = '';
      const first = await withHubHere('--delay 50ms', ({ url }) => {
        ({ port } = new URL(url));
        return run(url);
      });
      assert.equal(first.code, 0, first.stderr);
      assert.match(first.stderr, /note: there is no earlier result of chat\.yaml/);
      const slower = await withHubHere(`--delay 300ms --port ${port}`, ({ url }) =>
        run(url, '--md', 'comment.md'),
      );
      // The end says how it was judged.
      assert.equal(slower.code, 1, slower.stdout.slice(-400) + slower.stderr);
      assert.match(slower.stdout, /baseline {2}✗ worse; step 1: p\d+ rose from/);
      const comment = readFileSync(path.join(folder.path, 'comment.md'), 'utf8');
      assert.match(comment, /^### ❌ chat is slower: p\d+ .* was .*\n\nStep 1, 10 senders: /);
      assert.match(comment, /\| p50 \| [\d.]+ ms \| [\d.]+ ms \| \*\*\+\d+ %\*\* \|/);
    }),
  );
});
