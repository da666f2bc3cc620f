/** Whether a host, as it stands in a URL, is this machine: its names, 127.0.0.0/8 and ::1 (RFC 6761, RFC 1122, RFC 4291). */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (/^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host)) return true;
  return host === '::1' || /^::ffff:(?:7f[0-9a-f]{2}:|127\.)/.test(host);
}

/** Whether a client that connects there reaches this machine: at unspecified addresses, too. */
export const isThisMachine = (hostname: string): boolean =>
  isLoopbackHost(hostname) ||
  /^(?:0\.0\.0\.0|::|::ffff:(?:0:0|0\.0\.0\.0))$/i.test(hostname.replace(/^\[|\]$/g, ''));
