import assert from 'node:assert/strict';
import { analysed, MadeRecording } from './madeRecording';

const clients = [1, 2, 3];
const rooms = ['lobby', 'lobby', 'lobby'];
const written = (of: number, round: number): string =>
  `what client ${of} writes in round ${round}, as long as the stamp of a run`;

/** Clients that join a room each, call in turn, ten rounds of a second, and leave. */
function inRooms(
  names: readonly string[],
  round: (made: MadeRecording, client: number, room: string, text: string) => void,
  leaveMs = 12_000,
): MadeRecording {
  const made = new MadeRecording().arrive(clients, 'JoinRoom', (client) => [names[client - 1]]);
  for (let at = 0; at < 10; at++)
    for (const client of clients)
      round(
        made.at(1000 * (at + 1) + 300 * client),
        client,
        names[client - 1]!,
        written(client, at),
      );
  for (const client of clients)
    made.at(leaveMs + client).call(client, 'LeaveRoom', [names[client - 1]]);
  return made;
}

const stepOf = (all: readonly Readonly<Record<string, unknown>>[], call: string) =>
  all
    .flatMap((step) => [step, ...((step['steps'] as typeof all | undefined) ?? [])])
    .find((step) => step['call'] === call);

describe('who hears a callback', () => {
  const draft = (made: MadeRecording, client: number, room: string, text: string): void => {
    made.call(client, 'SaveDraft', [room, text]).heard([client], 'DraftSaved', [room, text]);
  };

  it('is the caller alone where others were in the room and heard nothing', async () => {
    const { steps, found } = await analysed(inRooms(rooms, draft));
    assert.deepEqual(stepOf(steps, 'SaveDraft'), {
      ...{ call: 'SaveDraft', arguments: ['{group}', '{text:62B}'], reply: 'callback' },
      ...{ callback: 'DraftSaved', receivers: 'self', answered: true },
    });
    assert.deepEqual(
      found.callbacks.map(({ target, as }) => [target, as]),
      [['DraftSaved', 'to the caller, after SaveDraft']],
    );
  });

  it('leaves names of rooms as they are where one comes back to the caller, in several rooms too', async () => {
    for (const isInSeveral of [false, true]) {
      const made = inRooms(['a', 'a', 'b'], (all, client, room) => {
        all.call(client, 'Read', [room]).heard([client], 'WasRead', [room]);
      });
      if (isInSeveral) made.at(900).call(1, 'JoinRoom', ['b']);
      const { steps } = await analysed(made);
      const read = stepOf(steps, 'Read')!;
      assert.equal(read['reply'], 'completion');
      assert.doesNotMatch(String(read['arguments']), /text:/);
    }
  });

  it('is the room where each was alone in one: others came later, or were not let in', async () => {
    const alone = inRooms(['a', 'b', 'c'], draft);
    const later = inRooms(['a', 'b', 'c'], draft);
    for (const client of [4, 5, 6])
      later
        .at(11_500)
        .open(client)
        .wait(5)
        .call(client, 'JoinRoom', ['abc'[client - 4]]);
    const refused = inRooms(['a', 'b', 'c'], draft);
    for (const client of [4, 5, 6])
      refused
        .at(10 + client)
        .open(client)
        .wait(5)
        .call(client, 'JoinRoom', ['abc'[client - 4]], { error: 'not for you' });
    for (const made of [alone, later, refused]) {
      const { steps } = await analysed(made);
      const { receivers, arguments: values } = stepOf(steps, 'SaveDraft')!;
      assert.deepEqual([receivers, (values as unknown[])[0]], ['group', '{group}']);
    }
  });

  it('may be the room and the caller after one call', async () => {
    const { steps, found } = await analysed(
      inRooms(rooms, (made, client, room, text) => {
        made.call(client, 'Post', [room, text]).heard(clients, 'Posted', [room, text]);
        made.wait(10).heard([client], 'Stored', [text]).wait(-10);
      }),
    );
    const repeated = steps.find((step) => 'repeat' in step)!['steps'] as typeof steps;
    assert.deepEqual(
      repeated.map(({ call, on, receivers }) => [call ?? on, receivers]),
      [
        ['Post', 'group'],
        ['Stored', undefined],
      ],
    );
    assert.deepEqual(
      found.callbacks.map(({ target, as }) => [target, as]),
      [
        ['Posted', 'to the room, after Post'],
        ['Stored', 'to the caller, after Post'],
      ],
    );
  });
});

describe('the text by which a callback is recognised', () => {
  const guid = (client: number, round: number): string =>
    `3f2504e0-4f89-41d3-9a0c-${String(client * 1000 + round).padStart(12, '0')}`;

  it('is no id that clients make up, and no time: a hub may want those as they are', async () => {
    let rounds = 0;
    const made = inRooms(rooms, (all, client, room) => {
      const clientId = guid(client, rounds++);
      const sentAt = new Date(1_764_000_000_000 + rounds).toISOString();
      const message = { clientId, sentAt, text: rounds % 2 === 0 ? 'yes, I think so' : 'no' };
      all.call(client, 'Post', [room, message]).heard(clients, 'Posted', [room, message]);
    });
    const { steps } = await analysed(made);
    const { callback, arguments: values } = stepOf(steps, 'Post')!;
    const [, message] = values as [string, Readonly<Record<string, string>>];
    assert.deepEqual([callback, message['text']], ['Posted', '{text:54B}']);
    assert.match(message['clientId']!, /^3f2504e0-/);
    assert.match(message['sentAt']!, /^2025-11-24T/);
  });

  it('is none where nothing else comes back: the callback is counted alone', async () => {
    let rounds = 0;
    const { steps, found } = await analysed(
      inRooms(rooms, (all, client, room) => {
        const clientId = guid(client, rounds++);
        all.send(client, 'Press', [room, clientId]).heard(clients, 'Pressed', [clientId]);
        all.wait(100).call(client, 'Like', [room, clientId]).heard(clients, 'Liked', [clientId]);
      }),
    );
    assert.deepEqual(
      ['Press', 'Like'].map((call) => stepOf(steps, call)!['reply']),
      ['none', 'completion'],
    );
    assert.deepEqual(
      found.callbacks.map(({ target, perCall, as }) => [target, perCall, as.split('; ')[1]]),
      ['Pressed', 'Liked'].map((target) => [
        ...[target, 3, 'only its number is counted: it has no free text of the call'],
      ]),
    );
  });
});

describe('the call that caused a callback', () => {
  const wordsOf = async (made: MadeRecording): Promise<unknown[]> => {
    const { found } = await analysed(made);
    return found.callbacks.map(({ target, perCall, as }) => [target, perCall, as.split(', ')[0]]);
  };
  const others = (client: number): number[] => clients.filter((other) => other !== client);

  it('is known by numbers with a fraction or many digits, where several clients call at once', async () => {
    for (const place of [
      (client: number, at: number) => [3 * at + client + 0.25, -client - 0.75],
      (client: number, at: number) => [20_000 + 100 * at + client, -30_000],
    ]) {
      let rounds = 0;
      const made = inRooms(rooms, (all, client, room, text) => {
        all.call(client, 'Post', [room, text]).heard(clients, 'Posted', [text]);
        for (let more = 0; more < 5; more++) {
          rounds += 1;
          all.wait(20);
          // All call before anybody hears of it.
          for (const each of clients) all.send(each, 'Move', [room, ...place(each, rounds)]);
          for (const each of clients)
            all.heard(others(each), 'Moved', [`mover-${each}`, ...place(each, rounds)]);
        }
      });
      assert.deepEqual(await wordsOf(made), [
        ['Posted', 3, 'to the room'],
        ['Moved', 2, 'to the others in the room'],
      ]);
    }
  });

  it('is not found by time, nor by small whole numbers', async () => {
    let calls = 0;
    const made = inRooms(rooms, (all, client, room) => {
      all.call(client, 'Refresh', [room, ++calls]).heard(clients, 'Tick', [calls]);
    });
    assert.deepEqual(await wordsOf(made), [
      ['Tick', undefined, 'no call was found that caused it'],
    ]);
  });
});
