const prefix = '/.signalr-bench/';
/** Further services are passed on without being recorded. */
const maximumPlaces = 64;

export interface ProxiedServer {
  readonly origin: string;
  /** Path prefix at the proxy; empty for the target itself. */
  readonly prefix: string;
}

export interface RoutedRequest {
  readonly place: ProxiedServer;
  readonly url: URL;
  readonly isHub: boolean;
}

/** The target under its own paths, and each server it redirected clients to under a prefix. Nothing else can be reached. */
export class ProxiedServers {
  private readonly target: ProxiedServer;
  private readonly others: ProxiedServer[] = [];
  private readonly hubPath: string;

  constructor(target: URL) {
    this.target = { origin: target.origin, prefix: '' };
    this.hubPath = target.pathname.replace(/\/$/, '').toLowerCase();
  }

  find(requested: string): RoutedRequest | undefined {
    if (!requested.startsWith('/')) return undefined;
    const [, number, path] = /^\/\.signalr-bench\/(\d{1,2})(\/.*)$/.exec(requested) ?? [];
    if (path === undefined) {
      if (requested.startsWith(prefix)) return undefined;
      const url = urlAt(this.target, requested);
      return url && { place: this.target, url, isHub: this.isHubPath(url.pathname) };
    }
    const place = this.others[Number(number) - 1];
    const url = place && urlAt(place, path);
    return url && { place, url, isHub: true };
  }

  /**
   * Address at the proxy of a URL that a server named.
   * @param own `host:port` of the proxy as the client knows it
   * @param adds whether a new server may be added
   * @returns undefined for other schemes and unknown servers
   */
  addressOf(text: string, own: string, adds: boolean): string | undefined {
    const place = URL.canParse(text) ? this.placeOf(new URL(text), adds) : undefined;
    if (place === undefined) return undefined;
    const hostAt = text.indexOf('//') + 2;
    const pathAt = text.slice(hostAt).search(/[/?#]/);
    const rest = pathAt < 0 ? '' : text.slice(hostAt + pathAt);
    const path = rest.startsWith('/') ? rest : `/${rest}`;
    const scheme = /^ws/i.test(text) ? 'ws' : 'http';
    return `${scheme}://${own}${place.prefix}${path}`;
  }

  private placeOf(url: URL, adds: boolean): ProxiedServer | undefined {
    if (!/^(?:https?|wss?):$/.test(url.protocol)) return undefined;
    const origin = url.origin === 'null' ? '' : url.origin.replace(/^ws/, 'http');
    const known = [this.target, ...this.others].find((place) => place.origin === origin);
    const isFull = this.others.length >= maximumPlaces;
    if (known !== undefined || origin === '' || !adds || isFull) return known;
    const place = { origin, prefix: `${prefix}${this.others.length + 1}` };
    this.others.push(place);
    return place;
  }

  private isHubPath(path: string): boolean {
    const lower = path.toLowerCase();
    return lower === this.hubPath || lower.startsWith(`${this.hubPath}/`);
  }
}

/** As text: a path such as `//other` must not become a host. */
function urlAt({ origin }: ProxiedServer, path: string): URL | undefined {
  const text = `${origin}${path}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.origin === origin ? url : undefined;
}
