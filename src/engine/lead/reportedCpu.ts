/** CPU time of a process elsewhere, which is known only as far as its reports go. */
export class ReportedCpu {
  /** Since it began, microseconds. */
  private usedUs = 0;
  /** Run time of its last sample. */
  private sampledUs = 0;
  private mark: { readonly fromUs: number; usedUs: number; isMet: boolean } | undefined;

  reported(usedUs: number): void {
    this.usedUs = usedUs;
  }

  /** Workers report at the border of a step: what was used up to then comes with that. */
  sampled(atUs: number): void {
    this.sampledUs = Math.max(this.sampledUs, atUs);
    const { mark } = this;
    if (mark?.isMet !== false || atUs < mark.fromUs) return;
    mark.usedUs = this.usedUs;
    mark.isMet = true;
  }

  /** What is used from that run time on, when it is asked; a later call has no say in it. */
  from(fromUs: number): () => number {
    const mark = { fromUs, usedUs: this.usedUs, isMet: this.sampledUs >= fromUs };
    this.mark = mark;
    return () => this.usedUs - mark.usedUs;
  }
}
