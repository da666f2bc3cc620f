/** CPU time of this process since the meter was made, all threads together. */
export class CpuMeter {
  private readonly start = process.cpuUsage();

  usedUs(): number {
    const { user, system } = process.cpuUsage(this.start);
    return user + system;
  }
}
