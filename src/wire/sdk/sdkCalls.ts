import { Subject, type HubConnection, type ISubscription } from '@microsoft/signalr';
import type { HubMessage } from '../hub/hubMessage';
import type { SdkProtocol } from './sdkProtocol';

/** Answers are seen where messages are read. */
const nobody = { next: ignore, complete: ignore, error: ignore };

/** Turns messages into calls of the official client's methods. */
export class SdkCalls {
  private readonly streams = new Map<string, ISubscription<unknown>>();
  private readonly uploads = new Map<string, Subject<unknown>>();

  constructor(
    private readonly hub: HubConnection,
    private readonly protocol: SdkProtocol,
  ) {}

  /** @throws Error when the client cannot write the message */
  send(message: HubMessage): void {
    const { hub, protocol } = this;
    switch (message.type) {
      case 1: {
        const { target, invocationId } = message;
        const args = this.argumentsOf(message);
        // What fails on the way is told by the transport, what the hub answers by the reader.
        if (invocationId === undefined) hub.send(target, ...args).catch(ignore);
        else protocol.invoking(invocationId, () => hub.invoke(target, ...args)).catch(ignore);
        break;
      }
      case 2:
        this.uploads.get(message.invocationId)?.next(message.item);
        break;
      case 3: {
        const upload = this.uploads.get(message.invocationId);
        this.uploads.delete(message.invocationId);
        if (message.error === undefined) upload?.complete();
        else upload?.error(new Error(message.error));
        break;
      }
      case 4: {
        const { target, invocationId } = message;
        const args = this.argumentsOf(message);
        const result = protocol.invoking(invocationId, () => hub.stream(target, ...args));
        this.streams.set(invocationId, result.subscribe(nobody));
        break;
      }
      case 5:
        this.streams.get(message.invocationId)?.dispose();
        this.streams.delete(message.invocationId);
        break;
      default:
        // The client pings, closes and acknowledges by itself.
        break;
    }
  }

  /** The invocation is over. */
  completed(invocationId: string): void {
    this.streams.delete(invocationId);
  }

  /**
   * Streams stand among the arguments, where the client looks for them. Each with an argument behind it:
   * the client passes over one that follows another at once.
   */
  private argumentsOf(message: HubMessage & { type: 1 | 4 }): unknown[] {
    const { streamIds = [] } = message;
    const args = [...message.arguments];
    if (streamIds.length > args.length + 1)
      throw new Error('it has more streams than the client finds');
    streamIds.forEach((streamId, position) => {
      const upload = new Subject<unknown>();
      this.uploads.set(streamId, upload);
      args.splice(2 * position, 0, upload);
    });
    return args;
  }
}

function ignore(): void {
  // See where it is used.
}
