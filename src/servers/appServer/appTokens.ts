import type { ServicePass } from '../../base/endpoint';
import { TokenSigner } from '../../wire/connect/accessTokens';

/** An instance of Azure SignalR Service, and what gives access to it. */
export type ServiceInstance = ServicePass & {
  /** `http(s)://host` without a port: what tokens are made out to. */
  readonly audience: string;
  /** `http(s)://host[:port]` where clients connect. */
  readonly clientEndpoint: string;
  /** `http(s)://host[:port]` where app servers connect. */
  readonly serverEndpoint: string;
};

/**
 * Whether a client is served by the app server it has negotiated with: never minded, where that server has
 * connections, or only there. Source: Azure/azure-signalr, `ServerStickyMode`.
 */
export type StickyMode = 'disabled' | 'preferred' | 'required';

/** What a token says of it. */
const stickyClaims = { preferred: 'Preferred', required: 'Required' } as const;

/** A token of clients is given out for so long. */
const keptS = 3600;

/**
 * The tokens of one app server: signed with the access key, or after a sign-in its own token for itself, and
 * a key that was lent for clients. Source: Azure/azure-signalr, `ServiceEndpointProvider`.
 */
export class AppTokens {
  private pass: ServicePass;
  private signer: TokenSigner;
  private kept: { readonly token: Promise<string>; readonly untilS: number } | undefined;

  constructor(
    private readonly service: ServiceInstance,
    private readonly hub: string,
    private readonly serverId: string,
    private readonly stickyMode: StickyMode,
    private readonly nowS: () => number = () => Math.floor(Date.now() / 1000),
  ) {
    this.pass = service;
    this.signer = new TokenSigner(service);
  }

  /** From now on tokens are made with this pass. */
  renew(pass: ServicePass): void {
    this.pass = pass;
    this.signer = new TokenSigner(pass);
    this.kept = undefined;
  }

  /** For one server connection. */
  async forServer(): Promise<string> {
    if ('bearer' in this.pass) return this.pass.bearer;
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
    const audience = `${this.service.audience}/${who}/?hub=${this.hub}`;
    return this.signer.sign(audience, { ...claims, iss: 'azure-signalr', nbf: nowS }, nowS);
  }
}
