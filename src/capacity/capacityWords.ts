import { formatBytes, formatCount, formatShare } from '../base/units';
import { listed } from '../scenario/text/words';
import type { Direction, Estimate, TableName } from './model';

export const tableWords: Readonly<Record<TableName, string>> = {
  echo: 'echo',
  broadcast: 'broadcast',
  small_group: 'small group',
  big_group: 'big group',
  send_to_connection: 'send to connection',
  rest_broadcast: 'REST broadcast',
  rest_send_to_user: 'REST send to user',
  upstream_echo: 'upstream echo',
};

export const directionWords: Readonly<Record<Direction, string>> = {
  in: 'inbound',
  out: 'outbound',
};

/** `1,900`, `19.5`, `0.2`: thousands grouped, as many decimals as the size of the number deserves. */
export function figure(value: number): string {
  const most = value >= 1000 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 4;
  const rounded = Number(value.toFixed(most));
  const decimals = String(rounded).split('.')[1]?.length ?? 0;
  return formatCount(rounded, decimals);
}

export function counted(count: number, noun: string): string {
  return `${figure(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const mostNamed = 5;

/** `Typing, Joined and Left`; each once, and of many how many more there are. */
export function namesWords(all: readonly string[]): string {
  const names = [...new Set(all)];
  const more = names.length - mostNamed;
  return listed([...names.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])]);
}

/** `95 %`; close to 100 with decimals, so that 100.4 % does not read as fitting. */
export function shareWords(share: number): string {
  const nearlyFull = share !== 1 && Math.abs(share - 1) < 0.005;
  return nearlyFull ? `${Number((share * 100).toFixed(2))} %` : formatShare(share);
}

export function unitWords(unit: number): string {
  return `Unit ${formatCount(unit)}`;
}

/** As the guides print them: 1 KB is 1,024 bytes and 1 MB is 1,000 KB, so their MBps is 1,024,000 bytes per second. */
export function bandwidthWords(bytesPerSecond: number): string {
  const { divisor, name } = bandwidthScale(bytesPerSecond);
  return `${figure(bytesPerSecond / divisor)} ${name}`;
}

export function bandwidthScale(bytesPerSecond: number): { divisor: number; name: string } {
  return bytesPerSecond < 1_024_000
    ? { divisor: 1024, name: 'KB/s' }
    : { divisor: 1_024_000, name: 'MB/s' };
}

/** `2 KB`, `1 KB (counted for 100 B)`. */
export function messageSizeWords(messageBytes: number, countedBytes: number): string {
  const [counts, sent] = [formatBytes(countedBytes), formatBytes(messageBytes)];
  return counts === sent ? counts : `${counts} (counted for ${sent})`;
}

/** From here on notes name the size that leaves room. The guides' rule for Server Load ("below 70%") stands behind it. */
export const cautionFrom = 0.7;

/** `guide's own method: Unit 10 · planned for 70 % of the limits`: how an estimate was made. */
export function methodWords({ unit_guide_sum: sum, headroom }: Estimate): string {
  const share = headroom === 1 ? '' : ` · planned for ${formatShare(headroom)} of the limits`;
  return `guide's own method: ${sum === null ? 'no size' : unitWords(sum)}${share}`;
}
