import { readFileSync } from 'node:fs';

let before = { steal: 0, all: 0 };

/** What the machine did beside us since the last call: of all its processor time, that which others took from it. */
export function stolen() {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/ +/).map(Number);
  const now = { steal: fields[7], all: fields.slice(0, 8).reduce((sum, each) => sum + each, 0) };
  const share = (100 * (now.steal - before.steal)) / Math.max(1, now.all - before.all);
  before = now;
  return `${share.toFixed(1)} % stolen`;
}
