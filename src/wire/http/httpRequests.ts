import { opcode } from '../socket/frame';
import type { HubCodec } from '../hub/hubCodec';
import { admissionLines } from '../socket/requestLines';
import type { Negotiated } from '../connect/negotiate';

/** Builds the requests of one connection over an HTTP transport. */
export class HttpRequests {
  private lines = '';
  private postStart = '';
  private cookieVersion = -1;
  private renewal: Promise<boolean> | undefined;

  constructor(
    private admission: Negotiated,
    private readonly codec: HubCodec,
  ) {}

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
          admissionLines(admission);
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
  stream(): Buffer {
    this.refresh();
    return Buffer.from(
      `GET ${this.path} HTTP/1.1${this.lines}\r\nAccept: text/event-stream\r\nCache-Control: no-cache\r\n\r\n`,
      'latin1',
    );
  }

  /** A poll; the time in its query keeps caches on the way from answering it, as in the official clients. */
  poll(unixMs: number): Buffer {
    this.refresh();
    return Buffer.from(`GET ${this.path}&_=${unixMs} HTTP/1.1${this.lines}\r\n\r\n`, 'latin1');
  }

  /** A send; `pieces` are hub messages, `length` bytes together. */
  post(pieces: readonly Uint8Array[], length: number): Buffer {
    this.refresh();
    const head = `${this.postStart}${length}\r\n\r\n`;
    const request = Buffer.allocUnsafe(head.length + length);
    let at = request.write(head, 0, 'latin1');
    for (const piece of pieces) {
      request.set(piece, at);
      at += piece.length;
    }
    return request;
  }

  /** The end of a long-polling connection. */
  remove(): Buffer {
    this.refresh();
    return Buffer.from(`DELETE ${this.path} HTTP/1.1${this.lines}\r\n\r\n`, 'latin1');
  }

  private get path(): string {
    return this.where.url.pathname + this.where.url.search;
  }

  /** Encodes what all requests share, again when a server has set a cookie. */
  private refresh(): void {
    const { where } = this;
    const version = where.cookies?.version ?? 0;
    if (version === this.cookieVersion) return;
    this.cookieVersion = version;
    this.lines = [
      '',
      `Host: ${where.url.host}`,
      'X-Requested-With: XMLHttpRequest',
      ...admissionLines(where),
    ].join('\r\n');
    const isText = this.codec.opcode === opcode.text;
    const contentType = isText ? 'text/plain;charset=UTF-8' : 'application/octet-stream';
    this.postStart = `POST ${this.path} HTTP/1.1${this.lines}\r\nContent-Type: ${contentType}\r\nContent-Length: `;
  }
}
