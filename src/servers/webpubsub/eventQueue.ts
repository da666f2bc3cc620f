/** Events of one client that may wait before nothing more is read from it. */
const maxWaiting = 32;
const maxWaitingBytes = 1024 * 1024;

/** The events of one client, handled one after the other. */
export class EventQueue {
  private readonly waiting: { readonly bytes: number; readonly handle: () => Promise<void> }[] = [];
  private bytes = 0;
  private isBusy = false;

  /** @param onFull told when nothing more should come, and when it may again */
  constructor(private readonly onFull: (isFull: boolean) => void) {}

  /** @param handle must not reject */
  add(bytes: number, handle: () => Promise<void>): void {
    this.waiting.push({ bytes, handle });
    this.bytes += bytes;
    if (this.isFull) this.onFull(true);
    if (!this.isBusy) void this.work();
  }

  private get isFull(): boolean {
    return this.waiting.length >= maxWaiting || this.bytes > maxWaitingBytes;
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      await next.handle();
      const wasFull = this.bytes > maxWaitingBytes || this.waiting.length + 1 >= maxWaiting;
      this.bytes -= next.bytes;
      if (wasFull && !this.isFull) this.onFull(false);
    }
    this.isBusy = false;
  }
}
