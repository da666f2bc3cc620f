import { ConnectFailure, shownText, StatusFailure, shownUrl } from '../connectFailure';
import type { Endpoint } from '../../base/endpoint';
import type { IncomingMessage } from 'node:http';
import { HttpChannel, type ChannelOwner, type HttpRequests } from './httpChannel';

/** Longest wait for the answer to a request, as in the official clients; a poll ends after 90 s by itself. */
export const requestTimeoutMs = 100_000;

/** Sends one POST at a time, so that order is kept; what is due meanwhile goes together in the next. */
export class HttpOutbox implements ChannelOwner {
  private readonly channel: HttpChannel;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private ending = false;
  private removed = false;
  /** The body that is on its way, for a second try with a new token. */
  private body: Buffer = Buffer.alloc(0);
  private token: string | undefined;
  private renewing = false;
  private renewed = false;
  private destroyed = false;

  constructor(
    private readonly requests: HttpRequests,
    endpoint: Endpoint,
    private readonly failed: (failure: ConnectFailure) => void,
  ) {
    this.channel = new HttpChannel(requests.where.url, endpoint, this, requestTimeoutMs);
  }

  /** Bytes that wait for the POST that is on its way. */
  get unsentBytes(): number {
    return this.waitingBytes;
  }

  /** Sends the message, or keeps a copy of it; the bytes may be changed afterwards. */
  send(message: Buffer): void {
    if (this.channel.isBusy || this.renewing) {
      this.waiting.push(Buffer.from(message));
      this.waitingBytes += message.length;
    } else {
      this.post(Buffer.from(message));
    }
  }

  /** Ends the connection at the server, behind the POST that is on its way, and lets go. */
  end(): void {
    this.ending = true;
    this.waiting = [];
    this.waitingBytes = 0;
    if (!this.channel.isBusy) this.remove();
  }

  destroy(): void {
    this.destroyed = true;
    this.waiting = [];
    this.waitingBytes = 0;
    this.channel.destroy();
  }

  answerBody(): void {
    // An answer to a send says nothing but its status.
  }

  answerEnded(head: IncomingMessage): void {
    const { where } = this.requests;
    where.cookies?.take(head.headers['set-cookie'] ?? [], where.url);
    if (this.ending) {
      if (this.removed) this.destroy();
      else this.remove();
      return;
    }
    const { statusCode: status = 0 } = head;
    if (status === 401 && !this.renewed) {
      void this.postAgain(head);
      return;
    }
    if (status < 200 || status > 299) {
      this.fail(head);
      return;
    }
    this.renewed = false;
    if (this.waitingBytes === 0) return;
    const body = Buffer.concat(this.waiting, this.waitingBytes);
    this.waiting = [];
    this.waitingBytes = 0;
    this.post(body);
  }

  requestFailed(failure: ConnectFailure): void {
    if (!this.ending)
      this.failed(new ConnectFailure(failure.errorClass, `send: ${failure.message}`));
  }

  private post(body: Buffer): void {
    const request = this.requests.post(body);
    this.body = body;
    this.token = this.requests.where.accessToken;
    this.channel.send(request);
  }

  /** The token has expired: once more with a new one, before everything that waits. */
  private async postAgain(head: IncomingMessage): Promise<void> {
    this.renewing = true;
    const renewed = await this.requests.renewToken(this.token);
    this.renewing = false;
    this.renewed = true;
    if (this.destroyed || this.ending) return;
    if (renewed) this.post(this.body);
    else this.fail(head);
  }

  private fail(head: IncomingMessage): void {
    this.destroy();
    this.failed(failureOf('send', head, this.requests.where.url));
  }

  private remove(): void {
    this.removed = true;
    this.channel.send(this.requests.remove());
  }
}

/** What an answer with an unwanted status means. */
export function failureOf(what: string, head: IncomingMessage, url: URL): ConnectFailure {
  const { statusCode = 0, statusMessage = '', headers } = head;
  const text = `${what}: ${shownUrl(url.href)} answered ${statusCode} ${shownText(statusMessage)}`;
  return new StatusFailure(statusCode, 'request', text.trimEnd(), headers['retry-after']);
}
