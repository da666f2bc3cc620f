/** `config.localAddresses`: where connections come from. */
import { isScalar, isSeq, type Node } from 'yaml';
import type { Reading } from '../text/scenarioReading';
import { isNothing, sourceOf, type Section } from './readSection';
import { quotable } from '../text/words';

const mostAddresses = 1000;
const part = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4 = new RegExp(`^${part}(?:\\.${part}){3}$`);
const ipv6 = /^(?=.*:)[0-9a-f:.]{2,45}$/i;

/** Undefined where none is written. */
export function readLocalAddresses(reading: Reading, config: Section): string[] | undefined {
  const written = config.written.get('localAddresses');
  const node = reading.follow(written?.value);
  if (written === undefined || isNothing(node)) return undefined;
  const items = isSeq(node) ? (node.items as Node[]) : [node];
  const found = items.flatMap((item) => {
    const scalar = reading.follow(item);
    // A list of --set comes as the text it is.
    const text = isScalar(scalar) ? sourceOf(scalar).replace(/^\[(.*)\]$/, '$1') : '';
    return text.split(',').flatMap((each) => {
      const address = each.trim();
      if (ipv4.test(address) || ipv6.test(address)) return [address];
      const message = `"${quotable(address)}" in localAddresses is not an IP address; write one of this machine, such as 127.0.0.2.`;
      reading.error('local-address', item, message);
      return [];
    });
  });
  if (found.length > mostAddresses) {
    const message = `localAddresses has more than ${mostAddresses} addresses; the others are not used.`;
    reading.error('above-bounds', written.place, message);
  }
  return found.length > 0 ? found.slice(0, mostAddresses) : undefined;
}
