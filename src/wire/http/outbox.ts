import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../../base/endpoint';
import { ConnectFailure, failureOfAnswer } from '../connectFailure';
import { ByteRest } from '../socket/frameReader';
import { Holding, type UnfinishedBudget } from '../socket/unfinished';
import { HttpChannel, type ChannelOwner, type HttpRequests } from './httpChannel';

export interface OutboxOwner {
  readonly unfinished: UnfinishedBudget | undefined;
  /** Gets what the server answers to a POST; absent: nothing but its status is of interest. */
  onAnswer?(answer: Buffer): void;
  onSendFailed(failure: ConnectFailure): void;
}

/** Sends one POST at a time, so that order is kept; what is due meanwhile waits for the next. */
export class Outbox implements ChannelOwner {
  private readonly channel: HttpChannel;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  private readonly answer: ByteRest;
  private state: 'open' | 'ending' | 'removing' = 'open';

  /** @param maximumBytes of an answer that the owner gets */
  constructor(
    private readonly requests: HttpRequests,
    endpoint: Endpoint,
    private readonly owner: OutboxOwner,
    maximumBytes = 0,
  ) {
    this.channel = new HttpChannel(requests, endpoint, this);
    const giveUp = (failure: ConnectFailure): void => {
      this.destroy();
      owner.onSendFailed(failure);
    };
    const what = 'the answer to a call';
    this.answer = new ByteRest(new Holding(owner.unfinished, giveUp, what, maximumBytes));
  }

  /** Sends a copy, now or later. @returns bytes that wait for the POST that is on its way */
  send(message: Buffer): number {
    const copy = Buffer.from(message);
    if (this.channel.isBusy) {
      this.waiting.push(copy);
      this.waitingBytes += copy.length;
    } else {
      this.post(copy);
    }
    return this.waitingBytes;
  }

  /** Ends the connection at the server, behind the POST that is on its way, and lets go. */
  end(): void {
    this.state = 'ending';
    this.waiting.length = 0;
    if (!this.channel.isBusy) this.remove();
  }

  destroy(): void {
    this.waiting.length = 0;
    this.answer.take();
    this.channel.destroy();
  }

  answerBody(bytes: Buffer): void {
    if (this.owner.onAnswer !== undefined) this.answer.append(bytes);
  }

  answerEnded(head: IncomingMessage): void {
    const { statusCode: status = 0 } = head;
    const whole = this.answer.take();
    if (this.state !== 'open') {
      if (this.state === 'ending') this.remove();
      else this.destroy();
      return;
    }
    if (status < 200 || status > 299) {
      this.destroy();
      this.owner.onSendFailed(failureOfAnswer('send', head, this.requests.where.url));
      return;
    }
    // What waits leaves before the answer is looked at.
    if (this.waiting.length > 0) {
      const next = this.requests.next(this.waiting);
      this.waitingBytes -= next.length;
      this.post(next);
    }
    if (whole.length > 0) this.owner.onAnswer?.(whole);
  }

  requestFailed(failure: ConnectFailure): void {
    if (this.state === 'open')
      this.owner.onSendFailed(new ConnectFailure(failure.errorClass, `send: ${failure.message}`));
  }

  private post(body: Buffer): void {
    this.channel.send(() => this.requests.post(body), true);
  }

  private remove(): void {
    this.state = 'removing';
    this.channel.send(() => this.requests.remove());
  }
}
