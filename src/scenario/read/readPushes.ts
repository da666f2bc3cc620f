/** `config.pushes`: what the hub sends on its own, for the estimate. */
import { longestPushName, pushAudiences } from '../keys/configKeys';
import type { PushSpec, ScenarioEntry } from '../scenario';
import type { Reading } from '../text/scenarioReading';
import { readRecords, type ListRecord } from './readRecords';
import { choiceIn, numberIn, type Section } from './readSection';

/** Undefined where it is not written. */
export const readPushes = (
  reading: Reading,
  config: Section,
  entries: readonly Pick<ScenarioEntry, 'parameters'>[],
): PushSpec[] | undefined => {
  const hasGroups = entries.some(({ parameters }) => typeof parameters['groupCount'] === 'number');
  return readRecords(
    reading,
    config,
    'pushes',
    '{ name: PriceChanged, perSecond: 2, size: 100, to: everyone }',
  )?.flatMap((record) => readPush(reading, record, hasGroups) ?? []);
};

function readPush(
  { error }: Reading,
  { item, section }: ListRecord,
  hasGroups: boolean,
): PushSpec | undefined {
  const absent = (['name', 'perSecond', 'size'] as const).filter(
    (name) => !section.written.has(name),
  );
  if (absent.length > 0) {
    const message = `This push has no ${absent.join(', ')}. Write the client method as name, how often the hub calls it as perSecond, and the bytes of its arguments as size.`;
    error('missing-key', item, message);
  }
  const name = section.values.get('name');
  const [perSecond, bytes] = [numberIn(section, 'perSecond'), numberIn(section, 'size')];
  const to = choiceIn(section, 'to', pushAudiences);
  if (typeof name !== 'string' || perSecond === undefined || bytes === undefined) return undefined;
  if (name.length > longestPushName) {
    const message = `name is longer than ${longestPushName} characters.`;
    error('too-large', section.at('name'), message);
    return undefined;
  }
  if (to === 'group' && !hasGroups) {
    const message =
      'No use case of this file has groups, so nobody knows how many members one has. Write to: client, and as perSecond the calls times the members.';
    error('push-group', section.at('to'), message);
    return undefined;
  }
  return { name: name.trim(), perSecond, bytes, to: to ?? 'everyone' };
}
