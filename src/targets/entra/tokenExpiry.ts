/** A token that does not tell when it expires is good for so long at least. */
const shortestMs = 5 * 60_000;

/** When a JSON web token expires, in milliseconds since 1970; soon after `nowMs` where it does not say. */
export function tokenExpiry(token: string, nowMs: number): number {
  const [, payload = ''] = token.split('.', 3);
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      exp?: unknown;
    };
    if (typeof exp === 'number' && Number.isFinite(exp)) return exp * 1000;
  } catch {
    // No JSON web token.
  }
  return nowMs + shortestMs;
}
