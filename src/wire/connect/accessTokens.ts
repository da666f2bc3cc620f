import { SignJWT } from 'jose';
import type { ServiceAccess, ServicePass } from '../../base/endpoint';
import { services, type ClientPermission } from '../../base/serviceTraits';

/** A token is signed anew this long before it expires, since clocks may differ. */
const renewS = 300;
const maximumReusable = 100_000;

/** User id of a connection at the service; the run's id keeps concurrent runs apart. */
export const userIdOf = (runId: number, index: number): string =>
  `user_${runId.toString(16)}_${index}`;

type Claims = Readonly<Record<string, unknown>>;

export interface ClientTokens {
  /** Whether the service issues each token, which takes time. */
  readonly areIssued: boolean;
  /** @throws ConnectFailure when the service does not issue it; `timeout` when the signal aborts */
  forClient(index: number, signal: AbortSignal): Promise<string>;
}

/**
 * The access tokens of one hub. With an access key they are signed here; a signed-in application uses its own token,
 * and signs those of clients with a borrowed key. Sources: "Azure SignalR service data plane REST API", heading
 * "Authentication"; "Generate client access URL for Azure Web PubSub".
 */
export class AccessTokens implements ClientTokens {
  readonly areIssued = false;
  readonly roles: readonly string[];
  private pass: ServicePass;
  private readonly reusable = new Map<
    string,
    { readonly token: string; readonly expiresS: number }
  >();

  constructor(
    private readonly access: ServiceAccess,
    private readonly runId = 0,
    permissions: readonly ClientPermission[] = [],
    private readonly nowS: () => number = () => Math.floor(Date.now() / 1000),
  ) {
    const { roles } = services[access.kind];
    this.roles = [...new Set(permissions.flatMap((permission) => roles?.[permission] ?? []))];
    this.pass = access;
  }

  renew(pass: ServicePass): void {
    this.pass = pass;
    this.reusable.clear();
  }

  userOf(index: number): string {
    return userIdOf(this.runId, index);
  }

  forClient(index: number): Promise<string> {
    const { kind, audience, hub } = this.access;
    const { clientPath, userClaim } = services[kind];
    return this.sign(audience + clientPath(hub), {
      [userClaim]: this.userOf(index),
      ...(this.roles.length > 0 && { role: this.roles }),
    });
  }

  async forServer(serverId: string): Promise<string> {
    if ('bearer' in this.pass) return this.pass.bearer;
    const { audience, hub } = this.access;
    return this.sign(`${audience}/server/?hub=${hub}`, { nameid: serverId });
  }

  /** Shared by all clients that come through an app server. */
  forAnybody(claims: Claims): Promise<string> {
    const { kind, hub } = this.access;
    return this.reused(services[kind].clientPath(hub), claims);
  }

  async forRest(path: string): Promise<string> {
    return 'bearer' in this.pass ? this.pass.bearer : this.reused(path, {});
  }

  private async reused(path: string, claims: Claims): Promise<string> {
    const known = this.reusable.get(path);
    if (known !== undefined && known.expiresS - renewS > this.nowS()) return known.token;
    if (this.reusable.size >= maximumReusable) this.reusable.clear();
    const expiresS = this.nowS() + tokenLifeS;
    const token = await this.sign(`${this.access.audience}${path}`, claims);
    this.reusable.set(path, { token, expiresS });
    return token;
  }

  private sign(audience: string, claims: Claims): Promise<string> {
    return signToken(this.pass, audience, claims, this.nowS());
  }
}

/** HTTP transports send the token with each request, so it must outlive a run. */
export const tokenLifeS = 24 * 3600;

/**
 * HS256 with the text of the key, which is not decoded although it looks like base64. A borrowed key is named in the
 * header. Sources: "Azure SignalR service data plane REST API", heading "Authenticate via Azure SignalR Service
 * AccessKey"; Azure/azure-signalr, `AuthUtility`.
 */
export async function signToken(
  pass: ServicePass,
  audience: string,
  claims: Claims,
  nowS: number,
  lifeS = tokenLifeS,
): Promise<string> {
  const key = 'accessKey' in pass ? { text: pass.accessKey, id: undefined } : pass.signingKey;
  if (key === undefined) throw new Error('nothing to sign tokens with');
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: key.id })
    .setAudience(audience)
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + lifeS)
    .sign(new TextEncoder().encode(key.text));
}
