/** What a client asks for at the proxy, and where that is. */

const prefix = '/.signalr-bench/';
/** Services that one hub redirects to; more are passed on as they are, and not recorded. */
const maximumPlaces = 64;

/** An upstream server: scheme, host and port. */
export interface ProxiedServer {
  readonly origin: string;
  /** What stands before its paths at the proxy; empty for the target itself. */
  readonly prefix: string;
}

export interface RoutedRequest {
  readonly place: ProxiedServer;
  /** Where it is, with its query. */
  readonly url: URL;
  /** Whether this is of the hub, or of a service that the hub has named. */
  readonly isHub: boolean;
}

/**
 * The servers behind the proxy: the target, under its own paths, and those that it has redirected clients
 * to, each under a prefix. Nobody else can be reached through it.
 */
export class ProxiedServers {
  private readonly target: ProxiedServer;
  private readonly others: ProxiedServer[] = [];
  private readonly hubPath: string;

  constructor(target: URL) {
    this.target = { origin: target.origin, prefix: '' };
    this.hubPath = target.pathname.replace(/\/$/, '').toLowerCase();
  }

  /** @param requested path and query of a request; undefined when there is no such place */
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
   * The address at the proxy of something that a server named, with the scheme for the same kind of request.
   * @param own `host:port` by which the client knows the proxy
   * @param adds whether its server may be a new one
   * @returns undefined when it is no address of the web, or of a server that is none of these
   */
  addressOf(text: string, own: string, adds: boolean): string | undefined {
    const place = URL.canParse(text) ? this.placeOf(new URL(text), adds) : undefined;
    if (place === undefined) return undefined;
    // As text, so that nothing of the path changes.
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

/** Joined as text: a path such as `//other` must not become another host. */
function urlAt({ origin }: ProxiedServer, path: string): URL | undefined {
  const text = `${origin}${path}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.origin === origin ? url : undefined;
}
