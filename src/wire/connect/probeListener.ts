import { hubMessageType } from '../hub/hubMessage';
import type { Span } from '../hub/hubCodec';
import type { HubConnection, HubListener } from '../hub/clientConnection';
import { Invocations } from '../hub/invocations';

/** Listens on a connection that only asks: answers to its calls, and the greeting of a bench hub. */
export class ProbeListener implements HubListener {
  readonly invocations = new Invocations();
  private greeted = false;
  private greet: () => void = () => undefined;

  received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    const { codec } = connection;
    const span: Span = { start, end, next: start };
    while (span.next < end) {
      codec.find(buffer, span.next, end, span);
      const message = codec.read(buffer, span.start, span.end);
      if (message?.type === hubMessageType.completion)
        this.invocations.completed(connection, message);
      if (
        message?.type === hubMessageType.invocation &&
        message.target.toLowerCase() === 'onconnected'
      ) {
        this.greeted = true;
        this.greet();
      }
    }
  }

  lost(connection: HubConnection): void {
    this.invocations.lost(connection);
  }

  greetedWithin(ms: number): Promise<boolean> {
    if (this.greeted || ms <= 0) return Promise.resolve(this.greeted);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(this.greeted);
      }, ms);
      this.greet = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
