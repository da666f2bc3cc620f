import { SignJWT } from 'jose';
import type { ServicePass } from '../../base/endpoint';

/** Life of a token; HTTP transports show theirs with each request, so a run must not outlive it. */
export const tokenLifeS = 24 * 3600;

/**
 * Signs access tokens: HS256 with the text of the key, which is not decoded although it looks like base64.
 * A key that was lent is named in the header. Sources: "Azure SignalR service data plane REST API", heading
 * "Authenticate via Azure SignalR Service AccessKey"; Azure/azure-signalr, `AuthUtility`.
 */
export class TokenSigner {
  private readonly key: Uint8Array | undefined;
  private readonly header: { readonly alg: string; readonly typ: string; readonly kid?: string };

  constructor(pass: ServicePass) {
    const { id, text } =
      'accessKey' in pass ? { text: pass.accessKey, id: undefined } : (pass.signingKey ?? {});
    this.key = text === undefined ? undefined : new TextEncoder().encode(text);
    this.header = { alg: 'HS256', typ: 'JWT', ...(id !== undefined && { kid: id }) };
  }

  /** @param nowS seconds since 1970 */
  sign(audience: string, claims: Readonly<Record<string, unknown>>, nowS: number): Promise<string> {
    if (this.key === undefined) throw new Error('nothing to sign tokens with');
    return new SignJWT({ ...claims })
      .setProtectedHeader({ ...this.header })
      .setAudience(audience)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + tokenLifeS)
      .sign(this.key);
  }
}
