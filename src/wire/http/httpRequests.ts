import { opcode } from '../socket/frame';
import type { HubCodec } from '../hub/hubCodec';
import { admissionHeaders } from '../socket/admissionHeaders';
import type { HttpRequest } from './httpChannel';
import type { Negotiated } from '../connect/negotiate';

/** Builds the requests of one connection over an HTTP transport. */
export class HttpRequests {
  private shared: readonly string[] = [];
  private readonly contentType: string;
  private cookieVersion = -1;
  private renewal: Promise<boolean> | undefined;

  constructor(
    private admission: Negotiated,
    codec: HubCodec,
  ) {
    const isText = codec.opcode === opcode.text;
    this.contentType = isText ? 'text/plain;charset=UTF-8' : 'application/octet-stream';
  }

  /** Where the requests go, and what lets them in. */
  get where(): Negotiated {
    return this.admission;
  }

  /**
   * Fetches a new token, once for all requests that were refused with the same one.
   *
   * @param refused the token of the request
   * @returns whether the next request carries one
   */
  renewToken(refused: string | undefined): Promise<boolean> {
    const { renew, accessToken: present } = this.admission;
    if (present !== refused) return Promise.resolve(true);
    if (renew === undefined) return Promise.resolve(false);
    this.renewal ??= renew()
      .then(
        (accessToken) => {
          if (accessToken === undefined) return false;
          const admission = { ...this.admission, accessToken };
          // Whether it can be sent at all.
          admissionHeaders(admission);
          this.admission = admission;
          this.cookieVersion = -1;
          return true;
        },
        // What counts is that the old one was refused.
        () => false,
      )
      .finally(() => (this.renewal = undefined));
    return this.renewal;
  }

  /** The request whose answer is the stream of events. */
  stream(): HttpRequest {
    const headers = [...this.headers(), 'Accept', 'text/event-stream', 'Cache-Control', 'no-cache'];
    return { method: 'GET', path: this.path, headers };
  }

  /** A poll; the time in its query keeps caches on the way from answering it, as in the official clients. */
  poll(unixMs: number): HttpRequest {
    return { method: 'GET', path: `${this.path}&_=${unixMs}`, headers: this.headers() };
  }

  /** A send of hub messages. */
  post(body: Buffer): HttpRequest {
    const headers = [...this.headers(), 'Content-Type', this.contentType];
    headers.push('Content-Length', String(body.length));
    return { method: 'POST', path: this.path, headers, body };
  }

  /** The end of a long-polling connection. */
  remove(): HttpRequest {
    return { method: 'DELETE', path: this.path, headers: this.headers() };
  }

  private get path(): string {
    return this.where.url.pathname + this.where.url.search;
  }

  /** What all requests share, again when a server has set a cookie. */
  private headers(): readonly string[] {
    const { where } = this;
    const version = where.cookies?.version ?? 0;
    if (version !== this.cookieVersion) {
      this.cookieVersion = version;
      const own = ['Host', where.url.host, 'X-Requested-With', 'XMLHttpRequest'];
      this.shared = [...own, ...admissionHeaders(where)];
    }
    return this.shared;
  }
}
