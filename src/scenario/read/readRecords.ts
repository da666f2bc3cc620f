import { isMap, isSeq, type Node } from 'yaml';
import { formatCount } from '../../base/units';
import { configKeys } from '../keys/configKeys';
import type { KeySpec } from '../keys/keySpec';
import type { Reading } from '../text/scenarioReading';
import { sectionOf, type Section } from './readSection';

export interface ListRecord {
  readonly item: Node;
  readonly section: Section;
}

/** A list of maps under `config`; undefined where none is written. `example` is one of its entries. */
export function readRecords(
  reading: Reading,
  config: Section,
  name: string,
  example: string,
): ListRecord[] | undefined {
  const written = config.written.get(name);
  if (written === undefined) return undefined;
  const list = reading.follow(written.value);
  if (!isSeq(list)) {
    const message = `${name} must be a list, such as "- ${example}".`;
    reading.error('wrong-type', written.place, message);
    return undefined;
  }
  const { keys = [], most = Infinity }: KeySpec = configKeys.find((spec) => spec.name === name)!;
  if (list.items.length > most) {
    const message = `${name} has at most ${formatCount(most)} entries; the others are not read.`;
    reading.error('above-bounds', written.key, message);
  }
  return (list.items as Node[]).slice(0, most).flatMap((item, at) => {
    const map = reading.follow(item);
    if (isMap(map))
      return [{ item, section: sectionOf(reading, `config.${name}.${at}`, keys, map) }];
    reading.error('wrong-type', item, `Each entry of ${name} is a map, such as ${example}.`);
    return [];
  });
}
