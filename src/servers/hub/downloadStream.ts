import { performance } from 'node:perf_hooks';
import type { StreamHost } from './connectionStreams';
import type { HubConnection } from './hubConnection';

/** What a client has asked for. */
export interface Download {
  readonly id: string;
  /** The dictionary that is given back. */
  readonly item: Buffer;
  readonly items: number;
  readonly delayMs: number;
}

/** Items in one go, so that other clients are served in between. */
const burst = 64;
/** A client that has left too much unread is asked again after this. */
const retryMs = 2;

/**
 * One `StreamingDownload` call: item k is due k × delay after the call, however late the ones before
 * were, and leaves when the client has read enough of what it was sent.
 */
export class DownloadStream {
  private readonly startMs = performance.now();
  private sent = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Something became due while the hub was held. */
  private isDue = false;
  private isOver = false;

  constructor(
    private readonly connection: HubConnection,
    private readonly host: StreamHost,
    private readonly download: Download,
    private readonly ended: () => void,
  ) {}

  start(): void {
    this.send();
  }

  resume(): void {
    if (this.isDue) this.send();
  }

  dispose(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  /** Completes the call, whatever is left of it. */
  finish(): void {
    if (this.isOver) return;
    this.dispose();
    this.ended();
    this.host.sendBehind(
      this.connection,
      this.connection.protocol.streamEndFrame(this.download.id),
    );
  }

  private readonly send = (): void => {
    const { connection, host } = this;
    const { id, item, items, delayMs } = this.download;
    this.isDue = host.isHeld;
    if (this.isDue) return;
    for (let count = 0; this.sent < items; count++) {
      const waitMs = this.startMs + this.sent * Math.max(0, delayMs) - performance.now();
      if (waitMs > 0) {
        // Timers may be early by a part of a millisecond: the time is asked again.
        this.timer = setTimeout(this.send, Math.ceil(waitMs));
        return;
      }
      if (count === burst || connection.isBehind) {
        this.timer = setTimeout(this.send, connection.isBehind ? retryMs : 0);
        return;
      }
      const numbered = connection.protocol.numberedItem(item, 0, item.length, this.sent);
      this.sent += 1;
      host.deliver(
        connection,
        connection.protocol.streamItemFrame(id, numbered, 0, numbered.length),
      );
      if (this.isOver) return;
    }
    this.finish();
  };
}
