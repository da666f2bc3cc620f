/** CPU time of another process, as far as reported. */
export class ReportedCpu {
  /** Microseconds since its start. */
  private usedUs = 0;
  private sampledUs = 0;
  private mark: { readonly fromUs: number; usedUs: number; isMet: boolean } | undefined;

  reported(usedUs: number): void {
    this.usedUs = usedUs;
  }

  /** Workers report at the begin of the measured time, so its CPU time is known exactly. */
  sampled(atUs: number): void {
    this.sampledUs = Math.max(this.sampledUs, atUs);
    const { mark } = this;
    if (mark?.isMet !== false || atUs < mark.fromUs) return;
    mark.usedUs = this.usedUs;
    mark.isMet = true;
  }

  /** CPU time used since `fromUs`; a later call replaces this one. */
  from(fromUs: number): () => number {
    const mark = { fromUs, usedUs: this.usedUs, isMet: this.sampledUs >= fromUs };
    this.mark = mark;
    return () => this.usedUs - mark.usedUs;
  }
}
