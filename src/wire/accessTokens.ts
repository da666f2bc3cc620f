import { SignJWT } from 'jose';
import type { ServiceAccess } from './endpoint';

/** Life of a token; HTTP transports show theirs with each request, so a run must not outlive it. */
const lifeS = 24 * 3600;
/** A token is signed anew this long before its end, so that clocks may differ. */
const renewS = 300;
/** Tokens of REST paths that are kept. */
const maximumKept = 100_000;

/** Roles of a Web PubSub client that may join any group and publish to any. */
const webPubSubRoles = ['webpubsub.joinLeaveGroup', 'webpubsub.sendToGroup'];

/** User id under which a connection of the run is known to the service. */
export const userOf = (index: number): string => `user${index}`;

/**
 * Signs the access tokens of one hub: HS256 with the text of the access key, which is not decoded
 * although it looks like base64. Sources: "Azure SignalR service data plane REST API", heading
 * "Authenticate via Azure SignalR Service AccessKey"; "Generate client access URL for Azure Web PubSub".
 */
export class AccessTokens {
  private readonly key: Uint8Array;
  private readonly kept = new Map<string, { readonly token: string; readonly expiresS: number }>();

  constructor(
    private readonly access: ServiceAccess,
    private readonly nowS: () => number = () => Math.floor(Date.now() / 1000),
  ) {
    this.key = new TextEncoder().encode(access.accessKey);
  }

  /** The token with which connection `index` comes in. */
  forClient(index: number): Promise<string> {
    const { kind, audience, hub } = this.access;
    return kind === 'signalr'
      ? this.sign(`${audience}/client/?hub=${hub}`, { nameid: userOf(index) })
      : this.sign(`${audience}/client/hubs/${hub}`, { sub: userOf(index), role: webPubSubRoles });
  }

  /** The token of a server connection to Azure SignalR Service. */
  forServer(serverId: string): Promise<string> {
    const { audience, hub } = this.access;
    return this.sign(`${audience}/server/?hub=${hub}`, { nameid: serverId });
  }

  /** The token for calls of a REST path (without query), kept for the next call. */
  async forRest(path: string): Promise<string> {
    const known = this.kept.get(path);
    if (known !== undefined && known.expiresS - renewS > this.nowS()) return known.token;
    if (this.kept.size >= maximumKept) this.kept.clear();
    const expiresS = this.nowS() + lifeS;
    const token = await this.sign(`${this.access.audience}${path}`, {});
    this.kept.set(path, { token, expiresS });
    return token;
  }

  private sign(audience: string, claims: Readonly<Record<string, unknown>>): Promise<string> {
    const nowS = this.nowS();
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setAudience(audience)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + lifeS)
      .sign(this.key);
  }
}
