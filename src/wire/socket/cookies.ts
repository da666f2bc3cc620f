interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
  readonly secure: boolean;
}

/** Limits against hostile servers; browsers allow a little more (RFC 6265, 6.1). */
const maximumCookies = 50;
const maximumCookieBytes = 4096;
/** For each of thousands of connections; servers refuse longer request heads anyway. */
const maximumBytesInAll = 16_384;

/**
 * Cookies of one connection. A load balancer's cookie from negotiate has to come back with all later requests, or
 * they land on different servers.
 */
export class Cookies {
  private readonly all: Cookie[] = [];
  version = 0;

  take(lines: readonly string[], url: URL): void {
    for (const line of lines) {
      const cookie = line.length > maximumCookieBytes ? undefined : cookieOf(line, url);
      if (cookie === undefined) continue;
      const at = this.all.findIndex(
        ({ name, host, path }) =>
          name === cookie.name && host === cookie.host && path === cookie.path,
      );
      if (at >= 0) this.all.splice(at, 1);
      if (!cookie.expired && this.hasRoom(cookie)) this.all.push(cookie);
      this.version += 1;
    }
  }

  private hasRoom(more: Cookie): boolean {
    const bytes = [more, ...this.all].reduce(
      (sum, { name, value }) => sum + name.length + value.length,
      0,
    );
    return this.all.length < maximumCookies && bytes <= maximumBytesInAll;
  }

  headerFor(url: URL): string | undefined {
    const fitting = this.all.filter(
      ({ host, path, secure }) =>
        host === url.hostname &&
        covers(path, url.pathname) &&
        (!secure || url.protocol === 'https:'),
    );
    return fitting.length === 0
      ? undefined
      : fitting.map(({ name, value }) => `${name}=${value}`).join('; ');
  }
}

function covers(path: string, requested: string): boolean {
  if (!requested.startsWith(path)) return false;
  return path.endsWith('/') || requested.length === path.length || requested[path.length] === '/';
}

function cookieOf(line: string, url: URL): (Cookie & { readonly expired: boolean }) | undefined {
  const [pair = '', ...attributes] = line.split(';');
  const equals = pair.indexOf('=');
  const name = pair.slice(0, equals).trim();
  const value = pair.slice(equals + 1).trim();
  // Visible ASCII only: it is written into a request's head.
  if (equals <= 0 || !/^[\u0021-\u007e]+$/.test(name) || !/^[\u0020-\u007e]*$/.test(value))
    return undefined;
  // The default is the directory of the request (RFC 6265, 5.1.4).
  let path = url.pathname.slice(0, Math.max(1, url.pathname.lastIndexOf('/')));
  let secure = false;
  // Max-Age has precedence (RFC 6265, 5.3).
  let [maxAgeS, expiresMs]: (number | undefined)[] = [];
  for (const attribute of attributes) {
    const [key = '', ...rest] = attribute.split('=');
    const text = rest.join('=').trim();
    switch (key.trim().toLowerCase()) {
      case 'path':
        if (text.startsWith('/')) path = text;
        break;
      case 'secure':
        secure = true;
        break;
      case 'max-age':
        if (/^-?\d+$/.test(text)) maxAgeS = Number(text);
        break;
      case 'expires':
        expiresMs = Date.parse(text);
        break;
    }
  }
  const expired = maxAgeS === undefined ? (expiresMs ?? NaN) <= Date.now() : maxAgeS <= 0;
  return { name, value, host: url.hostname, path, secure, expired };
}
