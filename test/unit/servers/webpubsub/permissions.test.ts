import assert from 'node:assert/strict';
import { parseGroupPattern, Permissions } from '../../../../src/servers/webpubsub/permissions';

describe('patterns of group names', () => {
  const table: [pattern: string, fits: string[], others: string[]][] = [
    ['chat-*', ['chat-1', 'chat-room', 'chat-'], ['chat.1', 'xchat-1']],
    ['a.*', ['a.b', 'a.1'], ['a.b.c', 'b.a', 'a']],
    ['a.**', ['a.b', 'a.b.c', 'a.'], ['b.a', 'a']],
    ['a.?1', ['a.b1', 'a.11'], ['a.1', 'a..1', 'a.bb1']],
    ['x\\*y', ['x*y'], ['xay']],
    ['\\\\?', ['\\a'], ['a']],
    ['**.end', ['.end', 'a.b.end'], ['end', 'a.end.']],
    ['', [''], ['a']],
  ];
  for (const [pattern, fits, others] of table) {
    it(`mean what is documented: ${pattern}`, () => {
      const match = parseGroupPattern(pattern);
      assert.ok(match !== undefined);
      assert.deepEqual([...fits, ...others].filter(match), fits);
    });
  }

  it('have at most five stars, and whole escapes', () => {
    assert.ok(parseGroupPattern('*a*b*c*d*') !== undefined);
    assert.equal(parseGroupPattern('**a**b**'), undefined);
    assert.equal(parseGroupPattern('a\\'), undefined);
  });

  it('stay quick on names made to be slow', () => {
    const match = parseGroupPattern('*a*a*a*a*b');
    assert.equal(match?.('a'.repeat(1024)), false);
  });
});

describe('permissions', () => {
  it('come from roles', () => {
    const some = Permissions.fromRoles([
      'webpubsub.sendToGroup.a',
      'webpubsub.sendToGroups.b.*',
      'webpubsub.joinLeaveGroup',
      'other.sendToGroup',
    ]);
    assert.deepEqual(
      ['a', 'b.c', 'c', undefined].map((group) => some.allows('sendToGroup', group)),
      [true, true, false, false],
    );
    assert.deepEqual(
      ['a', undefined].map((group) => some.allows('joinLeaveGroup', group)),
      [true, true],
    );
    assert.equal(Permissions.fromRoles([]).allows('joinLeaveGroup', 'a'), false);
    assert.equal(
      Permissions.fromRoles(['webpubsub.sendToGroups.**a**b**']).allows('sendToGroup', 'ab'),
      false,
    );
  });

  it('are granted and revoked for one client alone', () => {
    const none = Permissions.fromRoles([]);
    const one = none.granting('sendToGroup', 'a')!;
    const all = one.granting('sendToGroup', undefined)!;
    const allows = (them: Permissions): boolean[] =>
      ['a', 'b'].map((group) => them.allows('sendToGroup', group));
    assert.deepEqual([none, one, all].map(allows), [
      [false, false],
      [true, false],
      [true, true],
    ]);
    assert.deepEqual(allows(all.revoking('sendToGroup', undefined)), [true, false]);
    assert.deepEqual(allows(one.revoking('sendToGroup', 'a')), [false, false]);
    assert.equal(Permissions.fromRoles([]).allows('sendToGroup', 'a'), false);
  });

  it('are granted for as many groups as a connection may be in', () => {
    const roles = Array.from({ length: 10_000 }, (_each, i) => `webpubsub.sendToGroup.g${i}`);
    const full = Permissions.fromRoles(roles);
    assert.equal(full.granting('sendToGroup', 'one more'), undefined);
    assert.equal(full.granting('sendToGroup', 'g7')?.allows('sendToGroup', 'g7'), true);
    assert.equal(full.granting('sendToGroup', undefined)?.allows('sendToGroup', 'one more'), true);
    assert.equal(full.granting('joinLeaveGroup', 'a')?.allows('joinLeaveGroup', 'a'), true);
  });
});
