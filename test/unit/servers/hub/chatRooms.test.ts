import assert from 'node:assert/strict';
import { ChatRooms, keptMessages, mostRooms } from '../../../../src/servers/hub/benchMethods';

describe('the rooms of the chat', () => {
  it('keep the latest messages, those first', () => {
    const rooms = new ChatRooms();
    for (let at = 0; at < keptMessages + 5; at++) rooms.post('a', at, `m${at}`);
    rooms.post('b', 'x', 'other');
    assert.deepEqual(
      rooms.history('a', 2).map(({ author, text }) => [author, text]),
      [
        [keptMessages + 4, `m${keptMessages + 4}`],
        [keptMessages + 3, `m${keptMessages + 3}`],
      ],
    );
    assert.equal(rooms.history('a', 1e9).length, keptMessages);
    assert.deepEqual([rooms.history('a', -1), rooms.history('c', 5)], [[], []]);
  });

  it('forget the oldest room where there are too many', () => {
    const rooms = new ChatRooms();
    for (let at = 0; at <= mostRooms; at++) rooms.post(`room ${at}`, 1, 'text');
    assert.deepEqual(rooms.history('room 0', 1), []);
    assert.equal(rooms.history(`room ${mostRooms}`, 1).length, 1);
  });
});
