import { ByteRest } from '../socket/byteRest';
import { ConnectFailure } from '../connect/connectFailure';
import type { ConnectStopwatch } from '../connect/connectStopwatch';
import type { Endpoint } from '../../base/endpoint';
import { EventReader, EventStreamError } from './eventReader';
import type { IncomingMessage } from 'node:http';
import { HttpChannel, type ChannelOwner } from './httpChannel';
import { failureOf, requestTimeoutMs } from './httpOutbox';
import type { HttpRequests } from './httpRequests';

/** Who gets what comes in over an HTTP transport. */
export interface InputOwner {
  /** The server knows the connection now: messages may be sent. */
  onReady(): void;
  /**
   * Whole hub messages; none when a poll came back empty. The buffer is valid only during the call;
   * `wireBytes` is their length with what the transport puts around them, HTTP heads excluded.
   */
  onMessages(buffer: Buffer, start: number, end: number, wireBytes: number): void;
  /** The server has ended the connection. */
  onServerEnd(): void;
  onFailure(failure: ConnectFailure): void;
  readonly stopped: boolean;
}

/** The receiving half of a connection over an HTTP transport. */
export interface HttpInput {
  /** @param stopwatch is told the phases of its socket */
  open(stopwatch?: ConnectStopwatch): void;
  destroy(): void;
}

/** One answer that does not end and brings an event for every flush of the server. */
export class EventStreamInput implements HttpInput, ChannelOwner {
  private readonly channel: HttpChannel;
  private readonly reader: EventReader;
  private readonly onEvent = (
    buffer: Buffer,
    start: number,
    end: number,
    eventBytes: number,
  ): void => {
    if (!this.owner.stopped) this.owner.onMessages(buffer, start, end, eventBytes);
  };

  constructor(
    private readonly requests: HttpRequests,
    endpoint: Endpoint,
    private readonly owner: InputOwner,
    maximumBytes: number,
  ) {
    this.reader = new EventReader(maximumBytes);
    // The server pings over the stream; the owner judges its silence.
    this.channel = new HttpChannel(requests.where.url, endpoint, this, 0);
  }

  open(stopwatch?: ConnectStopwatch): void {
    this.channel.send(this.requests.stream(), stopwatch);
  }

  destroy(): void {
    this.channel.destroy();
  }

  answerBegan(head: IncomingMessage): void {
    const { where } = this.requests;
    where.cookies?.take(head.headers['set-cookie'] ?? [], where.url);
    if (head.statusCode !== 200) this.owner.onFailure(failureOf('event stream', head, where.url));
    else if (!/^text\/event-stream\b/i.test(head.headers['content-type'] ?? ''))
      this.owner.onFailure(
        new ConnectFailure('request', 'event stream: the server answered with something else'),
      );
    else this.owner.onReady();
  }

  answerBody(bytes: Buffer): void {
    try {
      this.reader.read(bytes, 0, bytes.length, this.onEvent);
    } catch (error) {
      if (!(error instanceof EventStreamError)) throw error;
      this.owner.onFailure(new ConnectFailure('protocol', error.message));
    }
  }

  answerEnded(): void {
    this.owner.onServerEnd();
  }

  requestFailed(failure: ConnectFailure): void {
    this.owner.onFailure(failure);
  }
}

/** One request after the other, each answered as soon as the server has something. */
export class PollInput implements HttpInput, ChannelOwner {
  private channel: HttpChannel;
  private readonly body = new ByteRest();
  private activated = false;
  /** The last poll was given up without an answer. */
  private inVain = false;
  /** The last poll has asked for a new token. */
  private renewed = false;
  private token: string | undefined;

  constructor(
    private readonly requests: HttpRequests,
    private readonly endpoint: Endpoint,
    private readonly owner: InputOwner,
    private readonly maximumBytes: number,
  ) {
    this.channel = this.newChannel();
  }

  open(stopwatch?: ConnectStopwatch): void {
    this.poll(stopwatch);
  }

  destroy(): void {
    this.body.take();
    this.channel.destroy();
  }

  answerBody(bytes: Buffer): void {
    if (this.body.length + bytes.length > this.maximumBytes) {
      const text = `the answer to a poll is above the limit of ${this.maximumBytes} bytes`;
      this.owner.onFailure(new ConnectFailure('protocol', text));
    } else {
      this.body.append(bytes);
    }
  }

  answerEnded(head: IncomingMessage): void {
    const { owner } = this;
    const { where } = this.requests;
    if (owner.stopped) return;
    where.cookies?.take(head.headers['set-cookie'] ?? [], where.url);
    const whole = this.body.take();
    this.inVain = false;
    if (head.statusCode === 204) {
      owner.onServerEnd();
      return;
    }
    if (head.statusCode === 401 && this.activated && !this.renewed) {
      void this.pollAgain(head);
      return;
    }
    if (head.statusCode !== 200) {
      owner.onFailure(failureOf('poll', head, where.url));
      return;
    }
    this.renewed = false;
    // Before the messages are looked at: what the server sends next waits for a poll.
    this.poll();
    if (!this.activated) {
      // The first answer comes at once and only says that the connection is there.
      this.activated = true;
      owner.onReady();
    }
    owner.onMessages(whole, 0, whole.length, whole.length);
  }

  requestFailed(failure: ConnectFailure): void {
    if (failure.errorClass !== 'timeout' || !this.activated || this.inVain) {
      this.owner.onFailure(failure);
      return;
    }
    // A server may be set to hold polls for longer; the official clients ask again without end.
    this.inVain = true;
    this.channel = this.newChannel();
    this.poll();
  }

  /** The token has expired: once more with a new one. */
  private async pollAgain(head: IncomingMessage): Promise<void> {
    this.renewed = true;
    const renewed = await this.requests.renewToken(this.token);
    if (this.owner.stopped) return;
    if (renewed) this.poll();
    else this.owner.onFailure(failureOf('poll', head, this.requests.where.url));
  }

  private newChannel(): HttpChannel {
    return new HttpChannel(this.requests.where.url, this.endpoint, this, requestTimeoutMs);
  }

  private poll(stopwatch?: ConnectStopwatch): void {
    this.token = this.requests.where.accessToken;
    this.channel.send(this.requests.poll(Date.now()), stopwatch);
  }
}
