import { SignJWT } from 'jose';

/** What gives access to an instance of Azure SignalR Service. */
export interface ServiceInstance {
  /** `http(s)://host` without a port: what tokens are made out to. */
  readonly audience: string;
  /** `http(s)://host[:port]` where clients connect. */
  readonly clientEndpoint: string;
  /** `http(s)://host[:port]` where app servers connect. */
  readonly serverEndpoint: string;
  /** Text of the key that signs the tokens. */
  readonly accessKey: string;
}

/**
 * Whether a client is served by the app server it has negotiated with: never minded, where that server has
 * connections, or only there. Source: Azure/azure-signalr, `ServerStickyMode`.
 */
export type StickyMode = 'disabled' | 'preferred' | 'required';

/** What a token says of it. */
const stickyClaims = { preferred: 'Preferred', required: 'Required' } as const;

/** Clients over HTTP show their token with each request, so a long run must not outlive it. */
const lifeS = 24 * 3600;
/** A token of clients is given out for so long. */
const keptS = 3600;

/**
 * Signs the tokens of one app server: HS256 with the text of the access key, which is not decoded although
 * it looks like base64. Source: Azure/azure-signalr, `ServiceEndpointProvider`.
 */
export class AppTokens {
  private readonly key: Uint8Array;
  private kept: { readonly token: Promise<string>; readonly untilS: number } | undefined;

  constructor(
    private readonly service: ServiceInstance,
    private readonly hub: string,
    private readonly serverId: string,
    private readonly stickyMode: StickyMode,
    private readonly nowS: () => number = () => Math.floor(Date.now() / 1000),
  ) {
    this.key = new TextEncoder().encode(service.accessKey);
  }

  /** For one server connection. */
  forServer(): Promise<string> {
    return this.sign('server', { nameid: this.serverId });
  }

  /** For any client: they are nobody in particular, so one signature serves many. */
  forClient(): Promise<string> {
    if (this.kept === undefined || this.kept.untilS <= this.nowS()) {
      const { serverId, stickyMode } = this;
      const claims: Record<string, string> =
        stickyMode === 'disabled'
          ? {}
          : { 'asrs.s.sn': serverId, 'asrs.s.ssticky': stickyClaims[stickyMode] };
      const token = this.sign('client', claims);
      this.kept = { token, untilS: this.nowS() + keptS };
    }
    return this.kept.token;
  }

  private sign(
    who: 'client' | 'server',
    claims: Readonly<Record<string, string>>,
  ): Promise<string> {
    const nowS = this.nowS();
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer('azure-signalr')
      .setAudience(`${this.service.audience}/${who}/?hub=${this.hub}`)
      .setNotBefore(nowS)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + lifeS)
      .sign(this.key);
  }
}
