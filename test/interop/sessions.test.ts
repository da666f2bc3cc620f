import assert from 'node:assert/strict';
import { assertUndisturbed, loadRun, onlyStep } from '../load/loadRun';
import { sharedAspNetServer } from './aspnetServer';

/** The chat knows nothing of a benchmark, and calls clients with more than anybody waits for. */
describe('sessions against a chat in ASP.NET Core', function () {
  const server = sharedAspNetServer();

  const join = { call: 'JoinRoom', arguments: ['{group}'] };
  const leave = { call: 'LeaveRoom', arguments: ['{group}'] };
  const talking = [
    join,
    {
      repeat: 3,
      every: '100ms',
      steps: [
        {
          call: 'SendMessage',
          arguments: ['{group}', { author: '{senderIndex}', text: '{text:80B}' }],
          ...{ reply: 'callback', callback: 'MessagePosted', receivers: 'group' },
        },
      ],
    },
    { call: 'GetHistory', arguments: ['{group}', 3], keep: { last: '$[0].id' } },
    { call: 'Acknowledge', arguments: ['{last}'] },
    leave,
    { on: 'Joined', within: 0 },
  ];
  const reading = [
    join,
    { on: 'MessagePosted', keep: { id: '$[0].id' } },
    { call: 'Acknowledge', arguments: ['{id}'] },
    { wait: '100ms' },
    leave,
  ];

  it('lose nothing of what members of a room are sent, over each transport', async () => {
    const none = { messageSize: undefined, sendingInterval: undefined };
    const shared = { sessionInterval: '600ms', groupCount: 2, sharedGroups: 'rooms' };
    await Promise.all(
      ['Websockets', 'ServerSentEvents', 'LongPolling'].map(async (transport) => {
        const result = await loadRun({
          target: new URL('/chat', server.url).href,
          entries: [talking, reading].map((steps) => ({
            name: 'session',
            parameters: { ...none, ...shared, steps },
          })),
          config: {
            ...{ connections: 12, warmup: 0, singleStepDuration: '1800ms', skipNegotiation: false },
            transport,
          },
          workers: 2,
        });
        assertUndisturbed(result);
        const { calls, sessions, entries, pushed, ...step } = onlyStep(result);
        assert.deepEqual([step.lost, step.duplicated], [0, 0], transport);
        assert.deepEqual([sessions!.started, sessions!.brokenOff], [36, 0]);
        for (const entry of entries!) assert.ok(entry.sessions!.completed > 0, transport);
        const [, posts] = calls!;
        assert.ok(posts!.expected > posts!.sent, 'others than the sender are members');
        const joined = calls!.find(({ name }) => name === 'callback Joined')!;
        assert.ok(joined.came! > 0, transport);
        // {"type":1,"target":"Joined","arguments":["…"]}, an id of 22 characters; the same over each transport.
        const { messages, bytes } = pushed!.find(({ name }) => name === 'Joined')!;
        assert.deepEqual([messages, bytes], [joined.came, 67 * joined.came!], transport);
      }),
    );
  });
});
