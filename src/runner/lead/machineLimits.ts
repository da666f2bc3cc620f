import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { formatCount } from '../../base/units';
import type { Plan } from '../../plan/plan';

/** What the machine allows one process; null where the system does not tell. */
export interface MachineLimits {
  readonly cores: number;
  readonly fileDescriptors: number | null;
  /** Local ports for connections to one address and port. */
  readonly localPorts: number | null;
}

/** Descriptors the process needs beside its connections: files, pipes, threads, negotiations. */
const reservedDescriptors = 64;
const reservedDescriptorsPerWorker = 16;
const run = promisify(execFile);

/** Asks the system, without needing rights. */
export async function machineLimits(): Promise<MachineLimits> {
  const [fileDescriptors, localPorts] = await Promise.all([openFileLimit(), portRange()]);
  return { cores: availableParallelism(), fileDescriptors, localPorts };
}

/**
 * What is missing for a plan, with what to do; undefined when nothing is. Negotiations need descriptors
 * of their own while connections open.
 *
 * @param targetAddresses different host and port pairs that the connections are spread over
 * @param socketsPerConnection 1 for WebSockets, 2 for the HTTP transports
 */
export function missingForRun(
  plan: Pick<Plan, 'connections' | 'connectInFlight'> & { readonly workers: readonly unknown[] },
  limits: MachineLimits,
  targetAddresses = 1,
  socketsPerConnection = 1,
): string | undefined {
  const { connections, connectInFlight } = plan;
  const sockets = connections * socketsPerConnection;
  const reserved = reservedDescriptors + reservedDescriptorsPerWorker * plan.workers.length;
  const needed = sockets + Math.min(connectInFlight, connections) + reserved;
  if (limits.fileDescriptors !== null && needed > limits.fileDescriptors) {
    const spare = limits.fileDescriptors - reserved;
    // Few connections may all be negotiating at a time, of many so many as the plan allows.
    const possible = Math.max(
      Math.floor((spare - connectInFlight) / socketsPerConnection),
      Math.min(connectInFlight, Math.floor(spare / (socketsPerConnection + 1))),
    );
    const raise = `Raise the limit (\`ulimit -n ${needed}\`)`;
    return (
      `${formatCount(connections)} ${connections === 1 ? 'connection needs' : 'connections need'} about ${formatCount(needed)} file descriptors, but this process may open ${formatCount(limits.fileDescriptors)}. ` +
      (possible > 0
        ? `${raise} or use at most ${formatCount(possible)} connections (\`--set config.connections=${possible}\`).`
        : `${raise}: what a run needs beside its connections leaves no room for any.`)
    );
  }
  if (limits.localPorts !== null && sockets > limits.localPorts * targetAddresses) {
    return (
      `${formatCount(plan.connections)} connections to one address need ${socketsPerConnection === 1 ? 'as' : 'twice as'} many local ports, but this machine has ${formatCount(limits.localPorts)}. ` +
      'Use fewer connections, several target URLs on different addresses, or widen the range (Linux: net.ipv4.ip_local_port_range).'
    );
  }
  return undefined;
}

/** Soft limit of open files, which Node raises to the hard one at its start where it can. */
async function openFileLimit(): Promise<number | null> {
  if (process.platform === 'win32') return null;
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    return wholeNumber(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
  } catch {
    // Not Linux: ask a shell, which inherits the limit.
    return run('/bin/sh', ['-c', 'ulimit -n']).then(
      ({ stdout }) => wholeNumber(stdout.trim()),
      () => null,
    );
  }
}

async function portRange(): Promise<number | null> {
  try {
    const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
    const [from, to] = range.trim().split(/\s+/).map(Number);
    return from !== undefined && to !== undefined && to > from ? to - from + 1 : null;
  } catch {
    // macOS and Windows: 49152–65535 unless it was changed, and no way to ask without rights everywhere.
    return process.platform === 'darwin' || process.platform === 'win32' ? 16_384 : null;
  }
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}
