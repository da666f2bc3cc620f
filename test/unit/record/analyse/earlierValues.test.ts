import assert from 'node:assert/strict';
import { analysed, MadeRecording } from './madeRecording';

const text = (of: unknown): string => `what people write, ${String(of)} ${'.'.repeat(50)}`;

/** Two people in one room write in turn; each gets the number of the message in the callback alone. */
function posts(
  after: (made: MadeRecording, client: number, id: string, rounds: number) => void,
  idOf = (number: number): unknown => String(number),
): MadeRecording {
  const made = new MadeRecording();
  for (const client of [1, 2])
    made
      .at(10 * client)
      .open(client)
      .wait(5)
      .call(client, 'JoinRoom', ['lobby']);
  let last = 0;
  for (let round = 0; round < 4; round++)
    for (const client of [1, 2]) {
      const draft = { author: `user-${client}`, text: text(last) };
      made.at(1000 + 1000 * round + 300 * client).call(client, 'SendMessage', ['lobby', draft]);
      const id = idOf((last += 1));
      made.heard([1, 2], 'MessagePosted', [{ id, ...draft }]);
      after(made, client, id as string, round);
    }
  return made;
}

const posted = {
  call: 'SendMessage',
  arguments: ['{group}', { author: 'user-{senderIndex}', text: '{text:71B}' }],
  ...{ reply: 'callback', callback: 'MessagePosted', receivers: 'group', answered: true },
};

describe('a value that came in a callback and is sent back', () => {
  it('is kept from the callback that the call caused, as soon as it comes', async () => {
    const made = posts((all, client, id) => all.wait(100).call(client, 'Acknowledge', [id]));
    const { steps, found } = await analysed(made);
    const [, , loop] = steps;
    assert.deepEqual(loop, {
      ...{ repeat: 4, every: '1s' },
      steps: [
        posted,
        { on: 'MessagePosted', keep: { id: '$[0].id' } },
        // From the callback on, which came after 2 ms.
        { wait: '98ms' },
        { call: 'Acknowledge', arguments: ['{id}'], reply: 'completion' },
      ],
    });
    assert.deepEqual(
      found.callbacks.map(({ as }) => as),
      ['to the room, after SendMessage; later calls have a value of it'],
    );
  });

  it('is kept from what others cause behind the pause, and says who causes it', async () => {
    const made = new MadeRecording();
    made.at(1).open(1).wait(5).call(1, 'JoinRoom', ['lobby']);
    made.at(2).open(2).wait(5).call(2, 'JoinRoom', ['lobby']);
    for (let round = 0; round < 6; round++) {
      const draft = { text: text(round) };
      made.at(1000 + 500 * round).call(1, 'SendMessage', ['lobby', draft]);
      made.heard([1, 2], 'MessagePosted', [{ id: `m-${round}`, ...draft }]);
      made.wait(400).call(2, 'Acknowledge', [`m-${round}`]);
    }
    const { yaml, file } = await analysed(made);
    const reader = file.scenarios!.find(({ parameters }) =>
      JSON.stringify(parameters).includes('Acknowledge'),
    )!;
    assert.deepEqual(reader.parameters.steps.slice(1), [
      { wait: '1.392s' },
      {
        ...{ repeat: 6, every: '500ms' },
        steps: [
          { on: 'MessagePosted', keep: { id: '$[0].id' } },
          { call: 'Acknowledge', arguments: ['{id}'], reply: 'completion' },
        ],
      },
    ]);
    assert.match(
      yaml,
      /# other clients cause it: without them nothing comes, and the wait for them counts as latency\n +- on: MessagePosted/,
    );
  });

  it('is kept for all calls that have it, however long after', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made.at(client).open(client).wait(5).send(client, 'Open', []);
      made.wait(300).heard([client], 'Opened', [{ conversation: `c-${client}-of-many` }]);
      for (let round = 0; round < 3; round++)
        made.wait(1000).call(client, 'Write', [`c-${client}-of-many`, round]);
    }
    const { steps } = await analysed(made);
    assert.deepEqual(steps.slice(0, 2), [
      { call: 'Open', reply: 'none' },
      { on: 'Opened', keep: { conversation: '$[0].conversation' } },
    ]);
    assert.deepEqual(steps.slice(2), [
      { wait: '998ms' },
      {
        ...{ repeat: 3, every: '1s' },
        steps: [
          { call: 'Write', arguments: ['{conversation}', '{sequence}'], reply: 'completion' },
        ],
      },
    ]);
  });

  for (const [what, made] of [
    [
      'the same for everybody',
      posts(
        (all, client) => all.wait(100).call(client, 'Acknowledge', [7, true, 'lobby']),
        () => 7,
      ),
    ],
    [
      'what the client had sent itself',
      posts((all, client) => all.wait(100).call(client, 'Like', [`user-${client}`])),
    ],
    [
      'in a callback that often does not come',
      posts((all, client, id, round) => {
        const tip = `tip-${round}`;
        if (round % 2 === 0) all.wait(5).heard([client], 'Tip', [tip]);
        all.wait(100).call(client, 'Take', [round % 2 === 0 ? tip : text(id)]);
      }),
    ],
    [
      'a number that the hub only sends back',
      posts((all, client, _id, round) => {
        all.wait(5).call(client, 'Move', [round]).heard([client], 'Moved', [round]);
        all.wait(100).call(client, 'Stay', [round]);
      }),
    ],
  ] as const)
    it(`is no such value: ${what}`, async () => {
      const { yaml } = await analysed(made);
      assert.doesNotMatch(yaml, /keep:/);
    });
});
