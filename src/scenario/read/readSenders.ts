import { isScalar } from 'yaml';
import { sharePattern, parseShare } from '../../base/units';
import type { Reading } from '../text/scenarioReading';
import { placeOfValue, readValue, type Written } from './readValue';
import type { SenderShare } from '../scenario';
import type { PlainSpec } from '../keys/keySpec';

const count: PlainSpec = {
  name: 'senders',
  type: 'count',
  minimum: 1,
  maximum: 1_000_000,
  summary: '',
};

/** Reads `senders` of a mix: a whole number, or a share such as `30%`. Undefined for a bad value. */
export function readSenders(reading: Reading, written: Written): SenderShare | undefined {
  const node = reading.follow(written.value);
  const text = isScalar(node) && typeof node.value === 'string' ? node.value : undefined;
  if (text === undefined || !new RegExp(sharePattern).test(text.slice(0, 100).trim())) {
    if (text !== undefined && !/^[0-9]+$/.test(text)) {
      const message = 'senders must be a whole number, or a share of the step such as 30%.';
      reading.report('error', 'wrong-type', placeOfValue(reading, written), message);
      return undefined;
    }
    const value = readValue(reading, count, written);
    return typeof value === 'number' ? { kind: 'count', count: value } : undefined;
  }
  const share = parseShare(text)!;
  if (share > 0 && share <= 1) return { kind: 'share', share };
  const message = 'The share of senders must be more than 0 % and at most 100 %.';
  reading.report(
    'error',
    share > 1 ? 'above-bounds' : 'below-bounds',
    placeOfValue(reading, written),
    message,
  );
  return undefined;
}
