import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const macBytes = 16;
/** Longer ones come in no request. */
const maxChars = 64 * 1024;

/**
 * Tokens that nobody but this server makes, each for one purpose: who a connection is, and which groups it is in.
 * Nothing is remembered for them, as in the official server: a client may come back with its token at any time.
 */
export class ClassicTokens {
  private readonly key = randomBytes(32);

  protect(purpose: 'connection' | 'groups', text: string): string {
    const bytes = Buffer.from(text, 'utf8');
    return Buffer.concat([this.mac(purpose, bytes), bytes]).toString('base64');
  }

  /** The text of a token; undefined for one that this server has not made for the purpose. */
  unprotect(purpose: 'connection' | 'groups', token: string): string | undefined {
    if (token.length > maxChars) return undefined;
    const all = Buffer.from(token, 'base64');
    if (all.length < macBytes) return undefined;
    const bytes = all.subarray(macBytes);
    return timingSafeEqual(all.subarray(0, macBytes), this.mac(purpose, bytes))
      ? bytes.toString('utf8')
      : undefined;
  }

  private mac(purpose: string, bytes: Buffer): Buffer {
    return createHmac('sha256', this.key)
      .update(`${purpose}:`)
      .update(bytes)
      .digest()
      .subarray(0, macBytes);
  }
}
