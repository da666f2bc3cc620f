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

  /** @param isSticky whether clients stay with this app server */
  constructor(
    private readonly service: ServiceInstance,
    private readonly hub: string,
    private readonly serverId: string,
    private readonly isSticky: boolean,
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
      const sticky = { 'asrs.s.sn': this.serverId, 'asrs.s.ssticky': 'Required' };
      const token = this.sign('client', this.isSticky ? sticky : {});
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
