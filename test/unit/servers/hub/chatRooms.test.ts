import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  ChatRooms,
  maxHistoryMessages,
  maxHistoryBytes,
} from '../../../../src/servers/hub/benchMethods';

describe('the rooms of the chat', () => {
  it('have the latest messages first in their history', () => {
    const rooms = new ChatRooms();
    for (let at = 0; at < maxHistoryMessages + 5; at++) rooms.post('a', at, `m${at}`, 20);
    rooms.post('b', 'x', 'other', 20);
    assert.deepEqual(
      rooms.history('a', 2).map(({ author, text }) => [author, text]),
      [
        [maxHistoryMessages + 4, `m${maxHistoryMessages + 4}`],
        [maxHistoryMessages + 3, `m${maxHistoryMessages + 3}`],
      ],
    );
    assert.equal(rooms.history('a', 1e9).length, maxHistoryMessages);
    assert.deepEqual([rooms.history('a', -1), rooms.history('c', 5)], [[], []]);
  });

  it('have no history of what is large, nor of authors that are no name or number', () => {
    const rooms = new ChatRooms();
    const author = 'x'.repeat(15_000_000);
    assert.equal(rooms.post('a', author, 'text', author.length).author, author);
    assert.deepEqual(rooms.post('a', { deep: [] }, 'text', 30).author, { deep: [] });
    assert.deepEqual(rooms.history('a', 10), []);
  });

  it('take no more memory than they may, whatever is said where; the room that was quiet for longest goes first', () => {
    const post = fc.record({
      room: fc.nat(2000).map((at) => `room ${at} ${'r'.repeat(1000)}`),
      bytes: fc.integer({ min: 1, max: 5000 }),
    });
    fc.assert(
      fc.property(fc.array(post, { minLength: 2000, maxLength: 6000 }), (posts) => {
        const rooms = new ChatRooms();
        for (const { room, bytes } of posts) rooms.post(room, 1, 't'.repeat(bytes), bytes);
        const names = [...new Set(posts.map(({ room }) => room))];
        const sizes = names.flatMap((name) =>
          rooms.history(name, maxHistoryMessages).map(({ text }) => text.length + name.length),
        );
        assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= maxHistoryBytes);
        const last = [...posts].reverse().find(({ bytes }) => bytes <= 4096);
        if (last !== undefined) assert.equal(rooms.history(last.room, 1).length, 1);
      }),
      { numRuns: 20 },
    );
  });

  it('forget whole rooms, the one that was written to last stays', () => {
    const rooms = new ChatRooms();
    const text = 't'.repeat(4000);
    rooms.post('first', 1, 'hello', 5);
    for (let at = 0; at < 5000; at++) rooms.post(`room ${at}`, 1, text, text.length);
    assert.deepEqual(rooms.history('first', 1), []);
    assert.equal(rooms.history('room 4999', 1).length, 1);
  });
});
