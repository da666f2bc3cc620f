import type { Parameters } from '../../usecases/parameterSpec';
import { meanBytes, parsePayloadSizes } from '../../usecases/payloadSizes';
import type { Reading } from '../text/reading';
import type { Section } from './readSection';
import { isBelow } from './isBelow';
import { placeOfValue } from './readValue';

/**
 * The parameters with the mean of `messageSizes` as their `messageSize`, so that everything that counts
 * with one size shows the mean; the estimate counts each size. Reports sizes that cannot be read and keys that exclude each other.
 */
export function withPayload(
  reading: Reading,
  section: Section,
  parameters: Parameters,
): Parameters {
  const { messageSizes, payload, payloadFile } = parameters;
  const written = (name: string) => section.written.get(name);
  // Of a file, too, the content may go as bytes.
  if (payload !== undefined && payload !== 'binary' && payloadFile !== undefined) {
    const message = 'payload and payloadFile are both given; the file counts. Remove one of them.';
    reading.report('warning', 'two-payloads', placeOfValue(reading, written('payload')!), message);
  }
  if (typeof payloadFile === 'string' && !isBelow(payloadFile)) {
    const message =
      'payloadFile must lie beside the scenario file or below it: its content is sent to the target.';
    reading.report(
      'error',
      'payload-file',
      placeOfValue(reading, written('payloadFile')!),
      message,
    );
  }
  if (typeof messageSizes !== 'string') return parameters;
  const place = placeOfValue(reading, written('messageSizes')!);
  const read = parsePayloadSizes(messageSizes);
  if ('problem' in read) {
    reading.report('error', 'message-sizes', place, read.problem);
    return parameters;
  }
  if (written('messageSize') !== undefined) {
    const message = 'messageSize and messageSizes are both given; messageSizes counts. Remove one.';
    reading.report(
      'warning',
      'two-payloads',
      placeOfValue(reading, written('messageSize')!),
      message,
    );
  }
  return { ...parameters, messageSize: meanBytes(read.sizes) };
}
