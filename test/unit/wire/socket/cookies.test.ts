import assert from 'node:assert/strict';
import { Cookies } from '../../../../src/wire/socket/cookies';

const negotiate = new URL('https://example.test/app/hub/negotiate?negotiateVersion=1');
const hub = new URL('https://example.test/app/hub?id=1');

function kept(line: string, url = hub): string | undefined {
  const cookies = new Cookies();
  cookies.take([line], negotiate);
  return cookies.headerFor(url);
}

describe('cookies', () => {
  it('come back with the requests of their path', () => {
    assert.equal(kept('a=1'), 'a=1');
    assert.equal(kept('a=1; Path=/; HttpOnly; SameSite=None'), 'a=1');
    assert.equal(kept('a=1; path=/app'), 'a=1');
    assert.equal(kept('a=1; Path=/ap'), undefined);
    assert.equal(kept('a=1; Path=/other'), undefined);
    assert.equal(kept('a="x=y"; Path=/'), 'a="x=y"');
  });

  it('stay with their host, and with https when they are secure', () => {
    assert.equal(kept('a=1; Path=/', new URL('https://other.test/app/hub')), undefined);
    assert.equal(kept('a=1; Path=/; Secure'), 'a=1');
    assert.equal(kept('a=1; Path=/; Secure', new URL('http://example.test/app/hub')), undefined);
    assert.equal(kept('a=1; Path=/', new URL('http://example.test/app/hub')), 'a=1');
  });

  it('are replaced and deleted by newer ones', () => {
    const cookies = new Cookies();
    cookies.take(['a=1', 'b=2'], negotiate);
    assert.equal(cookies.headerFor(hub), 'a=1; b=2');
    const before = cookies.version;
    cookies.take(['a=3'], negotiate);
    assert.notEqual(cookies.version, before);
    assert.equal(cookies.headerFor(hub), 'b=2; a=3');
    cookies.take(['a=; Max-Age=0', 'b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], negotiate);
    assert.equal(cookies.headerFor(hub), undefined);
  });

  it('live as long as Max-Age says, whatever Expires says and wherever it stands', () => {
    const past = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT';
    const future = 'Expires=Fri, 01 Jan 2100 00:00:00 GMT';
    for (const [attributes, isSent] of [
      [`Max-Age=60; ${past}`, true],
      [`${past}; Max-Age=60`, true],
      [`Max-Age=0; ${future}`, false],
      [`${future}; Max-Age=-1`, false],
      [`Max-Age=soon; ${past}`, false],
      ['Max-Age=soon', true],
      [future, true],
      ['Expires=whenever', true],
    ] as const) {
      const cookies = new Cookies();
      cookies.take([`a=1; ${attributes}`], negotiate);
      assert.equal(cookies.headerFor(hub), isSent ? 'a=1' : undefined, attributes);
    }
  });

  it('are bounded, and never break a head', () => {
    const cookies = new Cookies();
    cookies.take(
      Array.from({ length: 200 }, (_, at) => `c${at}=x; Path=/`),
      negotiate,
    );
    assert.equal(cookies.headerFor(hub)?.split('; ').length, 50);
    const long = new Cookies();
    long.take(
      Array.from({ length: 60 }, (_, at) => `c${at}=${'x'.repeat(4000)}; Path=/`),
      negotiate,
    );
    assert.equal(long.headerFor(hub)?.length, 4 * 4003 + 3 * 2);
    for (const line of ['', '=1', 'noValue', 'a b=1', 'a=ä', `a=${'x'.repeat(5000)}`])
      assert.equal(kept(line), undefined, line);
  });
});
