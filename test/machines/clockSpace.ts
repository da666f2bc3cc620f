import { spawnSync } from 'node:child_process';

/** Seconds by which the clocks of three machines are ahead of ours. */
export const shifts = [77, 1000, 12_345] as const;

/**
 * Command that starts another one in a time namespace of its own, whose monotonic clock is so many seconds ahead: all that
 * Node measures time by. Its network is ours. See `time_namespaces(7)`.
 */
export const clockAhead = (seconds: number): string[] => [
  ...['unshare', '--time', '--fork', '--kill-child'],
  ...['--monotonic', `${seconds}`, '--boottime', `${seconds}`, '--'],
];

/** Why no clock can be shifted here; undefined where one can: that takes Linux and root. */
export function noClockSpace(): string | undefined {
  const [program = '', ...words] = clockAhead(1);
  const { status, stderr, error } = spawnSync(program, [...words, 'true'], { encoding: 'utf8' });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}
