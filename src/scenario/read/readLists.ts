/** Lists under `config`: what is observed, what the hub sends on its own, and where connections come from. */
import { isScalar, isSeq, type Node } from 'yaml';
import { pushAudiences } from '../keys/configKeys';
import type { ObserveSpec, PushSpec, ScenarioEntry } from '../scenario';
import type { Reading } from '../text/scenarioReading';
import { quotable } from '../text/words';
import { choiceIn, numberIn, sectionsIn, textIn, type Section } from './readSection';
import { isNothing, sourceOf } from './readValue';

/** Undefined where none is written. */
export const readObserve = (reading: Reading, config: Section): ObserveSpec[] | undefined =>
  sectionsIn(config, 'observe')?.flatMap((one): ObserveSpec[] => {
    const { kind, written } = one;
    if (kind === 'prometheus') {
      const series = (textIn(one, 'series') ?? '').split(',').map((name) => name.trim());
      const authorization = textIn(one, 'authorization');
      return [
        {
          kind,
          url: textIn(one, kind)!,
          series: series.filter((name) => name !== ''),
          ...(authorization !== undefined && { authorization }),
        },
      ];
    }
    if (kind !== 'azureMonitor') return [];
    const region = textIn(one, 'region');
    if (region !== undefined) return [{ kind, resource: textIn(one, kind)!, region }];
    const message = 'azureMonitor needs the region of the resource, such as region: westeurope.';
    if (!written.has('region')) reading.error('observe', written.get(kind)?.key, message);
    return [];
  });

/** Undefined where none is written. */
export function readPushes(
  reading: Reading,
  config: Section,
  entries: readonly Pick<ScenarioEntry, 'parameters'>[],
): PushSpec[] | undefined {
  const hasGroups = entries.some(({ parameters }) => typeof parameters['groupCount'] === 'number');
  return sectionsIn(config, 'pushes')?.flatMap((push): PushSpec[] => {
    const [name, perSecond] = [textIn(push, 'name'), numberIn(push, 'perSecond')];
    const [bytes, to] = [numberIn(push, 'size'), choiceIn(push, 'to', pushAudiences)!];
    if (name === undefined || perSecond === undefined || bytes === undefined) return [];
    if (to !== 'group' || hasGroups) return [{ name, perSecond, bytes, to }];
    const message =
      'No use case of this file has groups, so nobody knows how many members one has. Write to: client, and as perSecond the calls times the members.';
    reading.error('push-group', push.at('to'), message);
    return [];
  });
}

const mostAddresses = 1000;
const part = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4 = new RegExp(`^${part}(?:\\.${part}){3}$`);
const hexGroup = /^[0-9a-f]{1,4}$/i;

/** RFC 4291, 2.2: eight groups, of which `::` stands for one or more, and IPv4 for the last two. */
function isIpv6(text: string): boolean {
  const halves = text.slice(0, 50).split('::');
  const last = text.slice(text.lastIndexOf(':') + 1);
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const isDotted = ipv4.test(last);
  const plain = isDotted ? groups.slice(0, -1) : groups;
  const count = plain.length + (isDotted ? 2 : 0);
  if (!text.includes(':') || !plain.every((group) => hexGroup.test(group))) return false;
  return halves.length === 1 ? count === 8 : halves.length === 2 && count < 8;
}

/** `config.localAddresses`, where connections come from; undefined where none is written. */
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
      if (ipv4.test(address) || isIpv6(address)) return [address];
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
