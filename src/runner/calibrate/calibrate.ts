import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalServer } from '../../targets/local';
import { CpuMeter } from '../machineClock';
import { RoundTrips } from './roundTrips';

/** What one core of this machine can generate, as measured just now. */
export interface Calibration {
  /** Messages sent and answered per second before one core is full. */
  readonly messagesPerSecond: number;
  readonly cpuUsPerMessage: number;
}

const connections = 50;
const warmupMs = 400;
const measureMs = 1200;

/**
 * Lets echoes of 2 KB go round against the embedded hub for a moment and measures the CPU time of this
 * process alone; the hub runs in another one.
 *
 * @param serverScript script that understands `serve hub`
 */
export async function calibrate(serverScript: string): Promise<Calibration> {
  const hub = await startLocalServer('hub', serverScript);
  const endpoint = {
    urls: [hub.value],
    headers: {},
    query: {},
    insecureTls: false,
    skipNegotiation: true,
  };
  const trips = new RoundTrips(endpoint, connections, 'x'.repeat(2048));
  try {
    await Promise.all(Array.from({ length: connections }, () => trips.open()));
    trips.start();
    await sleep(warmupMs);
    const cpu = new CpuMeter();
    const before = trips.count;
    await sleep(measureMs);
    const cpuUsPerMessage = cpu.usedUs() / Math.max(1, trips.count - before);
    return { messagesPerSecond: Math.round(1_000_000 / cpuUsPerMessage), cpuUsPerMessage };
  } finally {
    trips.close();
    await hub.dispose();
  }
}
