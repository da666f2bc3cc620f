import { formatBytes, formatCount, formatShare } from '../base/units';
import { joinWords } from '../scenario/text/words';
import type { Direction, Estimate, TableName } from './model';

export const tableNames: Readonly<Record<TableName, string>> = {
  echo: 'echo',
  broadcast: 'broadcast',
  small_group: 'small group',
  big_group: 'big group',
  send_to_connection: 'send to connection',
  rest_broadcast: 'REST broadcast',
  rest_send_to_user: 'REST send to user',
  upstream_echo: 'upstream echo',
};

export const directionNames: Readonly<Record<Direction, string>> = {
  in: 'inbound',
  out: 'outbound',
};

export function formatFigure(value: number): string {
  const most = value >= 1000 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 4;
  const rounded = Number(value.toFixed(most));
  const decimals = String(rounded).split('.')[1]?.length ?? 0;
  return formatCount(rounded, decimals);
}

export const formatCounted = (count: number, noun: string): string =>
  `${formatFigure(count)} ${noun}${count === 1 ? '' : 's'}`;

const mostNamed = 5;

/** `Typing, Joined and Left`; of many how many more there are. */
export function formatNames(all: readonly string[]): string {
  const names = [...new Set(all)];
  const more = names.length - mostNamed;
  return joinWords([...names.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])]);
}

export function formatUtilisation(share: number): string {
  const nearlyFull = share !== 1 && Math.abs(share - 1) < 0.005;
  return nearlyFull ? `${Number((share * 100).toFixed(2))} %` : formatShare(share);
}

export const formatUnit = (unit: number): string => `Unit ${formatCount(unit)}`;

/** As the guides print them: 1 KB is 1,024 bytes and 1 MB is 1,000 KB. */
export function formatBandwidth(bytesPerSecond: number): string {
  const { divisor, name } = bandwidthScale(bytesPerSecond);
  return `${formatFigure(bytesPerSecond / divisor)} ${name}`;
}

export function bandwidthScale(bytesPerSecond: number): { divisor: number; name: string } {
  return bytesPerSecond < 1_024_000
    ? { divisor: 1024, name: 'KB/s' }
    : { divisor: 1_024_000, name: 'MB/s' };
}

export function formatMessageSize(messageBytes: number, countedBytes: number): string {
  const [counts, sent] = [formatBytes(countedBytes), formatBytes(messageBytes)];
  return counts === sent ? counts : `${counts} (counted for ${sent})`;
}

/** Notes name a size with room from here on, as the guides do for Server Load ("below 70%"). */
export const cautionFrom = 0.7;

export function formatMethod({ unit_guide_sum: sum, headroom }: Estimate): string {
  const share = headroom === 1 ? '' : ` · planned for ${formatShare(headroom)} of the limits`;
  return `guide's own method: ${sum === null ? 'no size' : formatUnit(sum)}${share}`;
}
