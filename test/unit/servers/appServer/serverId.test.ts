import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { createServerId } from '../../../../src/servers/appServer/appServer';

describe('serverIdOn', () => {
  it('is the name of the machine and 32 hexadecimal digits', () => {
    assert.match(createServerId('build-7.local'), /^build-7\.local_[0-9a-f]{32}$/);
    assert.notEqual(createServerId('a'), createServerId('a'));
  });

  it('can stand in a header whatever the machine is called', () => {
    for (const machine of ['张三的电脑', 'Jürgen PC', 'x'.repeat(1000), '']) {
      const id = createServerId(machine);
      validateHeaderValue('X-ASRS-Server-Id', id);
      assert.match(id, /^[\x21-\x7e]{0,64}_[0-9a-f]{32}$/);
    }
  });
});
